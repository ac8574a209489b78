/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

const (
	// Strict is a value with which a database of one member would accept no write, so its engine refuses it.
	Strict = "strict"
	// electing is how long the members may need until one of them is the primary.
	electing = 2 * LockRounds * time.Second
)

// DisturbingJobs are the components of the Jobs that disturb members.
var DisturbingJobs = []string{dbv1.ComponentHandOver, dbv1.ComponentMemberRemove, dbv1.ComponentConfigure}

// watchActions: one action at a time disturbs the members of a cluster that is not being deleted.
func (w *World) watchActions(c store.Change) {
	cluster, starts := w.Cluster(), ""
	if job, is := c.After.(*batchv1.Job); is && c.Before == nil && slices.Contains(DisturbingJobs, job.Labels[dbv1.LabelComponent]) {
		starts = job.Name
	}
	if cluster == nil || cluster.DeletionTimestamp != nil || starts == "" && len(w.disturbed(c)) == 0 {
		return
	}
	for _, job := range store.All[*batchv1.Job](w.Store) {
		other := slices.Contains(DisturbingJobs, job.Labels[dbv1.LabelComponent]) && job.Name != starts &&
			job.Labels[dbv1.LabelClusterUID] == string(cluster.UID)
		if other && !jobEnded(job) && !w.isLost(job) {
			w.Breaks("%s changes, although Job %s disturbs the members", store.Ref(c.Object()), job.Name)
		}
	}
}

// isLost reports whether a Job should have ended, but a node that does not respond keeps its pod.
func (w *World) isLost(job *batchv1.Job) bool {
	ends := JobIs(job, batchv1.JobFailureTarget) || job.DeletionTimestamp != nil
	return ends && slices.ContainsFunc(w.podsOfJob(job), func(pod *corev1.Pod) bool { return w.disk.lost[pod.Name] })
}

// watchPrimary records since when there is no primary.
func (w *World) watchPrimary() {
	switch on := &w.disk.shared; {
	case w.primary() != nil:
		on.without = time.Time{}
	case on.without.IsZero():
		on.without = w.Clock.Now()
	}
}

// withoutPrimary is how long the database has had no primary.
func (w *World) withoutPrimary() time.Duration {
	if w.disk.shared.without.IsZero() {
		return 0
	}
	return w.Clock.Now().Sub(w.disk.shared.without)
}

// watchElection: the operator removes no member without a primary, no primary, and none before the database has accepted the number of
// members. Members that had time to elect a primary may hibernate.
func (w *World) watchElection(before, after *appsv1.StatefulSet) {
	cluster := w.Cluster()
	if *after.Spec.Replicas >= *before.Spec.Replicas || cluster.DeletionTimestamp != nil ||
		w.disk.shared.topology != dbv1.TopologyPrimaryReplica {
		return
	}
	first, end := ordinalsOf(before)
	if start, _ := ordinalsOf(after); start <= first {
		first = end - 1
	}
	member, primary := naming.Member(w.Name, int32(first)), w.seenPrimary()
	switch {
	case primary == nil && !(w.stops() && (*before.Spec.Replicas == 1 || w.withoutPrimary() >= electing)):
		w.Breaks("pod %s stops while there is no primary", member)
	case w.stops():
	case primary.Name == member:
		w.Breaks("the primary %s is removed", member)
	case cluster.Spec.Engine == TuneEngine && w.disk.shared.tunedFor != fmt.Sprint(cluster.Spec.Replicas):
		w.Breaks("pod %s is removed before the database has accepted %d members", member, cluster.Spec.Replicas)
	}
}
