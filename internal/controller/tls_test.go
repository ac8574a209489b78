/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/certificate"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// crashing is a store whose operator crashes at its call with a number, before the call or after it.
type crashing struct {
	client.WithWatch
	calls, at int
	after     bool
	dead      bool // until the operator starts again
	// authorities are all CAs that ever existed.
	authorities map[string]bool
}

var errCrash = errors.New("crash")

func newCrashing(t *testing.T, at int, after bool, objects ...client.Object) *crashing {
	t.Helper()
	s := &crashing{at: at, after: after, authorities: map[string]bool{}}
	store := fakeclient.For(testScheme(t)).WithStatusSubresource(&dbv1.DatabaseCluster{}).WithObjects(objects...).Build()
	s.WithWatch = interceptor.NewClient(store, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetUID(types.UID("uid of " + object.GetName())) // as an API server does
			return s.call(ctx, func() error { return c.Create(ctx, object, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return s.call(ctx, func() error { return c.Apply(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return s.call(ctx, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return s.call(ctx, func() error { return c.SubResource(sub).Patch(ctx, object, patch, options...) })
		},
	})
	return s
}

// call fails the call, and all later ones of the same pass.
func (s *crashing) call(ctx context.Context, do func() error) error {
	s.calls++
	if s.dead = s.dead || s.calls == s.at; s.dead && (s.calls != s.at || !s.after) {
		return errCrash
	}
	err := do()
	if ca := s.secret(ctx, "orders-ca"); ca != nil {
		s.authorities[string(ca.Data["ca.crt"])] = true
	}
	if s.calls == s.at {
		return errCrash
	}
	return err
}

func (s *crashing) secret(ctx context.Context, name string) *corev1.Secret {
	secret := &corev1.Secret{}
	if s.Get(ctx, client.ObjectKey{Namespace: "shop", Name: name}, secret) != nil {
		return nil
	}
	return secret
}

// converge runs passes at a time, each of a new operator.
func (s *crashing) converge(t *testing.T, at time.Time) {
	t.Helper()
	for range 6 {
		r := &Reconciler{ClusterDomain: "cluster.local", TransferImage: "operator:1", Base: kit.Base{
			Cached: s, Live: s, Writer: apply.Writer{Client: s, Live: s}, Events: events.NewFakeRecorder(100), Clock: clocktesting.NewFakePassiveClock(at),
		}}
		s.dead = false
		_, _ = r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "orders"}})
	}
}

// judge verifies the certificate as clients do that have the CAs of a Secret.
func (s *crashing) judge(t *testing.T, at time.Time, trusted []byte) string {
	t.Helper()
	secret := s.secret(t.Context(), "orders-tls")
	if secret == nil {
		return "does not exist"
	}
	files := pki.Files(secret.Data)
	if trusted != nil {
		files[pki.AuthorityKey] = trusted
	}
	return pki.Judge(files, naming.ClientHosts("orders", "shop", 1), at).Problem
}

func encryptedCluster() (*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {
	declared := &dbv1.DatabaseEngine{}
	declared.Name, declared.Spec.TLS = "ledger-v1", &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	declared.Spec.Actions.Reload = &dbv1.EngineAction{Command: []string{"reload"}}
	c := running()
	c.Spec.Engine, c.Spec.Replicas, c.Spec.TLS = declared.Name, 1, &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	return c, declared
}

// A crash at any call neither replaces a CA nor leaves the cluster without a certificate, also while both are renewed.
func TestACrashAtAnyCallLeavesOneCAAndAValidCertificate(t *testing.T) {
	renewal := moment.Add(pki.AuthorityLife * 2 / 3)
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			cluster, declared := encryptedCluster()
			s := newCrashing(t, at, after, cluster, declared)
			s.converge(t, moment.Time)
			if problem := s.judge(t, moment.Time, nil); problem != "" || len(s.authorities) != 1 {
				t.Fatalf("crash at call %d, after it %v: Secret orders-tls %s; %d CAs existed", at, after, problem, len(s.authorities))
			}
			trusted := s.secret(t.Context(), "orders-ca").Data[pki.AuthorityKey]
			s.converge(t, renewal)
			if problem := s.judge(t, renewal, trusted); problem != "" || len(s.authorities) != 2 {
				t.Fatalf("crash at call %d, after it %v: the renewed Secret %s for clients of the first CA; %d CAs existed", at, after, problem, len(s.authorities))
			}
			if s.calls < at { // the crash did not occur
				break
			}
		}
	}
}

func TestAChangeOfTheDNSNamesIssuesACertificateAndKeepsTheTemplate(t *testing.T) {
	cluster, declared := encryptedCluster()
	s := newCrashing(t, 0, false, cluster, declared)
	set := &appsv1.StatefulSet{}
	var template string
	for _, names := range [][]string{nil, {"orders.example.com", "orders.shop"}, {"orders.example.net"}, nil} {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
			t.Fatal(err)
		}
		cluster.Spec.TLS.DNSNames = names
		if err := s.Update(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
		s.converge(t, moment.Time)
		facts := pki.Judge(s.secret(t.Context(), "orders-tls").Data, names, moment.Time)
		if facts.Problem != "" || !slices.Equal(facts.Names, certificate.Hosts(cluster, nil, "cluster.local")) {
			t.Errorf("with %v, the certificate %s; it has the names %v", names, facts.Problem, facts.Names)
		}
		if err := s.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "orders"}, set); err != nil {
			t.Fatal(err)
		}
		if before := template; template == "" {
			template = set.Annotations[dbv1.AnnotationRenderedFrom]
		} else if set.Annotations[dbv1.AnnotationRenderedFrom] != before {
			t.Errorf("with %v, the template has other inputs", names)
		}
	}
}

func TestMembersMountTheCertificateAndNeverTheCA(t *testing.T) {
	cluster, declared := encryptedCluster()
	s := newCrashing(t, 0, false, cluster, declared)
	s.converge(t, moment.Time)
	set := &appsv1.StatefulSet{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "orders"}, set); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range set.Spec.Template.Spec.Volumes {
		if v.Secret != nil {
			names = append(names, v.Secret.SecretName)
		}
	}
	if text := strings.Join(names, " "); text != "orders-tls" {
		t.Errorf("members mount the Secrets %q", text)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Fatal(err)
	}
	if cluster.Status.TLS == nil || cluster.Status.TLS.Served == "" || meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionTLSReady) == nil {
		t.Errorf("the status has %+v", cluster.Status.TLS)
	}
}

func TestACAThatChangedSinceItWasReadIsNotUsed(t *testing.T) {
	cluster, declared := encryptedCluster()
	s := newCrashing(t, 0, false, cluster, declared)
	s.converge(t, moment.Time)
	before := s.secret(t.Context(), "orders-ca")
	broken := before.DeepCopy()
	broken.Data[pki.PrivateKeyKey] = []byte("broken")
	if err := s.Update(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	s.converge(t, moment.Time)
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Fatal(err)
	}
	found := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionStalled)
	if found == nil || found.Reason != dbv1.ReasonCertificateInvalid || !strings.Contains(found.Message, "Secret orders-ca") || strings.Contains(found.Message, "broken") {
		t.Errorf("got %+v", found)
	}
	if now := s.secret(t.Context(), "orders-ca"); string(now.Data[pki.PrivateKeyKey]) != "broken" {
		t.Error("the operator replaced the CA")
	}
}
