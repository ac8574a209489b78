//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// encrypting is an engine that serves TLS, and reloads certificates unless the test removes that.
func encrypting(t *testing.T, name string, reloads bool) string {
	t.Helper()
	declared := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	declared.Spec.Topology = dbv1.TopologyIndependent
	declared.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	if reloads {
		declared.Spec.Actions.Reload = &dbv1.EngineAction{Command: []string{"reload"}}
	}
	createFor(t, declared)
	return name
}

// reloading sets members healthy, and lets reload Jobs succeed.
func reloading(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentReload {
		pod.Status.Phase = corev1.PodSucceeded
		return
	}
	healthy(pod)
}

func withTLS(engine string, tls dbv1.ClusterTLS) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Engine, c.Spec.TLS = engine, &tls }
}

func namedSecret(t *testing.T, ns, name string) *corev1.Secret {
	t.Helper()
	return read(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}})
}

// membersOf returns the UIDs of the members.
func membersOf(t *testing.T, c *dbv1.DatabaseCluster) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pod := range listed(t, c.Namespace, &corev1.PodList{}, naming.Selector(c.Name)).Items {
		all[pod.Name] = string(pod.UID)
	}
	return all
}

func annotate(t *testing.T, c *dbv1.DatabaseCluster, key, value string) {
	t.Helper()
	change(t, c, func(c *dbv1.DatabaseCluster) {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[key] = value
	})
}

func TestTheOperatorIssuesAndRenewsCertificatesOfACAOfTheCluster(t *testing.T) {
	parallel(t)
	c := started(t, withTLS(encrypting(t, "tls-own-v1", true), dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}), reloading)
	awaitTrue(t, c, dbv1.ConditionTLSReady, dbv1.ReasonCertificateServed, "Secret orders-tls", "valid until")
	ca, first := namedSecret(t, c.Namespace, "orders-ca"), namedSecret(t, c.Namespace, "orders-tls")
	facts := pki.Judge(first.Data, naming.ClientHosts("orders", c.Namespace, 3), time.Now())
	if facts.Problem != "" || first.Type != corev1.SecretTypeTLS || !metav1.IsControlledBy(first, c) || !metav1.IsControlledBy(ca, c) {
		t.Errorf("Secret orders-tls %s; it has type %s and owners %v", facts.Problem, first.Type, first.OwnerReferences)
	}
	if c.Status.TLS.SecretName != "orders-tls" || c.Status.TLS.NotAfter == nil || !c.Status.TLS.NotAfter.Time.Equal(facts.NotAfter) {
		t.Errorf("the status has %+v, want the expiry %s", c.Status.TLS, facts.NotAfter)
	}
	if jobs := listed(t, c.Namespace, &batchv1.JobList{}, nil).Items; len(jobs) > 0 {
		t.Errorf("the first members need a reload by %s", jobs[0].Name)
	}
	for _, pod := range listed(t, c.Namespace, &corev1.PodList{}, nil).Items {
		for _, v := range pod.Spec.Volumes {
			if v.Secret != nil && v.Secret.SecretName == ca.Name {
				t.Errorf("pod %s mounts the CA", pod.Name)
			}
		}
	}

	before, served := membersOf(t, c), c.Status.TLS.Served
	annotate(t, c, dbv1.AnnotationRenewCertificate, "now")
	await(t, c, "members to serve the renewed certificate", func() bool { return c.Status.TLS.Served != served })
	awaitTrue(t, c, dbv1.ConditionTLSReady, dbv1.ReasonCertificateServed)
	second := namedSecret(t, c.Namespace, "orders-tls")
	if string(second.Data["tls.crt"]) == string(first.Data["tls.crt"]) || string(second.Data["tls.key"]) == string(first.Data["tls.key"]) ||
		string(second.Data["ca.crt"]) != string(first.Data["ca.crt"]) {
		t.Error("the renewal keeps the certificate or the key, or replaces the CA")
	}
	if after := membersOf(t, c); !maps.Equal(before, after) {
		t.Errorf("members restarted: %v, before %v", after, before)
	}

	// A deleted certificate is issued again, and a deleted CA is replaced.
	remove(t, second)
	annotate(t, c, dbv1.AnnotationRefresh, "1")
	eventually(t, "another certificate", func() error { return admin.Get(t.Context(), client.ObjectKeyFromObject(second), second) })
	remove(t, ca)
	annotate(t, c, dbv1.AnnotationRefresh, "2")
	eventually(t, "another CA", func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(second), second); err != nil {
			return err
		}
		return errorIf(string(second.Data["ca.crt"]) == string(first.Data["ca.crt"]), "it still has the CA that was deleted")
	})

	// Private keys stay in Secrets.
	for name, text := range map[string]any{"the cluster": read(t, c), "a StatefulSet": read(t, statefulSet(c)), "the Jobs": listed(t, c.Namespace, &batchv1.JobList{}, nil)} {
		if form, _ := json.Marshal(text); strings.Contains(string(form), "PRIVATE KEY") {
			t.Errorf("%s has a private key", name)
		}
	}
	remove(t, c)
	awaitDeleted(t, namedSecret(t, c.Namespace, "orders-tls"))
}

func TestARenewalRestartsMembersOneByOneWithoutAReload(t *testing.T) {
	parallel(t)
	c := started(t, withTLS(encrypting(t, "tls-restart-v1", false), dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}), reloading)
	awaitTrue(t, c, dbv1.ConditionTLSReady, dbv1.ReasonCertificateServed)
	before := membersOf(t, c)
	annotate(t, c, dbv1.AnnotationRenewCertificate, "now")
	eventually(t, "all members to restart", func() error {
		for name, uid := range membersOf(t, c) {
			if before[name] == uid {
				return errorIf(true, "%s has not restarted", name)
			}
		}
		return nil
	})
	awaitReady(t, c)
	awaitTrue(t, c, dbv1.ConditionTLSReady, dbv1.ReasonCertificateServed)
}

func TestAForeignSecretUnderTheNameOfTheCertificateIsNotTouched(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-tls"}, StringData: map[string]string{"tls.key": "theirs"}}
	create(t, foreign)
	c := smallest(ns, "orders")
	withTLS(encrypting(t, "tls-foreign-v1", true), dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}})(c)
	create(t, c)
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonNameConflict, "Secret orders-tls")
	if got := read(t, foreign); string(got.Data["tls.key"]) != "theirs" || len(got.OwnerReferences) > 0 {
		t.Errorf("the operator changed it: %v", got.OwnerReferences)
	}
	remove(t, foreign)
	kubelet(t, ns, reloading)
	awaitReady(t, c)
}

// issuedFor are the files of a certificate for the cluster orders.
func issuedFor(t *testing.T, at time.Time, hosts ...string) (pki.Authority, pki.Files) {
	t.Helper()
	authority, err := pki.NewAuthority("company", at)
	if err != nil {
		t.Fatal(err)
	}
	files, err := authority.Issue(hosts, at)
	if err != nil {
		t.Fatal(err)
	}
	return authority, files
}

func TestABadSecretStallsTheClusterWithTheCauseAndTheRemedy(t *testing.T) {
	parallel(t)
	ns, now := namespace(t), time.Now()
	hosts := naming.ClientHosts("orders", ns, 3)
	authority, good := issuedFor(t, now, hosts...)
	other, foreign := issuedFor(t, now, hosts...)
	_, expired := issuedFor(t, now.Add(-pki.LeafLife-time.Hour), hosts...)
	_, early := issuedFor(t, now.Add(time.Hour), hosts...)
	_, wrong := issuedFor(t, now, "orders."+ns+".svc", "other.example")
	old, _ := issuedFor(t, now.Add(-pki.AuthorityLife-time.Hour), hosts...)
	with := func(key string, text []byte) pki.Files {
		changed := maps.Clone(good)
		changed[key] = text
		return changed
	}

	c := smallest(ns, "orders")
	withTLS(encrypting(t, "tls-bad-v1", true), dbv1.ClusterTLS{SecretName: "certificate"})(c)
	create(t, c)
	kubelet(t, ns, reloading)
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonReferenceMissing, "Secret certificate, which spec.tls.secretName names, does not exist")

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "certificate"}, Data: with(pki.AuthorityKey, nil)}
	create(t, secret)
	for _, bad := range []struct {
		files pki.Files
		says  string
	}{
		{secret.Data, "has no ca.crt"},
		{with(pki.PrivateKeyKey, foreign[pki.PrivateKeyKey]), "has a tls.key that does not match tls.crt"},
		{wrong, "without the DNS names orders-0.orders-headless, orders-1.orders-headless, orders-2.orders-headless,"},
		{expired, "expired at"},
		{early, "is not valid before"},
		{with(pki.AuthorityKey, old.Files()[pki.AuthorityKey]), "of a CA that expired at"},
		{with(pki.AuthorityKey, other.Files()[pki.AuthorityKey]), "that no CA in ca.crt issued"},
		{with(pki.CertificateKey, []byte("text")), "no certificate in PEM form in tls.crt"},
	} {
		change(t, secret, func(s *corev1.Secret) { s.Data = bad.files })
		annotate(t, c, dbv1.AnnotationRefresh, bad.says[:10])
		await(t, c, bad.says, func() bool {
			for _, kind := range []string{dbv1.ConditionStalled, dbv1.ConditionTLSReady} {
				found := conditionOf(c, kind)
				if found == nil || found.Reason != dbv1.ReasonCertificateInvalid || !strings.Contains(found.Message, bad.says) {
					return false
				}
			}
			return true
		})
	}
	if members := membersOf(t, c); len(members) > 0 {
		t.Errorf("members started with a bad certificate: %v", members)
	}
	change(t, secret, func(s *corev1.Secret) { s.Data = good })
	awaitReady(t, c)

	// A renewal by the user, and then a mistake: members keep running.
	before := membersOf(t, c)
	renewed, err := authority.Issue(hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	// The user returns to the first certificate, and renews it again. Each time, members need a new Job.
	jobs := map[string]bool{}
	for i, files := range []pki.Files{renewed, good, renewed} {
		change(t, secret, func(s *corev1.Secret) { s.Data = files })
		annotate(t, c, dbv1.AnnotationRefresh, fmt.Sprintf("renewed %d", i))
		await(t, c, "the certificate in the Secret", func() bool { return c.Status.TLS.Served == pki.Identity(files) })
		job := read(t, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: naming.ReloadJob("orders", c.UID)}})
		jobs[string(job.UID)] = true
	}
	if len(jobs) != 3 {
		t.Errorf("%d Jobs loaded three renewals", len(jobs))
	}
	change(t, secret, func(s *corev1.Secret) { s.Data = expired })
	annotate(t, c, dbv1.AnnotationRefresh, "expired")
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonCertificateInvalid, "expired at")
	if after := membersOf(t, c); !maps.Equal(before, after) || c.Status.TLS.Served != pki.Identity(renewed) {
		t.Errorf("members restarted or load a bad certificate: %v, before %v", after, before)
	}
}

func conditionOf(c *dbv1.DatabaseCluster, kind string) *metav1.Condition {
	for i := range c.Status.Conditions {
		if c.Status.Conditions[i].Type == kind {
			return &c.Status.Conditions[i]
		}
	}
	return nil
}

func TestAnEngineWithoutTLSIsRefused(t *testing.T) {
	parallel(t)
	c := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}} })
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonTLSUnsupported, "spec.tls needs an engine that supports TLS: set spec.engine to one, or remove spec.tls")
	for name, tls := range map[string]dbv1.ClusterTLS{
		"is only for issuerRef and selfSigned": {SecretName: "a", DNSNames: []string{"orders.example.com"}},
		"must be lowercase DNS names":          {SelfSigned: &dbv1.TLSSelfSigned{}, DNSNames: []string{"*.example.com", "orders"}},
		"not names of Services":                {SelfSigned: &dbv1.TLSSelfSigned{}, DNSNames: []string{"payments.shop.svc"}},
	} {
		bad := smallest(c.Namespace, "names")
		bad.Spec.TLS = &tls
		if err := admin.Create(t.Context(), bad); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, tls := range map[string]*dbv1.ClusterTLS{"none": {}, "two": {SecretName: "a", SelfSigned: &dbv1.TLSSelfSigned{}}} {
		bad := smallest(c.Namespace, name)
		bad.Spec.TLS = tls
		if err := admin.Create(t.Context(), bad); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "set exactly one of secretName, issuerRef and selfSigned") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// installCertManager installs the CRDs of cert-manager.
func installCertManager(t *testing.T) {
	t.Helper()
	installCRDs(t, "cert-manager", "github.com/cert-manager/cert-manager", "deploy/crds")
}

// The kind Certificate is the real one. The test does what the controller of cert-manager does.
func TestCertManagerIsAskedForACertificate(t *testing.T) {
	parallel(t)
	engine := encrypting(t, "tls-issuer-v1", true)
	c := created(t, withTLS(engine, dbv1.ClusterTLS{IssuerRef: &dbv1.TLSIssuerRef{Name: "company", Kind: "ClusterIssuer"}}))
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonCertManagerMissing,
		"spec.tls.issuerRef needs cert-manager: the API server does not know the kind Certificate of group cert-manager.io. Install cert-manager, or use spec.tls.selfSigned")

	installCertManager(t)
	certificate := &unstructured.Unstructured{}
	certificate.SetGroupVersionKind(naming.CertificateKind)
	certificate.SetNamespace(c.Namespace)
	certificate.SetName("orders-tls")
	eventually(t, "a Certificate", func() error { return admin.Get(t.Context(), client.ObjectKeyFromObject(certificate), certificate) })
	hosts, _, _ := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
	kind, _, _ := unstructured.NestedString(certificate.Object, "spec", "issuerRef", "kind")
	if kind != "ClusterIssuer" || len(hosts) < 10 {
		t.Errorf("it has issuer %s and hosts %v", kind, hosts)
	}

	// The issuer does not exist: cert-manager reports that on the Certificate.
	certificate.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "DoesNotExist", "message": "Issuing certificate as Secret does not exist",
	}}}
	if err := admin.Status().Update(t.Context(), certificate); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonCertificateNotIssued, "Issuing certificate as Secret does not exist",
		"Check that ClusterIssuer company, which spec.tls.issuerRef names, exists and is ready")

	_, files := issuedFor(t, time.Now(), hosts...)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.Namespace, Name: "orders-tls", Annotations: map[string]string{naming.AnnotationCertificateName: "orders-tls"},
		Labels: naming.Labels(c, dbv1.ComponentTLS), // as secretTemplate of the Certificate asks for
	}, Type: corev1.SecretTypeTLS, Data: files}
	create(t, secret)
	kubelet(t, c.Namespace, reloading)
	awaitReady(t, c)
	awaitTrue(t, c, dbv1.ConditionTLSReady, dbv1.ReasonCertificateServed)
	await(t, secret, "the cluster to own the Secret", func() bool { return metav1.IsControlledBy(secret, c) })

	// An edit of the Certificate is reverted.
	eventually(t, "an edit", func() error {
		latest := certificate.DeepCopy()
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(latest), latest); err != nil {
			return err
		}
		_ = unstructured.SetNestedStringSlice(latest.Object, []string{"elsewhere.example"}, "spec", "dnsNames")
		return admin.Update(t.Context(), latest)
	})
	annotate(t, c, dbv1.AnnotationRefresh, "edited")
	eventually(t, "the edit to be reverted", func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(certificate), certificate); err != nil {
			return err
		}
		now, _, _ := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
		return errorIf(len(now) != len(hosts), "it has %v", now)
	})

	change(t, c, func(c *dbv1.DatabaseCluster) { c.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}} })
	awaitDeleted(t, certificate)
	eventually(t, "a certificate of the cluster's CA", func() error {
		ca := &corev1.Secret{}
		if err := admin.Get(context.WithoutCancel(t.Context()), client.ObjectKey{Namespace: c.Namespace, Name: "orders-ca"}, ca); err != nil {
			return err
		}
		return errorIf(string(namedSecret(t, c.Namespace, "orders-tls").Data["ca.crt"]) != string(ca.Data["ca.crt"]), "it is of another CA")
	})
	awaitReady(t, c)
}
