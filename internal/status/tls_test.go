/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/certificate"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// encrypted is a pass of a converged cluster that serves a certificate.
func encrypted(t *testing.T, change func(*dbv1.DatabaseCluster, *state.Observed)) dbv1.DatabaseClusterStatus {
	t.Helper()
	declared := &dbv1.DatabaseEngine{}
	declared.Name, declared.Spec.TLS = "ledger-v1", &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	declared.Spec.Actions.Reload = &dbv1.EngineAction{Command: []string{"reload"}}
	c := plans.Orders()
	c.Spec.Engine, c.Spec.TLS, c.Status.TLS = declared.Name, &dbv1.ClusterTLS{SecretName: "mine"}, &dbv1.ClusterTLSStatus{Served: "now"}
	o := plans.Standing(t, engine.Resolve(c, declared))
	o.Engine, o.Image = declared, "operator:1"
	for i := range o.Members {
		o.Members[i].Certificate = "mine"
	}
	o.TLS.Certificate = state.Certificate{Name: "mine", UID: "s", Owned: true, CertificateFacts: pki.CertificateFacts{
		NotBefore: plans.Now.Add(-time.Hour), NotAfter: plans.Now.Add(time.Hour), Identity: "now",
	}}
	o.References = []pods.Reference{{Kind: "Secret", Name: "mine", Where: "spec.tls.secretName", Found: true}}
	o.StatefulSet.Annotations = resources.StatefulSet(engine.Resolve(c, declared), 3, o).Object.GetAnnotations()
	o.StatefulSet.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(o.StatefulSet)
	change(c, &o)
	s := situation.Of(c, o)
	return Of(PassResult{Situation: s, Plan: plan.For(s)}, metav1.NewTime(plans.Now))
}

func TestTLSReadyReportsWhetherAllMembersServeAValidCertificate(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*dbv1.DatabaseCluster, *state.Observed)
		status  metav1.ConditionStatus
		reason  string
		message string
		served  string
	}{
		"they do": {func(*dbv1.DatabaseCluster, *state.Observed) {}, "True", dbv1.ReasonCertificateServed,
			"members serve the certificate in Secret mine, which is valid until 2026-01-01T01:00:00Z", "now"},
		"they serve the previous one": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.TLS.Served = "before" }, "False", dbv1.ReasonCertificateReloading,
			"members load the certificate after all of them are ready", "before"},
		"the Job runs": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.TLS.Served = "before"
			state.Put(o, certificate.Facts{Reloading: true, Reloaded: "now", Reload: jobs.Job{Name: "j", Active: true, Started: true}})
		}, "False", dbv1.ReasonCertificateReloading, "members load the certificate by Job j", "before"},
		"the Job succeeded": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.TLS.Served = "before"
			state.Put(o, certificate.Facts{Reloading: true, Reloaded: "now", Reload: jobs.Job{Name: "j", Succeeded: true}})
		}, "True", dbv1.ReasonCertificateServed, "members serve the certificate in Secret mine, which is valid until 2026-01-01T01:00:00Z", "now"},
		"the Job has loaded another certificate": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.TLS.Served = "before"
			state.Put(o, certificate.Facts{Reloading: true, Reloaded: "before", Reload: jobs.Job{Name: "j", Succeeded: true}})
		}, "False", dbv1.ReasonCertificateReloading, "members load the certificate after all of them are ready", "before"},
		"the Job failed": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.TLS.Served = "before"
			state.Put(o, certificate.Facts{Reloading: true, Reloaded: "now", Reload: jobs.Job{Name: "j", Failed: true, Failure: "too late"}})
		}, "False", dbv1.ReasonReloadFailed, "members could not load the certificate: too late. See kubectl logs job/j, then delete the Job to try again", "before"},
		"the certificate is invalid": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.TLS.Certificate.Problem = "has no ca.crt: add it" }, "False", dbv1.ReasonCertificateInvalid,
			"Secret mine, which spec.tls.secretName names, has no ca.crt: add it", "now"},
		"the certificate is missing": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate, o.References[0].Found = state.Certificate{}, false
		}, "False", dbv1.ReasonReferenceMissing,
			"Secret mine, which spec.tls.secretName names, does not exist. Create what is missing in the namespace of the cluster. Until then, the operator does not start or restart members", "now"},
		"no member exists yet": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.TLS, o.StatefulSet, o.Members = nil, nil, nil
		}, "False", dbv1.ReasonCertificateReloading, "members load the certificate after all of them are ready", "now"},
		"a rollout runs": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0) }, "False", dbv1.ReasonCertificateReloading,
			"members load the certificate after outdated members have restarted", "now"},
		"the user restarts outdated members": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.UpdateStrategy.Type, o.Members[0].Certificate = dbv1.UpdateOnDelete, "mine"
			plans.Outdated(o, 0)
		}, "True", dbv1.ReasonCertificateServed, "members serve the certificate in Secret mine, which is valid until 2026-01-01T01:00:00Z", "now"},
		"an outdated member has another Secret": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.UpdateStrategy.Type, o.Members[0].Certificate = dbv1.UpdateOnDelete, "other"
			plans.Outdated(o, 0)
		}, "False", dbv1.ReasonCertificateReloading, "members load the certificate after outdated members have restarted", ""},
		"paused members without TLS, and a reload of before": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Paused, o.Members[1].Certificate = true, ""
			state.Put(o, certificate.Facts{Reloading: true, Reloaded: "now", Reload: jobs.Job{Name: "j", Succeeded: true}})
		}, "False", dbv1.ReasonCertificateReloading, "members load the certificate when they restart", ""},
		"the spec has no TLS any more": {func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Spec.TLS = nil
			meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: dbv1.ConditionTLSReady, Status: "True", Reason: "x"})
		}, "False", dbv1.ReasonNoTLS, "spec.tls is not set", ""},
	} {
		t.Run(name, func(t *testing.T) {
			status := encrypted(t, c.change)
			got := meta.FindStatusCondition(status.Conditions, dbv1.ConditionTLSReady)
			if got == nil || got.Status != c.status || got.Reason != c.reason || got.Message != c.message {
				t.Errorf("got %+v", got)
			}
			if served := status.TLS; c.served == "" && served != nil && served.Served != "" || c.served != "" && served.Served != c.served {
				t.Errorf("served is %+v, want %q", served, c.served)
			}
		})
	}
}

func TestAClusterWithoutTLSReportsNone(t *testing.T) {
	c := plans.Orders()
	s := situation.Of(c, plans.Standing(t, c))
	status := Of(PassResult{Situation: s, Plan: plan.For(s)}, metav1.NewTime(plans.Now))
	if status.TLS != nil || meta.FindStatusCondition(status.Conditions, dbv1.ConditionTLSReady) != nil {
		t.Errorf("it reports %+v", status.TLS)
	}
}

func TestTheStatusHasTheExpiryOfTheCertificateAndTheCertificateOfCertManager(t *testing.T) {
	status := encrypted(t, func(c *dbv1.DatabaseCluster, o *state.Observed) {
		c.Spec.TLS = &dbv1.ClusterTLS{IssuerRef: &dbv1.TLSIssuerRef{Name: "company"}}
		o.TLS.Issuance.Live = certificate.CertManagerCertificate(c, nil).Object
	})
	if at := status.TLS.NotAfter; at == nil || !at.Equal(&metav1.Time{Time: plans.Now.Add(time.Hour)}) {
		t.Errorf("it expires at %v", at)
	}
	if status.TLS.CertificateName != "orders-tls" || status.TLS.SecretName != "orders-tls" {
		t.Errorf("%+v", status.TLS)
	}
}
