/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

type change = func(*dbv1.DatabaseCompanion, *CompanionFacts)

// nothingMissing are obstacles with which the pods could be rendered.
var nothingMissing = map[string]change{
	"the cluster is being deleted": func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Cluster.DeletionTimestamp = &metav1.Time{} },
	"another owner has the disruption name": func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) {
		s.Foreign, s.Budget = []string{"PodDisruptionBudget"}, nil
	},
	"another owner has the Service":      func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Foreign, s.Service = []string{"Service"}, nil },
	"the CA cannot be used for a moment": func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Authority = state.Certificate{} },
}

// somethingMissing are obstacles with which they could not.
var somethingMissing = map[string]change{
	"the cluster no longer exists":         func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Cluster = nil },
	"the engine no longer exists":          func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Engine = nil },
	"the engine has no companions anymore": func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.Engine.Spec.Companions = nil },
	"a parameter is no longer offered": func(c *dbv1.DatabaseCompanion, _ *CompanionFacts) {
		c.Spec.Parameters = map[string]dbv1.CompanionParameter{"size": "3"}
	},
	"the Secret lost its key": func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) { s.CredentialKeys = nil },
	"another owner has the Secret": func(_ *dbv1.DatabaseCompanion, s *CompanionFacts) {
		s.Foreign, s.Certificate = []string{"Secret"}, state.Certificate{}
	},
}

// secured is a pooler with a certificate, whose pods run.
func secured(t *testing.T) (*dbv1.DatabaseCompanion, CompanionFacts) {
	t.Helper()
	authority, err := pki.NewAuthority("orders", plans.Now)
	if err != nil {
		t.Fatal(err)
	}
	companion, seen := pooler()
	files, err := authority.Issue(Hosts(companion), plans.Now)
	if err != nil {
		t.Fatal(err)
	}
	seen.Cluster.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	seen.Authority = state.Certificate{Name: "orders-ca", UID: "ca", CertificateFacts: pki.AuthorityFacts(authority.Files())}
	seen.Certificate = state.Certificate{Name: "pool-companion-tls", UID: "s", CertificateFacts: pki.Judge(files, Hosts(companion), plans.Now)}
	seen = standing(t, companion, withEngine(seen))
	companion.Status.Deployment = objects.Written(nil, seen.Deployment)
	return companion, seen
}

func all(of ...map[string]change) map[string]change {
	both := map[string]change{}
	for _, m := range of {
		maps.Copy(both, m)
	}
	return both
}

func described(p CompanionPlan) string { return operation.Describe(p.Operations) }

func TestAnObstacleKeepsTheTemplateWhileScalingAndRepairsContinue(t *testing.T) {
	for name, hinder := range all(nothingMissing, somethingMissing) {
		companion, seen := secured(t)
		hinder(companion, &seen)
		if p := For(companion, seen); p.ready || !p.available || p.reason == "" || len(p.Operations) > 0 {
			t.Errorf("%s: a converged companion: %+v, %s", name, p.verdict, described(p))
		}
		// The user changes the image and the number of pods. Other clients delete one object, and change another one.
		companion.Spec.Image, companion.Spec.Replicas, seen.Service = "pooler:2", new(int32(5)), nil
		if seen.Budget != nil {
			seen.Budget.Spec.MinAvailable = seen.Budget.Spec.MaxUnavailable
		}
		var want []string
		if !seen.foreign("Service") {
			want = append(want, "create Service pool")
		}
		if !seen.foreign("PodDisruptionBudget") {
			want = append(want, "update PodDisruptionBudget pool (spec)")
		}
		want = append(want, "scale Deployment pool to 5")
		if p := For(companion, seen); described(p) != strings.Join(want, ", ") {
			t.Errorf("%s: %q, want %q", name, described(p), want)
		}
		if *seen.Deployment.Spec.Replicas != 2 {
			t.Errorf("%s: the facts were changed", name)
		}
	}
}

func TestADeletedDeploymentIsRestoredIfItsTemplateIsKnown(t *testing.T) {
	for name, hinder := range all(nothingMissing, somethingMissing) {
		companion, seen := secured(t)
		hinder(companion, &seen)
		seen.Deployment = nil
		want := ""
		if nothingMissing[name] != nil {
			want = "create Deployment pool"
		}
		if p := For(companion, seen); described(p) != want || p.ready || p.RequeueAfter == 0 {
			t.Errorf("%s: %q, want %q", name, described(p), want)
		}
		companion.Status.Deployment, seen.Service, seen.Budget = nil, nil, nil
		if p := For(companion, seen); len(p.Operations) > 0 {
			t.Errorf("%s: a new companion: %s", name, described(p))
		}
	}
}

func TestNothingIsWrittenBesideADeploymentOfAnotherOwner(t *testing.T) {
	companion, seen := secured(t)
	seen.Foreign, seen.Deployment, seen.Service = []string{"Deployment"}, nil, nil
	if p := For(companion, seen); p.reason != dbv1.ReasonNameConflict || len(p.Operations) > 0 {
		t.Errorf("%s: %s", p.message, described(p))
	}
}

func TestACertificateIsRenewedDespiteAnObstacle(t *testing.T) {
	for name, want := range map[string]bool{
		"the cluster is being deleted": true, "another owner has the Service": true, "a parameter is no longer offered": true,
		"the CA cannot be used for a moment": false, "another owner has the Secret": false, "the cluster no longer exists": false,
	} {
		companion, seen := secured(t)
		all(nothingMissing, somethingMissing)[name](companion, &seen)
		seen.At = plans.Now.Add(pki.LeafLife * 2 / 3)
		_, renewed := operation.Find[CertifyCompanion](For(companion, seen).Operations)
		if renewed != want {
			t.Errorf("%s: renewed %v", name, renewed)
		}
	}
}

// The engine was replaced: its companion has another port, and no parameter of the spec.
func TestTheServiceLeadsToThePortOfThePodsThatRun(t *testing.T) {
	companion, seen := secured(t)
	somethingMissing["a parameter is no longer offered"](companion, &seen)
	seen.Engine.Spec.Companions[0].Port = 7000
	if p := For(companion, seen); len(p.Operations) > 0 {
		t.Errorf("the pods listen on another port than that of the engine: %s", described(p))
	}
	companion.Spec.Service.Type = corev1.ServiceTypeNodePort
	if p := For(companion, seen); !strings.HasPrefix(described(p), "update Service pool") || len(p.Operations) != 1 {
		t.Errorf("another type: %s", described(p))
	}
}

// The next generation is recorded, as after a webhook took back a template. A scale would get that generation, and hide it.
func TestADeploymentWhoseRecordIsOfItsNextGenerationIsNotScaled(t *testing.T) {
	companion, seen := secured(t)
	somethingMissing["the engine no longer exists"](companion, &seen)
	companion.Spec.Replicas = new(int32(5))
	metav1.SetMetaDataAnnotation(&seen.Deployment.ObjectMeta, dbv1.AnnotationStoredSpec, objects.Generation(seen.Deployment, 2))
	if p := For(companion, seen); len(p.Operations) > 0 {
		t.Error(described(p))
	}
}

// A scale during an obstacle changes the generation of the Deployment, and nothing that starts a rollout after it.
func TestAfterTheObstacleAScaledDeploymentIsConverged(t *testing.T) {
	companion, seen := secured(t)
	companion.Spec.Replicas = new(int32(5))
	seen.Foreign = []string{"PodDisruptionBudget"}
	change, is := operation.Find[operation.Change](For(companion, seen).Operations)
	if !is {
		t.Fatal("it is not scaled")
	}
	companion.Status = StatusOf(companion, seen, For(companion, seen), nil, metav1.NewTime(plans.Now))
	scaled := change.Patches[0].After
	scaled.SetGeneration(2)
	seen.Foreign = nil
	seen.Deployment.Spec.Replicas, seen.Deployment.Generation = new(int32(5)), scaled.GetGeneration()
	if p := For(companion, seen); len(p.Operations) > 0 {
		t.Error(described(p))
	}
}
