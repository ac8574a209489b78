//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// certifying is an engine whose users can log in by a certificate.
func certifying(t *testing.T) string {
	t.Helper()
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{GenerateName: "certifying-"}}
	e.Spec.Topology = dbv1.TopologyIndependent
	e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
	e.Spec.Connection = &dbv1.EngineConnection{Type: "any"}
	e.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	e.Spec.Actions.Reload = &dbv1.EngineAction{Command: []string{"reload"}}
	e.Spec.Actions.Objects = &dbv1.EngineObjects{Command: []string{"objects"}, PasswordKey: "password", Certificates: dbv1.CertificatesSupported}
	createFor(t, e)
	return e.Name
}

// certifies lets the Jobs of both actions succeed, and members be ready.
func certifies(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentReload {
		reloading(pod)
		return
	}
	ends(pod)
}

func byCertificate(u *dbv1.DatabaseUser) *dbv1.DatabaseUser {
	u.Spec.Authentication = dbv1.AuthenticateCertificate
	return u
}

func TestAUserGetsACertificateOfTheCAOfItsClusterUntilTheFieldIsRemoved(t *testing.T) {
	parallel(t)
	cluster := started(t, withTLS(certifying(t), dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}), certifies)
	u := byCertificate(userOf(cluster, "billing"))
	create(t, u)
	awaitUser(t, u, metav1.ConditionFalse, dbv1.ReasonCertificateUnsupported)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.TLS.ClientCertificates = dbv1.ClientCertificatesAccept })
	awaitUser(t, u, metav1.ConditionTrue, dbv1.ReasonInDatabase)

	secret, members := namedSecret(t, cluster.Namespace, "billing-user"), namedSecret(t, cluster.Namespace, "orders-tls")
	facts := pki.JudgeClient(secret.Data, "billing", time.Now())
	if facts.Problem != "" || u.Status.Certificate == nil || !u.Status.Certificate.NotAfter.Time.Equal(facts.NotAfter) {
		t.Errorf("Secret billing-user %s; the status has %+v", facts.Problem, u.Status.Certificate)
	}
	if string(members.Data["clients.crt"]) != string(secret.Data["ca.crt"]) || len(secret.Data["ca.crt"]) == 0 {
		t.Errorf("members know other CAs: %s", members.Data["clients.crt"])
	}
	eventually(t, "members that mount the CA of clients", func() error {
		var without []string
		for _, pod := range listed(t, cluster.Namespace, &corev1.PodList{}, naming.Selector(cluster.Name)).Items {
			if !slices.ContainsFunc(pod.Spec.Volumes, mountsClients) && pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase {
				without = append(without, pod.Name)
			}
		}
		return errorIf(len(without) > 0, "%q do not", without)
	})
	change(t, u, func(u *dbv1.DatabaseUser) { u.Annotations = map[string]string{dbv1.AnnotationRotateCredentials: "now"} })
	eventually(t, "another password and certificate", func() error {
		after := namedSecret(t, cluster.Namespace, "billing-user")
		kept := string(after.Data["tls.crt"]) == string(secret.Data["tls.crt"]) || string(after.Data["password"]) == string(secret.Data["password"])
		return errorIf(kept, "it has the previous ones")
	})

	change(t, u, func(u *dbv1.DatabaseUser) { u.Spec.Authentication = "" })
	awaitUser(t, u, metav1.ConditionTrue, dbv1.ReasonInDatabase)
	if after := namedSecret(t, cluster.Namespace, "billing-user"); after.Data["tls.key"] != nil || u.Status.Certificate != nil {
		t.Errorf("the user keeps its certificate, and the status %+v", u.Status.Certificate)
	}
}

func mountsClients(v corev1.Volume) bool {
	return v.Name == naming.TLSVolume && v.Secret != nil && slices.ContainsFunc(v.Secret.Items, func(item corev1.KeyToPath) bool { return item.Key == pki.ClientsKey })
}

func TestCertificatesOfClientsNeedTheCAOfTheClusterAndTLS(t *testing.T) {
	parallel(t)
	for name, tls := range map[string]dbv1.ClusterTLS{
		"issuer": {IssuerRef: &dbv1.TLSIssuerRef{Name: "company"}}, "secret": {SecretName: "mine"}, "mode": {SelfSigned: &dbv1.TLSSelfSigned{}, Mode: dbv1.TLSAllow},
	} {
		tls.ClientCertificates = dbv1.ClientCertificatesAccept
		c := created(t, nil).DeepCopy()
		c.Name, c.ResourceVersion, c.UID, c.Spec.TLS = name, "", "", &tls
		if err := admin.Create(t.Context(), c); err == nil || !strings.Contains(err.Error(), "clientCertificates Accept needs selfSigned and the mode Require") {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "certifying-without-tls"}}
	e.Spec.Topology = dbv1.TopologyIndependent
	e.Spec.Actions.Objects = &dbv1.EngineObjects{Command: []string{"objects"}, PasswordKey: "password", Certificates: dbv1.CertificatesSupported}
	if err := admin.Create(t.Context(), e); err == nil || !strings.Contains(err.Error(), "certificates Supported needs spec.tls") {
		t.Errorf("%v", err)
	}
}
