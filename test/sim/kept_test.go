/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// keptSequences test the moment at which a configuration counts as in force.
var keptSequences = []sequence{
	{"pair-configuration-by-hand-when-its-job-ends", []step{
		createPair(tuneEngine), soon(jobEnds, parameter("2")), byHand(), uses(`{"work_mem":"2"}`),
	}},
	{"pair-configuration-by-hand-while-its-job-ends", []step{
		createPair(tuneEngine), soon(jobEnds-3, parameter("2")), byHand(), uses(`{"work_mem":"2"}`),
	}},
}

// jobEnds is the number of rounds after a change of a parameter until the pod of the Job has ended, and the Job has not.
const jobEnds = 10

func init() { maps.Copy(dataMutants, keptMutants) }

// stamp records the time of a write of a ConfigMap.
func (s *store) stamp(at id, object client.Object) {
	if _, is := object.(*corev1.ConfigMap); is {
		s.written[at] = s.clock.Now()
	}
}

// showWrite adds the time of the last write to a ConfigMap that a client reads. The actors of a world have no field managers.
func (s *store) showWrite(at id, object client.Object) {
	if config, is := object.(*corev1.ConfigMap); is {
		config.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(metav1.NewTime(s.written[at]))}}
	}
}

// stripped is a cache without managed fields.
type stripped struct{ client.Reader }

// Get reads an object.
func (s stripped) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := s.Reader.Get(ctx, key, object, options...)
	object.SetManagedFields(nil)
	return err
}

// keep writes the configuration that the members keep, and reports whether that changed anything.
func (w *world) keep(parameters string) bool {
	config := get[*corev1.ConfigMap](w.store, naming.State(w.name, keptName))
	if config == nil {
		return false
	}
	metav1.SetMetaDataAnnotation(&config.ObjectMeta, keptKey, parameters)
	return w.store.put(config)
}

// tuning is how long the action configure waits after it has written, before it looks the last time.
const tuning = 6 * time.Second

// tune is the action configure in a pod. It reports whether the action waits: then it repeats its write if another client has written
// meanwhile.
func (w *world) tune(pod *corev1.Pod, parameters, members string) (waits bool) {
	on := &w.disk.shared
	since, wrote := on.tuned[pod.UID]
	if wrote && w.clock.Now().Before(since.Add(tuning)) {
		return true
	}
	on.parameters, on.tunedFor, on.edited = parameters, members, false
	changed := w.keep(parameters)
	if changed || !wrote {
		w.story.add(w.by, fmt.Sprintf("%s members use %s", members, parameters))
	}
	if changed && !wrote {
		on.tuned[pod.UID] = w.clock.Now()
		return true
	}
	delete(on.tuned, pod.UID)
	return false
}

// acknowledge is the moment at which the kubelet has got a pod.
func (w *world) acknowledge(pod *corev1.Pod) {
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = new(metav1.NewTime(w.clock.Now()))
	}
}

// moments are the ages on which it depends whether a configuration is in force.
func (p *play) moments(object client.Object) []time.Duration {
	age := func(at time.Time) time.Duration { return min(time.Minute, p.clock.Now().Sub(at)) }
	pod, is := object.(*corev1.Pod)
	switch {
	case object.GetName() == naming.State(p.name, keptName):
		return []time.Duration{age(p.store.written[id{p.store.resource(object), client.ObjectKeyFromObject(object)}])}
	case !is || pod.Labels[dbv1.LabelComponent] != dbv1.ComponentConfigure:
		return nil
	}
	ages := []time.Duration{age(pod.CreationTimestamp.Time), age(p.disk.shared.tuned[pod.UID])}
	if pod.Status.StartTime != nil {
		ages = append(ages, age(pod.Status.StartTime.Time))
	}
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Terminated != nil {
			ages = append(ages, age(s.State.Terminated.FinishedAt.Time))
		}
	}
	return ages
}

// watchRecorded: a configuration does not become in force when another client has written another one before.
func (w *world) watchRecorded(before, after *dbv1.ClusterConfigurationStatus) {
	if after == nil || after.State != dbv1.ConfigurationInForce || before != nil && before.State == after.State && before.Hash == after.Hash {
		return
	}
	w.breaks("a configuration counts as in force, although another client has changed it")
}

// keptMutants are mistakes about the last write of the configuration.
var keptMutants = map[string]mutant{
	"a write after the end of its Job is not seen": {
		writtenAt(func(time.Time) time.Time { return began }), "pair-configuration-by-hand-when-its-job-ends", "although another client has changed it",
	},
}

// writtenAt is an operator that reads another time of the last write of a ConfigMap.
func writtenAt(as func(time.Time) time.Time) interceptor.Funcs {
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		if config, is := object.(*corev1.ConfigMap); is && err == nil {
			config.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(metav1.NewTime(as(config.ManagedFields[0].Time.Time)))}}
		}
		return err
	}}
}

// A doubt ends after one more Job, whatever the clocks show. Each of the two configurations gets a Job, and in doubt another one.
func TestADoubtAboutAConfigurationEnds(t *testing.T) {
	for what, c := range map[string]struct {
		mistake interceptor.Funcs
		jobs    int
	}{
		"all clocks agree":                                 {interceptor.Funcs{}, 2},
		"the time of a write is unknown":                   {writtenAt(func(time.Time) time.Time { return time.Time{} }), 4},
		"the API servers differ by a minute":               {writtenAt(func(at time.Time) time.Time { return at.Add(time.Minute) }), 4},
		"the API servers differ by a minute, in reverse":   {writtenAt(func(at time.Time) time.Time { return at.Add(-time.Minute) }), 2},
		"the clock of the API server was changed by a day": {writtenAt(func(time.Time) time.Time { return began.AddDate(0, 0, 1) }), 4},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPlay(sequence{what, []step{createPair(tuneEngine), parameter("2"), uses(`{"work_mem":"2"}`)}}, 0)
			p.plant = func(server client.WithWatch) client.WithWatch { return interceptor.NewClient(server, c.mistake) }
			if err := p.toTheEnd(); err != nil {
				t.Errorf("%v:\n%s", err, p.story.text())
			}
			jobs := 0
			for what, number := range p.counts {
				if strings.HasPrefix(what, "create Job orders-configure-") {
					jobs += number
				}
			}
			if jobs != c.jobs {
				t.Errorf("%d Jobs, want %d:\n%s", jobs, c.jobs, p.story.text())
			}
		})
	}
}

// At any moment, another client may change the configuration that an action puts in force.
func TestAConfigurationIsNotInForceIfAnotherClientWroteLast(t *testing.T) {
	for rounds := 1; rounds <= 15; rounds++ {
		t.Run(fmt.Sprintf("after %d rounds", rounds), func(t *testing.T) {
			t.Parallel()
			p := newPlay(sequence{"by hand", []step{createPair(tuneEngine), soon(rounds, parameter("2")), byHand(), uses(`{"work_mem":"2"}`)}}, 0)
			if err := p.toTheEnd(); err != nil {
				t.Errorf("%v:\n%s", err, p.story.text())
			}
		})
	}
}
