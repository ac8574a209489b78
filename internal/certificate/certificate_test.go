/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/certificate"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const (
	day = 24 * time.Hour
	// The hosts of new certificates, and the certificates of the tests.
	host, current, previous = "orders.shop.svc", "current", "previous"
)

// ledger is an engine that supports TLS, and reloads certificates.
func ledger() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	declared.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	declared.Spec.Actions.Reload = &dbv1.EngineAction{Command: []string{"reload"}}
	return declared
}

// secret is a Secret with a certificate of that age.
func secret(name string, age, life time.Duration) state.Certificate {
	begin := plans.Now.Add(-age)
	return state.Certificate{Name: name, UID: "s", Version: "1", Owned: true, CertificateFacts: pki.CertificateFacts{
		NotBefore: begin, NotAfter: begin.Add(life), Identity: current, Issuer: "ca", Names: []string{host},
	}}
}

// known changes the facts that only the certificate needs.
func known(o *state.Observed, change func(*certificate.Facts)) {
	facts := state.FactsOf[certificate.Facts](*o)
	change(&facts)
	state.Put(o, facts)
}

// encrypted is a converged cluster that serves a certificate of its own CA.
func encrypted(t *testing.T) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	c := plans.Orders()
	c.Spec.Engine, c.Spec.TLS = "ledger-v1", &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	c.Status.TLS = &dbv1.ClusterTLSStatus{Served: current}
	o := plans.Standing(t, engine.Resolve(c, ledger()))
	for i := range o.Members {
		o.Members[i].Certificate = "orders-tls"
	}
	o.Engine, o.Image = ledger(), "operator:1"
	o.References = []pods.Reference{{Kind: "Secret", Name: "orders-tls", Where: "spec.tls.secretName", Optional: true, Found: true}}
	o.TLS = state.TLS{
		Certificate: secret("orders-tls", day, pki.LeafLife), Authority: secret("orders-ca", day, pki.AuthorityLife),
	}
	state.Put(&o, certificate.Facts{Hosts: []string{host}})
	set := &appsv1.StatefulSet{}
	child := resources.StatefulSet(engine.Resolve(c, o.Engine), 3, o)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(child.Object.Object, set); err != nil {
		t.Fatal(err)
	}
	set.UID, set.Annotations[dbv1.AnnotationStoredSpec], set.Generation, set.Status = "live", objects.StoredSpecHash(set), 1, o.StatefulSet.Status
	o.StatefulSet = set
	return c, o
}

type change = func(*dbv1.DatabaseCluster, *state.Observed)

// scenarios compare the plan of a changed cluster with its text, without the lines of the phases.
func scenarios(t *testing.T, all map[string]struct {
	change change
	want   string
}) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			cluster, observed := encrypted(t)
			c.change(cluster, &observed)
			if got := plans.Text(plans.Decide(cluster, observed)); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

const (
	upToDate = "UpToDate: the cluster matches its spec\n"
	// The certificate is one day old, and is renewed after 60 days.
	inTime = "again in 1416h0m0s\n"
	issues = "issue the certificate in Secret orders-tls: "
	reload = "load the certificate by Job orders-reload-76eaa5c3\n"
)

func TestTheOperatorIssuesCertificatesOfItsOwnCA(t *testing.T) {
	absent := "WaitingForReference: members wait for the certificate in Secret orders-tls\n"
	scenarios(t, map[string]struct {
		change change
		want   string
	}{
		"nothing is due": {func(*dbv1.DatabaseCluster, *state.Observed) {}, upToDate + inTime},
		"neither CA nor certificate exist": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate, o.TLS.Authority = state.Certificate{}, state.Certificate{}
			o.StatefulSet, o.Members = nil, nil
		}, issues + "it does not exist\n" + absent},
		"the certificate was deleted": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate = state.Certificate{}
		}, issues + "it does not exist\n" + absent + "again in 58376h0m0s\n"},
		"somebody broke the certificate": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate.Problem = "has no tls.key: add it to the Secret"
		}, issues + "the Secret has no tls.key: add it to the Secret\n" + absent + inTime},
		"two thirds are over": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate = secret("orders-tls", 60*day, pki.LeafLife)
		}, issues + "two thirds of its life are over\n" + upToDate + "again in 720h0m0s\n"},
		"one minute before": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate = secret("orders-tls", 60*day-time.Minute, pki.LeafLife)
		}, upToDate + "again in 1m0s\n"},
		"two thirds of the CA are over": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Authority = secret("orders-ca", pki.AuthorityLife*2/3, pki.AuthorityLife)
		}, issues + "the CA has to be renewed\n" + upToDate + inTime},
		"the CA was deleted": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Authority = state.Certificate{}
		}, issues + "the CA has to be renewed\n" + upToDate + inTime},
		"the certificate is of the previous CA": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate.Issuer = "previous"
		}, issues + "the CA has changed\n" + upToDate + inTime},
		"the cluster has another name": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			known(o, func(f *certificate.Facts) { f.Hosts = append(f.Hosts, "orders.example.com") })
		}, issues + "its DNS names have changed\n" + upToDate + inTime},
		"the cluster has a name less": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate.Names = append(o.TLS.Certificate.Names, "orders.example.com")
		}, issues + "its DNS names have changed\n" + upToDate + inTime},
		"the names have another order": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			known(o, func(f *certificate.Facts) { f.Hosts = []string{host, "a.example.com"} })
			o.TLS.Certificate.Names = []string{"a.example.com", host}
		}, upToDate + inTime},
		"the user requests it": {func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Annotations = map[string]string{dbv1.AnnotationRenewCertificate: "now"}
		}, issues + "the annotation database.dbcluster.io/renew-certificate has changed\n" + upToDate + inTime},
		"the request is executed": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Annotations, o.TLS.Certificate.Renewal = map[string]string{dbv1.AnnotationRenewCertificate: "now"}, "now"
		}, upToDate + inTime},
		"the CA is broken": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Authority = state.Certificate{Name: "orders-ca", UID: "s", CertificateFacts: pki.CertificateFacts{Problem: "no key"}}
		}, "WaitingForReference: Secret orders-ca with the CA of the cluster is invalid: no key. Restore the Secret, or delete it: the operator then " +
			"creates another CA, and clients need the new ca.crt\nagain in 10s\nSTALLED CertificateInvalid\n"},
		"the Secret has another owner": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate, o.Foreign = state.Certificate{}, []state.Ref{{Kind: "Secret", Name: "orders-tls"}}
		}, "WaitingForReference: members wait for the certificate in Secret orders-tls\nagain in 10s\nSTALLED NameConflict\n"},
		"the Secret of the CA has another owner": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Authority, o.Foreign = state.Certificate{}, []state.Ref{{Kind: "Secret", Name: "orders-ca"}}
		}, upToDate + "again in 10s\nSTALLED NameConflict\n"},
		"the cluster is paused": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate, c.Spec.Paused = state.Certificate{}, true
		}, "Paused: spec.paused is true; pending: members wait for the certificate in Secret orders-tls\nagain in 58376h0m0s\n"},
	})
}

func TestMembersLoadARenewedCertificateWithoutARestart(t *testing.T) {
	renewed := func(changes ...func(*dbv1.DatabaseCluster, *state.Observed)) change {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.TLS.Served = previous
			for _, change := range changes {
				change(c, o)
			}
		}
	}
	job := func(task jobs.Job) change {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			task.Name, task.Component = "orders-reload-76eaa5c3", dbv1.ComponentReload
			known(o, func(f *certificate.Facts) { f.Reload, f.Reloading, f.Reloaded = task, true, current })
		}
	}
	of := func(loaded string, task jobs.Job) change {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			job(task)(c, o)
			known(o, func(f *certificate.Facts) { f.Reloaded = loaded })
		}
	}
	recreated := "delete Job orders-reload-76eaa5c3: its configuration has changed, so the operator re-creates it\n"
	outdated := func(update dbv1.ClusterUpdateStrategy) change {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.UpdateStrategy = update
			plans.Outdated(o, 1)
		}
	}
	onDelete := "WaitingForUser: 1 member is outdated; spec.updateStrategy.type is OnDelete: delete a pod to update it\n" + inTime
	scenarios(t, map[string]struct {
		change change
		want   string
	}{
		"all members run":                    {renewed(), reload + upToDate + inTime},
		"the status is lost":                 {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.TLS = nil }, reload + upToDate + inTime},
		"the Job runs":                       {renewed(job(jobs.Job{Active: true, Started: true})), upToDate + inTime},
		"the Job succeeded":                  {renewed(job(jobs.Job{Succeeded: true})), upToDate + inTime},
		"the Job is retried":                 {renewed(job(jobs.Job{Pod: "p", Problem: "no", Started: true})), upToDate + inTime},
		"the Job failed":                     {renewed(job(jobs.Job{Failed: true, Failure: "no"})), upToDate + inTime + "STALLED ReloadFailed\n"},
		"the Job cannot start":               {renewed(job(jobs.Job{Pod: "p", Problem: "no image", Remedy: "Correct it"})), upToDate + inTime + "STALLED ReloadFailed\n"},
		"the Job is of other inputs":         {renewed(job(jobs.Job{MadeFrom: "others"})), recreated + upToDate + inTime},
		"the Job is for another certificate": {renewed(of(previous, jobs.Job{Succeeded: true})), recreated + upToDate + inTime},
		"and runs":                           {renewed(of(previous, jobs.Job{Active: true, Started: true})), recreated + upToDate + inTime},
		"and a member is not ready": {renewed(of(previous, jobs.Job{Succeeded: true}), func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[1].Ready = false }),
			recreated + "WaitingForMembers: 2 of 3 members are ready; pod orders-1 is not ready\n" + inTime},
		"the Job is deleted":                 {renewed(job(jobs.Job{Ending: true})), upToDate + inTime},
		"the operator has no transfer image": {renewed(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Image = "" }), upToDate + inTime + "STALLED ReloadFailed\n"},
		"a member is not ready": {renewed(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[1].Ready = false }),
			"WaitingForMembers: 2 of 3 members are ready; pod orders-1 is not ready\n" + inTime},
		"a rollout runs": {renewed(outdated(dbv1.ClusterUpdateStrategy{})), "restart orders-1\nRollingOut: 1 member is outdated; restarting pod orders-1\n" + inTime},
		"the user paused the rollout": {renewed(outdated(dbv1.ClusterUpdateStrategy{Paused: true})),
			reload + "RolloutPaused: 1 member is outdated; spec.updateStrategy.paused is true\n" + inTime},
		"the user restarts outdated members": {renewed(outdated(dbv1.ClusterUpdateStrategy{Type: dbv1.UpdateOnDelete})), reload + onDelete},
		"an outdated member has another Secret": {renewed(outdated(dbv1.ClusterUpdateStrategy{Type: dbv1.UpdateOnDelete}), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[1].Certificate = "mine"
		}), onDelete},
		"an outdated member is from before TLS": {renewed(outdated(dbv1.ClusterUpdateStrategy{Type: dbv1.UpdateOnDelete}), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[1].Certificate = ""
		}), onDelete},
	})
}

func TestMembersOfAnEngineWithoutAReloadRestart(t *testing.T) {
	cluster, observed := encrypted(t)
	observed.Engine.Spec.Actions.Reload = nil
	observed.References[0].Content = "renewed"
	text := plans.Text(plans.Decide(cluster, observed))
	if !strings.Contains(text, "update StatefulSet orders (spec.template)") || strings.Contains(text, "reload") {
		t.Errorf("got:\n%s", text)
	}
}

func TestARenewalDoesNotChangeTheTemplateOfAnEngineThatReloads(t *testing.T) {
	cluster, observed := encrypted(t)
	before := resources.StatefulSet(engine.Resolve(cluster, observed.Engine), 3, observed)
	observed.TLS.Certificate.Identity = "another"
	after := resources.StatefulSet(engine.Resolve(cluster, observed.Engine), 3, observed)
	if before.Object.GetAnnotations()[dbv1.AnnotationRenderedFrom] != after.Object.GetAnnotations()[dbv1.AnnotationRenderedFrom] {
		t.Error("the inputs of the template changed")
	}
}

func TestABadSecretOfTheUserStallsTheCluster(t *testing.T) {
	own := func(changes ...func(*state.Observed)) change {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.TLS = &dbv1.ClusterTLS{SecretName: "orders-tls"}
			o.TLS.Authority = state.Certificate{}
			o.References[0].Optional = false
			for _, change := range changes {
				change(o)
			}
		}
	}
	scenarios(t, map[string]struct {
		change change
		want   string
	}{
		"it is valid": {own(), upToDate + "again in 2136h0m0s\n"},
		"it does not exist": {own(func(o *state.Observed) { o.TLS.Certificate, o.References[0].Found = state.Certificate{}, false }),
			"WaitingForReference: Secret orders-tls, which spec.tls.secretName names, does not exist\nagain in 10s\nSTALLED ReferenceMissing\n"},
		"it is invalid": {own(func(o *state.Observed) { o.TLS.Certificate.Problem = "has no ca.crt: add it to the Secret" }),
			"WaitingForReference: Secret orders-tls, which spec.tls.secretName names, has no ca.crt: add it to the Secret\nagain in 10s\nSTALLED CertificateInvalid\n"},
	})
}

// issuance is the Certificate of cert-manager, as the operator wrote it some time ago.
func issuance(c *dbv1.DatabaseCluster, age time.Duration, message string) state.Issuance {
	live := certificate.CertManagerCertificate(engine.Resolve(c, ledger()), []string{host}).Object.DeepCopy()
	live.SetUID("c")
	live.SetResourceVersion("1")
	live.SetCreationTimestamp(metav1.NewTime(plans.Now.Add(-age)))
	return state.Issuance{Live: live, Message: message}
}

func TestThereIsNoCertificateForTheServiceOfAnotherOwner(t *testing.T) {
	for _, service := range []string{"orders", "orders-headless"} {
		for source, tls := range map[string]dbv1.ClusterTLS{
			"the operator": {SelfSigned: &dbv1.TLSSelfSigned{}}, "cert-manager": {IssuerRef: &dbv1.TLSIssuerRef{Name: "company"}},
		} {
			t.Run(service+", "+source, func(t *testing.T) {
				c, o := encrypted(t)
				c.Spec.TLS, o.Foreign = &tls, []state.Ref{{Kind: "Service", Name: service}}
				o.TLS.Certificate, o.TLS.Authority, o.StatefulSet, o.Members = state.Certificate{}, state.Certificate{}, nil, nil
				p := plans.Decide(c, o)
				for _, one := range p.Operations {
					apply, is := one.(operation.Apply)
					if _, issues := one.(certificate.IssueCertificate); issues || is && (apply.Kind() == "Certificate" || apply.RecordsStoredSpec()) {
						t.Errorf("the plan has: %s", one)
					}
				}
				if p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonNameConflict {
					t.Errorf("it is stalled by %v", p.Stalled)
				}
			})
		}
	}
}

func TestCertManagerIssuesTheCertificate(t *testing.T) {
	issued := func(changes ...func(*dbv1.DatabaseCluster, *state.Observed)) change {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.TLS = &dbv1.ClusterTLS{IssuerRef: &dbv1.TLSIssuerRef{Name: "company"}}
			o.TLS.Authority, o.TLS.Issuance = state.Certificate{}, issuance(c, time.Hour, "")
			for _, change := range changes {
				change(c, o)
			}
		}
	}
	none := func(age time.Duration, message string) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate, o.TLS.Issuance = state.Certificate{}, issuance(c, age, message)
		}
	}
	waits := "WaitingForReference: members wait for the certificate in Secret orders-tls\nagain in 5s\n"
	scenarios(t, map[string]struct {
		change change
		want   string
	}{
		"it is issued": {issued(), upToDate + "again in 2136h0m0s\n"},
		"it is not requested": {issued(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate, o.TLS.Issuance = state.Certificate{}, state.Issuance{}
		}), "create Certificate orders-tls\nApplying: create Certificate orders-tls\nagain in 5s\n"},
		"another issuer": {issued(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.TLS.IssuerRef.Name = "other" }),
			"update Certificate orders-tls (metadata.annotations.database.dbcluster.io/applied)\n" +
				"Applying: update Certificate orders-tls (metadata.annotations.database.dbcluster.io/applied)\nagain in 2136h0m0s\n"},
		"the Secret has no owner": {issued(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.TLS.Certificate.Owned = false }),
			"become the owner of Secret orders-tls\n" + upToDate + "again in 2136h0m0s\n"},
		"it was requested just now": {issued(none(30*time.Second, "Issuing certificate as Secret does not exist")), waits},
		"the issuer does not exist": {issued(none(time.Minute, "Issuing certificate as Secret does not exist")),
			"WaitingForReference: cert-manager has not issued Certificate orders-tls: Issuing certificate as Secret does not exist. " +
				"Check that Issuer company, which spec.tls.issuerRef names, exists and is ready\nagain in 5s\nSTALLED CertificateNotIssued\n"},
		"it is of no use": {issued(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate.Problem = "has no ca.crt: add it to the Secret"
		}), "WaitingForReference: Secret orders-tls, which cert-manager created for spec.tls.issuerRef, has no ca.crt: add it to the Secret\nagain in 5s\nSTALLED CertificateInvalid\n"},
		"cert-manager is not there": {issued(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.TLS.Certificate, o.TLS.Issuance = state.Certificate{}, state.Issuance{Refused: "install it"}
		}), "WaitingForReference: spec.tls.issuerRef needs cert-manager: install it\nagain in 5s\nSTALLED CertManagerMissing\n"},
		"the spec names no issuer any more": {issued(func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.TLS, o.TLS.Authority = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}, secret("orders-ca", day, pki.AuthorityLife)
		}), "delete Certificate orders-tls: spec.tls names no issuer\n" + upToDate + inTime},
		"the cluster has no TLS any more": {issued(func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.TLS, c.Spec.UpdateStrategy.Paused = nil, true
			o.StatefulSet = plans.Standing(t, engine.Resolve(c, ledger())).StatefulSet
			o.References = nil
		}), "delete Certificate orders-tls: spec.tls names no issuer\n" + upToDate},
	})
}

func TestAnEngineThatDoesNotSupportTheSettingsStallsTheCluster(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		says   string
	}{
		"no TLS":       {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Engine.Spec.TLS = nil }, "does not support TLS: set spec.engine to another engine"},
		"not the mode": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.TLS.Mode = dbv1.TLSAllow }, "supports only Require: set spec.tls.mode to Require"},
		"no engine":    {func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Engine, o.Engine = "", nil }, "needs an engine that supports TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := encrypted(t)
			c.change(cluster, &observed)
			p := plans.Decide(cluster, observed)
			if p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonTLSUnsupported || !strings.Contains(p.Stalled.Message, c.says) {
				t.Errorf("it is stalled by %v", p.Stalled)
			}
		})
	}
}

func TestTheFactsOfACertManagerCertificateAreItsSpecAndItsMessage(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"secretName": "orders-tls"}, "status": map[string]any{
		"conditions": []any{
			map[string]any{"type": "Issuing", "status": "True", "message": "issuing"},
			map[string]any{"type": "Ready", "status": "False", "message": "no Secret"},
		},
	}}}
	facts := state.IssuanceOf(live)
	if _, has := facts.Live.Object["status"]; has || facts.Message != "no Secret" {
		t.Errorf("%+v", facts)
	}
	ready := live.DeepCopy()
	ready.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "message": "up to date"}}}
	if facts := state.IssuanceOf(ready); facts.Message != "" {
		t.Errorf("a ready Certificate reports %q", facts.Message)
	}
}
