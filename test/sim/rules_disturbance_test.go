/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

const (
	// strict is a value with which a database of one member would accept no write, so its engine refuses it.
	strict = "strict"
	// electing is how long the members may need until one of them is the primary.
	electing = 2 * lockRounds * time.Second
)

// actions are the components of the Jobs that disturb members.
var actions = []string{dbv1.ComponentHandOver, dbv1.ComponentMemberRemove, dbv1.ComponentConfigure}

// watchActions: one action at a time disturbs the members of a cluster that is not being deleted.
func (w *world) watchActions(c change) {
	cluster, starts := w.cluster(), ""
	if job, is := c.after.(*batchv1.Job); is && c.before == nil && slices.Contains(actions, job.Labels[dbv1.LabelComponent]) {
		starts = job.Name
	}
	if cluster == nil || cluster.DeletionTimestamp != nil || starts == "" && len(w.disturbed(c)) == 0 {
		return
	}
	for _, job := range all[*batchv1.Job](w.store) {
		other := slices.Contains(actions, job.Labels[dbv1.LabelComponent]) && job.Name != starts && job.Labels[dbv1.LabelClusterUID] == string(cluster.UID)
		if other && !jobEnded(job) && !w.isLost(job) {
			w.breaks("%s changes, although Job %s disturbs the members", ref(c.object()), job.Name)
		}
	}
}

// isLost reports whether a Job should have ended, but a node that does not respond keeps its pod.
func (w *world) isLost(job *batchv1.Job) bool {
	ends := jobIs(job, batchv1.JobFailureTarget) || job.DeletionTimestamp != nil
	return ends && slices.ContainsFunc(w.podsOfJob(job), func(pod *corev1.Pod) bool { return w.disk.lost[pod.Name] })
}

// watchPrimary records since when there is no primary.
func (w *world) watchPrimary() {
	switch on := &w.disk.shared; {
	case w.primary() != nil:
		on.without = time.Time{}
	case on.without.IsZero():
		on.without = w.clock.Now()
	}
}

// withoutPrimary is how long the database has had no primary.
func (w *world) withoutPrimary() time.Duration {
	if w.disk.shared.without.IsZero() {
		return 0
	}
	return w.clock.Now().Sub(w.disk.shared.without)
}

// watchElection: the operator removes no member without a primary, no primary, and none before the database has accepted the number of
// members. Members that had time to elect a primary may hibernate.
func (w *world) watchElection(before, after *appsv1.StatefulSet) {
	cluster := w.cluster()
	if *after.Spec.Replicas >= *before.Spec.Replicas || cluster.DeletionTimestamp != nil || w.disk.shared.topology != dbv1.TopologyPrimaryReplica {
		return
	}
	first, end := ordinalsOf(before)
	if start, _ := ordinalsOf(after); start <= first {
		first = end - 1
	}
	member, primary := naming.Member(w.name, int32(first)), w.seenPrimary()
	switch {
	case primary == nil && !(cluster.Spec.Hibernated && (*before.Spec.Replicas == 1 || w.withoutPrimary() >= electing)):
		w.breaks("pod %s stops while there is no primary", member)
	case cluster.Spec.Hibernated:
	case primary.Name == member:
		w.breaks("the primary %s is removed", member)
	case cluster.Spec.Engine == tuneEngine && w.disk.shared.tunedFor != fmt.Sprint(cluster.Spec.Replicas):
		w.breaks("pod %s is removed before the database has accepted %d members", member, cluster.Spec.Replicas)
	}
}
