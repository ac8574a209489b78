/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// recordSequences test that records outlive what the operator or a user creates again.
var recordSequences = []world.Story{
	world.Tell("pair-rebuild-and-grow",
		createPair(world.PairEngine), rebuild("orders-2"), grow("2Gi"), deleteStatefulSet(metav1.DeletePropagationBackground),
	),
	world.Tell("pair-rebuild-and-grow-at-once", createPair(world.PairEngine), soon(1, rebuild("orders-2")), grow("2Gi")),
	world.Tell("pair-hand-over-and-grow",
		createPair(world.SyncEngine), handOverTo("orders-2"), world.Leads("orders-2"), world.Freeze("orders-2"), world.Thaw("orders-2"), world.LeadsNot("orders-2"), grow("2Gi"), world.LeadsNot("orders-2"),
		deleteStatefulSet(metav1.DeletePropagationOrphan), scale(4), world.LeadsNot("orders-2"),
	),
	world.Tell("pair-hand-over-again",
		createPair(world.PairEngine), handOverTo("orders-1"), soon(4, world.Switched("orders-0")), soon(3, handOverTo("")), handOverTo("orders-1"), world.Leads("orders-1"),
	),
	world.Tell("pair-hand-over-to-another-before-a-rollout",
		createPair(world.SyncEngine), soon(2, handOverTo("orders-2")), soon(3, world.Freeze("orders-2")), image("database:2"), world.Leads("orders-0"),
	),
	world.Tell("pair-hand-over-that-did-not-apply",
		createPair(world.PairEngine), soon(2, handOverTo("orders-1")), together(world.Away(true), world.Switched("orders-2")), world.Switched("orders-0"), world.Away(false), world.Leads("orders-1"),
	),
	world.Tell("pair-configuration-deleted",
		createPair(world.TuneEngine), parameter("2"), deleteAgreement(world.KeptName), world.ByHand(), world.Uses(`{"work_mem":"2"}`), parameter("3"), world.Uses(`{"work_mem":"3"}`),
	),
	world.Tell("pair-agreement-deleted", createPair(world.TuneEngine), deleteAgreement(world.AgreementName), handOverTo("orders-1"), world.Leads("orders-1")),
	world.Tell("pair-created-with-requests",
		told(createPair(world.PairEngine, requesting(dbv1.AnnotationRebuild, "orders-1"), requesting(dbv1.AnnotationHandOver, "orders-2"))), world.Leads("orders-0"),
	),
	world.Tell("pair-requests-that-cannot-be-executed",
		createPair(world.PairEngine), handOverTo("orders-7"), rebuild("orders-7"), annotate("new passwords are asked for", dbv1.AnnotationRotateCredentials),
		world.Leads("orders-0"),
	),
	world.Tell("pair-requests-while-paused",
		createPair(world.PairEngine), pause(true), handOverTo("orders-2"), annotate("a restart is asked for", dbv1.AnnotationRestart), refresh(), pause(false),
		world.LeadsNot("orders-0"),
	),
	world.Tell("pair-rebuild-protected", createPair(world.PairEngine, protectedClaims), rebuild("orders-2"), image("database:2")),
	world.Tell("pair-parameters-and-grow", createPair(world.TuneEngine), parameter("2"), grow("2Gi"), world.Uses(`{"work_mem":"2"}`)),
	world.Tell("pair-fewer-without-the-first-claim",
		createPair(world.PairEngine), hibernate(true), loseClaim("data-orders-0"), scale(1), hibernate(false),
	),
	world.Tell("pair-configure-blocked",
		createPair(world.TuneEngine), pauseRollout(true), affinity("affinity asks for a node that does not exist", nowhere()), parameter("2"),
		affinity("affinity is taken back", nil), pauseRollout(false), world.Uses(`{"work_mem":"2"}`),
	),
}

func init() { maps.Copy(dataMutants, recordMutants) }

func protectedClaims(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true }

func requesting(key, pod string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, pod) }
}

// recordMutants are mistakes about records.
var recordMutants = map[string]mutant{
	"a request that was executed is forgotten": {
		forgetting(dbv1.RequestCompleted), "pair-rebuild", "request 1 of type Rebuild is executed again",
	},
	"the requests of a cluster that is created again are executed": {
		forgetting(dbv1.RequestRefused), "pair-created-with-requests", "is executed again",
	},
	"a configuration counts as in force before its action has run": {
		recording(`"state":"Applying"`, `"state":"InForce"`), "pair-parameters-and-grow", "is in force, but",
	},
	"a restart counts as executed before the members have restarted": {
		recording(`"state":"Accepted"`, `"state":"Completed"`), "restart", `restart "now" is completed, but pod orders-`,
	},
	"a hand-over counts as executed before its action has run": {
		recording(`"state":"Accepted"`, `"state":"Completed"`), "pair-hand-over", "request 1 of type HandOver is completed, but was not executed",
	},
}

// recording is an operator that records a state as another one.
func recording(state, as string) interceptor.Funcs {
	return interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		text, err := patch.Data(object)
		world.Must(err)
		text = bytes.ReplaceAll(text, []byte(state), []byte(as))
		return c.SubResource(sub).Patch(ctx, object, client.RawPatch(patch.Type(), text), options...)
	}}
}

// forgetting is an operator that reads no requests in a state.
func forgetting(state dbv1.ClusterRequestState) interceptor.Funcs {
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		if cluster, is := object.(*dbv1.DatabaseCluster); is && err == nil {
			cluster.Status.Requests = slices.DeleteFunc(cluster.Status.Requests, func(r dbv1.ClusterRequestStatus) bool { return r.State == state })
		}
		return err
	}}
}

// takenBack are changes that a user takes back after any number of rounds.
var takenBack = map[string]func(rounds int) []world.Step{
	"work_mem 2, 3, 2": func(rounds int) []world.Step {
		return []world.Step{createPair(world.TuneEngine), parameter("2"), soon(rounds, parameter("3")), parameter("2"), world.Uses(`{"work_mem":"2"}`)}
	},
	"replicas 3, 1, 3": func(rounds int) []world.Step {
		return []world.Step{createPair(world.TuneEngine), soon(rounds, scale(1)), scale(3)}
	},
	"hand-over to 1, 2, 1": func(rounds int) []world.Step {
		return []world.Step{createPair(world.PairEngine), handOverTo("orders-1"), soon(rounds, handOverTo("orders-2")), handOverTo("orders-1"), world.Leads("orders-1")}
	},
	"voters 5, 3, 5": func(rounds int) []world.Step {
		return []world.Step{createVoters(), scale(5), soon(rounds, scale(3)), scale(5)}
	},
	"voters 5, 1, 5, 3": func(rounds int) []world.Step {
		return []world.Step{createVoters(), scale(5), soon(rounds, scale(1)), soon(21-rounds, scale(5)), scale(3)}
	},
	"replicas 5, 2, 4, 3, and the primary is the last member": func(rounds int) []world.Step {
		return []world.Step{
			createPair(world.SyncEngine), scale(5), handOverTo("orders-4"), soon(rounds, scale(2)), soon(21-rounds, scale(4)), scale(3), world.LeadsNot("orders-4"),
		}
	},
	"replicas 5, 2, 4, 2, and a member is down": func(rounds int) []world.Step {
		return []world.Step{
			createPair(world.PairEngine), scale(5), world.Freeze("orders-1"), soon(rounds, scale(2)), soon(3, scale(4)), soon(rounds, scale(2)), world.Thaw("orders-1"),
		}
	},
}

func TestAChangeThatIsTakenBackEndsAsIfItHadNotBeen(t *testing.T) {
	for what, steps := range takenBack {
		for rounds := 1; rounds <= 20; rounds++ {
			t.Run(fmt.Sprintf("%s after %d rounds", what, rounds), func(t *testing.T) {
				t.Parallel()
				p := newPlay(world.Tell(what, steps(rounds)...), 0)
				if err := p.ToTheEnd(); err != nil {
					t.Errorf("%v:\n%s", err, p.Text())
				}
			})
		}
	}
}

func TestNoActionIsRepeatedBecauseTheClocksDiffer(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, -2 * time.Minute, 2 * time.Minute, time.Hour} {
		for what, steps := range map[string][]world.Step{
			"a configuration": {createPair(world.TuneEngine), parameter("2"), world.Uses(`{"work_mem":"2"}`)},
			"a hand-over":     {createPair(world.PairEngine), handOverTo("orders-1"), world.Leads("orders-1")},
			"a removal":       {createVoters(), scale(5), scale(3)},
		} {
			t.Run(fmt.Sprintf("%s, and the clock is off by %v", what, skew), func(t *testing.T) {
				t.Parallel()
				p := newPlay(world.Tell(what, steps...), 0)
				p.Skew = skew
				if err := p.ToTheEnd(); err != nil {
					t.Errorf("%v:\n%s", err, p.Text())
				}
			})
		}
	}
}

func TestTheLastJobOfEachKindStays(t *testing.T) {
	p := newPlay(world.Tell("jobs", createPair(world.TuneEngine), parameter("2"), parameter("3"), parameter("4"), handOverTo("orders-1"), handOverTo("orders-2")), 0)
	if err := p.ToTheEnd(); err != nil {
		t.Fatalf("%v:\n%s", err, p.Text())
	}
	kinds := map[string]int{}
	for _, pod := range store.All[*corev1.Pod](p.Store) {
		if component := pod.Labels[dbv1.LabelComponent]; slices.Contains(world.DisturbingJobs, component) {
			kinds[component]++
		}
	}
	if want := map[string]int{dbv1.ComponentConfigure: 1, dbv1.ComponentHandOver: 1}; !maps.Equal(kinds, want) {
		t.Errorf("pods of ended Jobs by kind: %v, want %v", kinds, want)
	}
}
