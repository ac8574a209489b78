/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// recordSequences test that records outlive what the operator or a user creates again.
var recordSequences = []sequence{
	{"pair-rebuild-and-grow", []step{
		createPair(pairEngine), rebuild("orders-2"), grow("2Gi"), deleteStatefulSet(metav1.DeletePropagationBackground),
	}},
	{"pair-rebuild-and-grow-at-once", []step{createPair(pairEngine), soon(1, rebuild("orders-2")), grow("2Gi")}},
	{"pair-hand-over-and-grow", []step{
		createPair(syncEngine), handOverTo("orders-2"), leads("orders-2"), freeze("orders-2"), thaw("orders-2"), leadsNot("orders-2"), grow("2Gi"), leadsNot("orders-2"),
		deleteStatefulSet(metav1.DeletePropagationOrphan), scale(4), leadsNot("orders-2"),
	}},
	{"pair-hand-over-again", []step{
		createPair(pairEngine), handOverTo("orders-1"), soon(4, switched("orders-0")), soon(3, handOverTo("")), handOverTo("orders-1"), leads("orders-1"),
	}},
	{"pair-hand-over-to-another-before-a-rollout", []step{
		createPair(syncEngine), soon(2, handOverTo("orders-2")), soon(3, freeze("orders-2")), image("database:2"), leads("orders-0"),
	}},
	{"pair-hand-over-that-did-not-apply", []step{
		createPair(pairEngine), soon(2, handOverTo("orders-1")), together(away(true), switched("orders-2")), switched("orders-0"), away(false), leads("orders-1"),
	}},
	{"pair-configuration-deleted", []step{
		createPair(tuneEngine), parameter("2"), deleteAgreement(keptName), byHand(), uses(`{"work_mem":"2"}`), parameter("3"), uses(`{"work_mem":"3"}`),
	}},
	{"pair-agreement-deleted", []step{createPair(tuneEngine), deleteAgreement(agreementName), handOverTo("orders-1"), leads("orders-1")}},
	{"pair-created-with-requests", []step{
		told(createPair(pairEngine, requesting(dbv1.AnnotationRebuild, "orders-1"), requesting(dbv1.AnnotationHandOver, "orders-2"))), leads("orders-0"),
	}},
	{"pair-rebuild-protected", []step{createPair(pairEngine, protectedClaims), rebuild("orders-2"), image("database:2")}},
	{"pair-parameters-and-grow", []step{createPair(tuneEngine), parameter("2"), grow("2Gi"), uses(`{"work_mem":"2"}`)}},
	{"pair-fewer-without-the-first-claim", []step{
		createPair(pairEngine), hibernate(true), loseClaim("data-orders-0"), scale(1), hibernate(false),
	}},
	{"pair-configure-blocked", []step{
		createPair(tuneEngine), pauseRollout(true), affinity("affinity asks for a node that does not exist", nowhere()), parameter("2"),
		affinity("affinity is taken back", nil), pauseRollout(false), uses(`{"work_mem":"2"}`),
	}},
}

func init() { maps.Copy(dataMutants, recordMutants) }

func protectedClaims(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true }

func requesting(key, pod string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, pod) }
}

// watchRequests counts the requests of the user. One that a cluster is created with may be old, so it counts as executed.
func (w *world) watchRequests(c change) {
	after, is := c.after.(*dbv1.DatabaseCluster)
	if !is {
		return
	}
	before, existed := c.before.(*dbv1.DatabaseCluster)
	for kind, key := range map[dbv1.ClusterRequestType]string{dbv1.RequestRebuild: dbv1.AnnotationRebuild, dbv1.RequestHandOver: dbv1.AnnotationHandOver} {
		value, on := after.Annotations[key], &w.disk.shared
		switch {
		case value == "", existed && before.Annotations[key] == value:
		case !existed:
			on.asked[kind], on.executed[kind] = on.asked[kind]+1, "an earlier cluster"
		default:
			on.asked[kind], on.executed[kind] = on.asked[kind]+1, ""
			if kind == dbv1.RequestHandOver {
				on.led = map[string]bool{w.holder(): true}
			}
		}
	}
	w.watchCompleted(after)
}

// watchCompleted: a request for a hand-over is completed after one was executed for it, or after its pod has been the primary.
func (w *world) watchCompleted(cluster *dbv1.DatabaseCluster) {
	on := w.disk.shared
	for _, r := range cluster.Status.Requests {
		completed := r.Type == dbv1.RequestHandOver && r.State == dbv1.RequestCompleted && r.Request == cluster.Annotations[dbv1.AnnotationHandOver]
		if pod, _, _ := strings.Cut(r.Request, "/"); completed && on.executed[r.Type] == "" && !on.led[pod] {
			w.breaks("request %d of type %s is completed, but was not executed", on.asked[r.Type], r.Type)
		}
	}
}

// executes: a request is executed at most once.
func (w *world) executes(kind dbv1.ClusterRequestType, with types.UID) {
	on := &w.disk.shared
	if before := on.executed[kind]; before != "" && before != with {
		w.breaks("request %d of type %s is executed again", on.asked[kind], kind)
	}
	on.executed[kind] = with
}

// watchInForce: a configuration that is in force is the one that the members use.
func (w *world) watchInForce(before, cluster *dbv1.DatabaseCluster) {
	ready := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionReady)
	record := cluster.Status.Configuration
	if w.disk.shared.edited { // the operator has not seen it yet
		w.watchRecorded(before.Status.Configuration, record)
		return
	}
	if cluster.Spec.Engine != tuneEngine || cluster.Spec.Hibernated || ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != cluster.Generation {
		return
	}
	uses, wanted := map[string]string{}, map[string]string{"work_mem": "1"}
	maps.Copy(wanted, cluster.Spec.Parameters)
	if text := w.disk.shared.parameters; text != "" {
		must(json.Unmarshal([]byte(text), &uses))
	}
	if record == nil || record.State != dbv1.ConfigurationInForce {
		w.breaks("Ready although no configuration is in force")
	}
	if uses["work_mem"] != wanted["work_mem"] || w.disk.shared.tunedFor != fmt.Sprint(cluster.Spec.Replicas) {
		w.breaks("%v for %d members is in force, but %s members use %v", wanted, cluster.Spec.Replicas, w.disk.shared.tunedFor, uses)
	}
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
	"a hand-over counts as executed before its action has run": {
		recording(`"state":"Accepted"`, `"state":"Completed"`), "pair-hand-over", "request 1 of type HandOver is completed, but was not executed",
	},
}

// recording is an operator that records a state as another one.
func recording(state, as string) interceptor.Funcs {
	return interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		text, err := patch.Data(object)
		must(err)
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
var takenBack = map[string]func(rounds int) []step{
	"work_mem 2, 3, 2": func(rounds int) []step {
		return []step{createPair(tuneEngine), parameter("2"), soon(rounds, parameter("3")), parameter("2"), uses(`{"work_mem":"2"}`)}
	},
	"replicas 3, 1, 3": func(rounds int) []step {
		return []step{createPair(tuneEngine), soon(rounds, scale(1)), scale(3)}
	},
	"hand-over to 1, 2, 1": func(rounds int) []step {
		return []step{createPair(pairEngine), handOverTo("orders-1"), soon(rounds, handOverTo("orders-2")), handOverTo("orders-1"), leads("orders-1")}
	},
	"voters 5, 3, 5": func(rounds int) []step {
		return []step{createVoters(), scale(5), soon(rounds, scale(3)), scale(5)}
	},
}

func TestAChangeThatIsTakenBackEndsAsIfItHadNotBeen(t *testing.T) {
	for what, steps := range takenBack {
		for rounds := 1; rounds <= 20; rounds++ {
			t.Run(fmt.Sprintf("%s after %d rounds", what, rounds), func(t *testing.T) {
				t.Parallel()
				p := newPlay(sequence{what, steps(rounds)}, 0)
				if err := p.toTheEnd(); err != nil {
					t.Errorf("%v:\n%s", err, p.story.text())
				}
			})
		}
	}
}

func TestNoActionIsRepeatedBecauseTheClocksDiffer(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, -2 * time.Minute, 2 * time.Minute, time.Hour} {
		for what, steps := range map[string][]step{
			"a configuration": {createPair(tuneEngine), parameter("2"), uses(`{"work_mem":"2"}`)},
			"a hand-over":     {createPair(pairEngine), handOverTo("orders-1"), leads("orders-1")},
			"a removal":       {createVoters(), scale(5), scale(3)},
		} {
			t.Run(fmt.Sprintf("%s, and the clock is off by %v", what, skew), func(t *testing.T) {
				t.Parallel()
				p := newPlay(sequence{what, steps}, 0)
				p.skew = skew
				if err := p.toTheEnd(); err != nil {
					t.Errorf("%v:\n%s", err, p.story.text())
				}
			})
		}
	}
}

// skewed is the clock of the operator, which differs from the one of Kubernetes.
type skewed struct{ *world }

// Now returns the time of that clock.
func (s skewed) Now() time.Time { return s.clock.Now().Add(s.skew) }

// Since returns the time since another one of that clock.
func (s skewed) Since(at time.Time) time.Duration { return s.Now().Sub(at) }

func TestTheLastJobOfEachKindStays(t *testing.T) {
	p := newPlay(sequence{"jobs", []step{createPair(tuneEngine), parameter("2"), parameter("3"), parameter("4"), handOverTo("orders-1"), handOverTo("orders-2")}}, 0)
	if err := p.toTheEnd(); err != nil {
		t.Fatalf("%v:\n%s", err, p.story.text())
	}
	kinds := map[string]int{}
	for _, pod := range all[*corev1.Pod](p.store) {
		if component := pod.Labels[dbv1.LabelComponent]; slices.Contains(actions, component) {
			kinds[component]++
		}
	}
	if want := map[string]int{dbv1.ComponentConfigure: 1, dbv1.ComponentHandOver: 1}; !maps.Equal(kinds, want) {
		t.Errorf("pods of ended Jobs by kind: %v, want %v", kinds, want)
	}
}
