/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// shop is an application beside the cluster orders, whose connection Secret exists.
func shop() (*dbv1.DatabaseCompanion, CompanionFacts) {
	c := &dbv1.DatabaseCompanion{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1", Generation: 1}}
	c.Spec.ClusterRef.Name, c.Spec.Image, c.Spec.Port = "orders", "web:1", 8080
	return c, CompanionFacts{
		Cluster: plans.Orders(), Engine: anyEngine(), At: plans.Now, Period: 5 * time.Minute,
		Binding: Binding{Name: "orders-connection", Keys: []string{"ca.crt", "host", "password"}, Content: "hash-1"},
	}
}

// pooler is a companion of the engine.
func pooler() (*dbv1.DatabaseCompanion, CompanionFacts) {
	c, seen := shop()
	seen.CredentialKeys = []string{"pooler-password"}
	c.Name, c.Spec.Companion, c.Spec.Image, c.Spec.Port, seen.Binding = "pool", "pooler", "", 0, Binding{}
	return c, seen
}

func anyEngine() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "any"}}
	declared.Spec.Connection = &dbv1.EngineConnection{Type: "any"}
	declared.Spec.Scripts = map[string]dbv1.EngineScript{"pooler": "#!/bin/sh\n", "other": "#!/bin/sh\n"}
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "pooler-password", Generate: &dbv1.EngineSecretValue{Length: 32}}}
	declared.Spec.Roles = &dbv1.EngineRoles{Label: "role", Primary: "primary", Replica: "replica"}
	declared.Spec.Companions = []dbv1.EngineCompanion{{
		Name: "pooler", Image: "pooler:1", Command: []string{"/dbc/scripts/pooler"}, Scripts: []string{"pooler"}, Port: 6432,
		SecretKeys: []string{"pooler-password"}, Pause: dbv1.PauseSupported,
		Parameters: []dbv1.EngineCompanionParameter{{Name: "mode", Default: "transaction", Enum: []string{"transaction", "session"}}},
	}}
	return declared
}

// withEngine resolves the cluster with its engine.
func withEngine(seen CompanionFacts) CompanionFacts {
	seen.Cluster.Spec.Engine = "any"
	seen.Cluster = engine.Resolve(seen.Cluster, seen.Engine)
	return seen
}

// standing are the facts after the objects of a plan exist and all pods are ready.
func standing(t *testing.T, c *dbv1.DatabaseCompanion, seen CompanionFacts) CompanionFacts {
	t.Helper()
	for _, o := range For(c, seen).Operations {
		apply, is := o.(operation.Apply)
		if !is {
			continue
		}
		object := apply.Object.DeepCopy()
		object.SetUID("live")
		object.SetGeneration(1)
		var err error
		from := runtime.DefaultUnstructuredConverter.FromUnstructured
		switch object.GetKind() {
		case "Deployment":
			seen.Deployment = &appsv1.Deployment{}
			err = from(object.Object, seen.Deployment)
			seen.Deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2}
		case "Service":
			seen.Service = &corev1.Service{}
			err = from(object.Object, seen.Service)
		case "PodDisruptionBudget":
			seen.Budget = &policyv1.PodDisruptionBudget{}
			err = from(object.Object, seen.Budget)
		case "NetworkPolicy":
			seen.Policy = &networkingv1.NetworkPolicy{}
			err = from(object.Object, seen.Policy)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return seen
}

func TestTheObjectsOfACompanion(t *testing.T) {
	for name, of := range map[string]func() (*dbv1.DatabaseCompanion, CompanionFacts){"application": shop, "pooler": pooler} {
		c, seen := of()
		for _, o := range For(c, withEngine(seen)).Operations {
			apply, is := o.(operation.Apply)
			if !is {
				t.Fatalf("%s: %s", name, o)
			}
			golden.Compare(t, name+"."+strings.ToLower(apply.Kind()), apply.Child)
		}
	}
}

func TestAConvergedCompanionNeedsNothing(t *testing.T) {
	for _, of := range []func() (*dbv1.DatabaseCompanion, CompanionFacts){shop, pooler} {
		c, seen := of()
		seen = standing(t, c, withEngine(seen))
		p := For(c, seen)
		status := StatusOf(c, seen, p, nil, metav1.NewTime(plans.Now))
		if len(p.Operations) > 0 || !meta.IsStatusConditionTrue(status.Conditions, dbv1.ConditionReady) || status.ReadyReplicas != 2 {
			t.Errorf("%s: %v, %+v", c.Name, p.Operations, status)
		}
		if p.RequeueAfter != 0 {
			t.Errorf("%s: in steady state it has another pass after %s", c.Name, p.RequeueAfter)
		}
	}
}

func TestAnApplicationFindsTheFilesThatItsClientReads(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCompanion, *CompanionFacts)
		want   string
	}{
		"the CA": {func(*dbv1.DatabaseCompanion, *CompanionFacts) {}, "/bindings/orders/ca.crt"},
		"no CA":  {func(_ *dbv1.DatabaseCompanion, f *CompanionFacts) { f.Binding.Keys = []string{"host"} }, ""},
		"one of the user": {func(c *dbv1.DatabaseCompanion, _ *CompanionFacts) {
			c.Spec.Container.Env = []corev1.EnvVar{{Name: "ANY_CA", Value: "/mine"}}
		}, "/mine"},
		"no files, but variables": {func(c *dbv1.DatabaseCompanion, _ *CompanionFacts) {
			c.Spec.Connection.Form = dbv1.ConnectionEnvironment
		}, ""},
		"an engine without a name": {func(_ *dbv1.DatabaseCompanion, f *CompanionFacts) { f.Engine.Spec.Connection.FileVariables = nil }, ""},
	} {
		companion, seen := shop()
		seen.Engine.Spec.Connection.FileVariables = map[string]dbv1.EngineConnectionKey{"ANY_CA": "ca.crt"}
		c.change(companion, &seen)
		var got []string
		for _, v := range standing(t, companion, withEngine(seen)).Deployment.Spec.Template.Spec.Containers[0].Env {
			if v.Name == "ANY_CA" {
				got = append(got, v.Value)
			}
		}
		if strings.Join(got, " and ") != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestANewerOperatorRestartsNoCompanion(t *testing.T) {
	c, seen := shop()
	seen = standing(t, c, withEngine(seen))
	seen.Deployment.Spec.Template.Spec.Containers[0].Image = "as a previous version rendered it"
	if p := For(c, seen); len(p.Operations) > 0 {
		t.Errorf("the inputs are unchanged: %v", p.Operations)
	}
	c.Spec.Image = "web:2"
	if p := For(c, seen); len(p.Operations) != 1 || !strings.Contains(p.Operations[0].String(), "spec.template") {
		t.Errorf("another image: %v", p.Operations)
	}
}

func TestChangesByOthersAreRepaired(t *testing.T) {
	for name, change := range map[string]func(*CompanionFacts){
		"an additional container": func(s *CompanionFacts) {
			s.Deployment.Generation = 2
			s.Deployment.Spec.Template.Spec.Containers = append(s.Deployment.Spec.Template.Spec.Containers, corev1.Container{Name: "other"})
		},
		"other replicas":          func(s *CompanionFacts) { s.Deployment.Generation, *s.Deployment.Spec.Replicas = 2, 5 },
		"another selector":        func(s *CompanionFacts) { s.Service.Spec.Selector["other"] = "label" },
		"another budget":          func(s *CompanionFacts) { s.Budget.Spec.MinAvailable = s.Budget.Spec.MaxUnavailable },
		"the Service was deleted": func(s *CompanionFacts) { s.Service = nil },
	} {
		c, seen := shop()
		seen = standing(t, c, withEngine(seen))
		c.Status.Deployment = objects.Written(nil, seen.Deployment)
		change(&seen)
		if p := For(c, seen); len(p.Operations) != 1 || p.ready {
			t.Errorf("%s: %v", name, p.Operations)
		}
	}
}

// A pooler asks the database for passwords, so only applications restart.
func TestAChangedPasswordRestartsApplications(t *testing.T) {
	for name, c := range map[string]struct {
		of       func() (*dbv1.DatabaseCompanion, CompanionFacts)
		onChange dbv1.CompanionConnectionChange
		restarts bool
	}{
		"an application":             {shop, "", true},
		"one that reads files again": {shop, dbv1.ConnectionReload, false},
		"a pooler":                   {pooler, "", false},
	} {
		companion, seen := c.of()
		companion.Spec.Connection.OnChange = c.onChange
		seen = standing(t, companion, withEngine(seen))
		seen.Binding.Content = "hash-2"
		if p := For(companion, seen); (len(p.Operations) > 0) != c.restarts {
			t.Errorf("%s: %v", name, p.Operations)
		}
	}
}

func TestEveryObstacleNamesItsWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(*dbv1.DatabaseCompanion, *CompanionFacts)
		reason, message string
	}{
		"no cluster": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Cluster = nil }, dbv1.ReasonClusterMissing, "Create it"},
		"a cluster that was deleted": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) {
			s.Cluster, s.Deployment = nil, &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}}
		},
			dbv1.ReasonClusterMissing, "no longer exists. The pods continue"},
		"a Service of others": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Foreign = []string{"Service"} },
			dbv1.ReasonNameConflict, "Service pool exists"},
		"no engine": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Engine = nil }, dbv1.ReasonEngineMissing, "DatabaseEngine any"},
		"another companion": {func(c *dbv1.DatabaseCompanion, _ *CompanionFacts) { c.Spec.Companion = "exporter" },
			dbv1.ReasonFieldUnsupported, "DatabaseEngine any has pooler"},
		"an unknown parameter": {func(c *dbv1.DatabaseCompanion, _ *CompanionFacts) {
			c.Spec.Parameters = map[string]dbv1.CompanionParameter{"size": "3"}
		}, dbv1.ReasonInvalidParameter, `spec.parameters sets "size"`},
		"a wrong value": {func(c *dbv1.DatabaseCompanion, _ *CompanionFacts) {
			c.Spec.Parameters = map[string]dbv1.CompanionParameter{"mode": "fast"}
		}, dbv1.ReasonInvalidParameter, "it must be one of transaction, session"},
		"a Secret without the key": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.CredentialKeys = []string{"password"} },
			dbv1.ReasonSecretIncomplete, "Secret orders-credentials with the credentials of DatabaseCluster orders has no key pooler-password"},
		"a CA of others": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) {
			s.Cluster.Spec.TLS = &dbv1.ClusterTLS{SecretName: "mine"}
		},
			dbv1.ReasonTLSUnsupported, "spec.tls.selfSigned"},
		"no CA yet": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) {
			s.Cluster.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
		}, dbv1.ReasonObjectPending, "orders-ca"},
	} {
		companion, seen := pooler()
		seen = withEngine(seen)
		c.change(companion, &seen)
		p := For(companion, seen)
		if len(p.Operations) > 0 || p.ready || p.reason != c.reason || !strings.Contains(p.message, c.message) || p.RequeueAfter == 0 {
			t.Errorf("%s: %s: %s, %v", name, p.reason, p.message, p.Operations)
		}
	}
}

func TestAnApplicationWaitsForItsConnectionSecret(t *testing.T) {
	user := func(cluster string) *dbv1.DatabaseUser {
		u := &dbv1.DatabaseUser{}
		u.Spec.ClusterRef.Name = cluster
		return u
	}
	for name, c := range map[string]struct {
		change          func(*dbv1.DatabaseCompanion, *CompanionFacts)
		reason, message string
	}{
		"no Secret yet": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Binding = Binding{} }, dbv1.ReasonObjectPending, "orders"},
		"no user":       {func(*dbv1.DatabaseCompanion, *CompanionFacts) {}, dbv1.ReasonReferenceMissing, "DatabaseUser reader"},
		"a user of another cluster": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.User = user("bills") },
			dbv1.ReasonFieldUnsupported, "is of DatabaseCluster bills"},
		"a user without a Secret": {func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.User, s.Binding = user("orders"), Binding{} },
			dbv1.ReasonObjectPending, "DatabaseUser reader has no Secret yet"},
		"an engine without a connection": {func(c *dbv1.DatabaseCompanion, s *CompanionFacts) {
			c.Spec.Connection.UserRef, s.Engine.Spec.Connection = nil, nil
		}, dbv1.ReasonFieldUnsupported, "spec.connection.form to None"},
	} {
		companion, seen := shop()
		seen = withEngine(seen)
		if name != "no Secret yet" {
			companion.Spec.Connection.UserRef = &dbv1.CompanionUserRef{Name: "reader"}
		}
		c.change(companion, &seen)
		if p := For(companion, seen); len(p.Operations) > 0 || p.reason != c.reason || !strings.Contains(p.message, c.message) {
			t.Errorf("%s: %s: %s, %v", name, p.reason, p.message, p.Operations)
		}
	}
	companion, seen := shop()
	companion.Spec.Connection.Form, seen.Binding, seen.Engine = dbv1.ConnectionNone, Binding{}, nil
	if p := For(companion, seen); len(p.Operations) != 3 {
		t.Errorf("without a connection: %s, %v", p.message, p.Operations)
	}
}

func TestACompanionIsReadyWhenAllPodsRunTheCurrentSpec(t *testing.T) {
	broken := []state.Member{{Name: "web-1", Problem: "container companion: image pull failed: not found"}}
	for name, c := range map[string]struct {
		status           appsv1.DeploymentStatus
		ready, available bool
		message          string
	}{
		"converged":        {appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2}, true, true, "2 of 2"},
		"not observed yet": {appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2}, false, true, "has not started"},
		"a previous pod":   {appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 3}, false, true, "2 of 2 pods run"},
		"one is down":      {appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 1}, false, true, "Pod web-1: container"},
		"all are down":     {appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2}, false, false, "image pull failed"},
	} {
		companion, seen := shop()
		seen = standing(t, companion, withEngine(seen))
		seen.Deployment.Status, seen.Pods = c.status, broken
		p := For(companion, seen)
		if p.ready != c.ready || p.available != c.available || !strings.Contains(p.message, c.message) {
			t.Errorf("%s: %+v", name, p.verdict)
		}
	}
}

func TestTheCertificateOfACompanionFollowsTheCA(t *testing.T) {
	authority, err := pki.NewAuthority("orders", plans.Now)
	if err != nil {
		t.Fatal(err)
	}
	next, err := authority.Renew(plans.Now)
	if err != nil {
		t.Fatal(err)
	}
	companion, _ := pooler()
	secret := func(a pki.Authority, hosts []string) state.Certificate {
		files, err := a.Issue(hosts, plans.Now)
		if err != nil {
			t.Fatal(err)
		}
		return state.Certificate{Name: "pool-companion-tls", UID: "s", CertificateFacts: pki.Judge(files, Hosts(companion), plans.Now)}
	}
	ca := func(a pki.Authority) state.Certificate {
		return state.Certificate{Name: "orders-ca", UID: "ca", CertificateFacts: pki.AuthorityFacts(a.Files())}
	}
	for name, c := range map[string]struct {
		certificate, authority state.Certificate
		at                     time.Duration
		why                    string
	}{
		"none yet":             {state.Certificate{}, ca(authority), 0, "the companion has none"},
		"it is valid":          {secret(authority, Hosts(companion)), ca(authority), 0, ""},
		"another CA":           {secret(authority, Hosts(companion)), ca(next), 0, "the CA has changed"},
		"the names of another": {secret(authority, []string{"other"}), ca(authority), 0, "the Secret "},
		"two thirds are over":  {secret(authority, Hosts(companion)), ca(authority), pki.LeafLife * 2 / 3, "two thirds"},
	} {
		companion, seen := pooler()
		seen.Cluster.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
		seen = withEngine(seen)
		seen.Certificate, seen.Authority, seen.At = c.certificate, c.authority, plans.Now.Add(c.at)
		if why := due(companion, seen); (why == "") != (c.why == "") || !strings.HasPrefix(why, c.why) {
			t.Errorf("%s: %q", name, why)
		}
		if p := For(companion, seen); name == "none yet" && (len(p.Operations) != 1 || p.reason != dbv1.ReasonObjectPending) {
			t.Errorf("%s: pods without a certificate: %v", name, p.Operations)
		}
	}
}

func TestADeletionReportsNothingThatWasNotRead(t *testing.T) {
	c, seen := shop()
	seen = standing(t, c, withEngine(seen))
	c.Status = StatusOf(c, seen, For(c, seen), nil, metav1.NewTime(plans.Now))
	c.DeletionTimestamp, c.Generation = &metav1.Time{}, 2
	status := StatusOf(c, CompanionFacts{}, For(c, CompanionFacts{}), nil, metav1.NewTime(plans.Now))
	ready := meta.FindStatusCondition(status.Conditions, dbv1.ConditionReady)
	if status.ReadyReplicas != 2 || !meta.IsStatusConditionTrue(status.Conditions, dbv1.ConditionAvailable) || status.ObservedGeneration != 2 ||
		ready.Status != metav1.ConditionFalse || ready.Reason != dbv1.ReasonDeleting {
		t.Errorf("got %+v", status)
	}
}
