/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// stripped is a cache without managed fields.
type stripped struct{ client.Reader }

// Get reads an object.
func (s stripped) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := s.Reader.Get(ctx, key, object, options...)
	object.SetManagedFields(nil)
	return err
}

// keep writes the configuration that the members keep, and reports whether that changed anything.
func (w *World) keep(parameters string) bool {
	config := store.Get[*corev1.ConfigMap](w.Store, naming.State(w.Name, KeptName))
	if config == nil {
		return false
	}
	metav1.SetMetaDataAnnotation(&config.ObjectMeta, KeptKey, parameters)
	return w.Store.Put(config)
}

// tuning is how long the action configure waits after it has written, before it looks the last time.
const tuning = 6 * time.Second

// tune is the action configure in a pod. It reports whether the action waits: then it repeats its write if another client has written
// meanwhile.
func (w *World) tune(pod *corev1.Pod, parameters, members string) (waits bool) {
	on := &w.disk.shared
	since, wrote := on.tuned[pod.UID]
	if wrote && w.Clock.Now().Before(since.Add(tuning)) {
		return true
	}
	on.parameters, on.tunedFor, on.edited = parameters, members, false
	changed := w.keep(parameters)
	if changed || !wrote {
		w.journal.add(w.by, fmt.Sprintf("%s members use %s", members, parameters))
	}
	if changed && !wrote {
		on.tuned[pod.UID] = w.Clock.Now()
		return true
	}
	delete(on.tuned, pod.UID)
	return false
}

// acknowledge is the moment at which the kubelet has got a pod.
func (w *World) acknowledge(pod *corev1.Pod) {
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = new(metav1.NewTime(w.Clock.Now()))
	}
}

// moments are the ages on which it depends whether a configuration is in force.
func (p *Play) moments(object client.Object) []time.Duration {
	age := func(at time.Time) time.Duration { return min(time.Minute, p.Clock.Now().Sub(at)) }
	pod, is := object.(*corev1.Pod)
	switch {
	case object.GetName() == naming.State(p.Name, KeptName):
		return []time.Duration{age(p.Store.LastWrite(object))}
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
func (w *World) watchRecorded(before, after *dbv1.ClusterConfigurationStatus) {
	if after == nil || after.State != dbv1.ConfigurationInForce || before != nil && before.State == after.State && before.Hash == after.Hash {
		return
	}
	w.Breaks("a configuration counts as in force, although another client has changed it")
}
