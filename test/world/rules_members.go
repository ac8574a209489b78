/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchRoles checks every write against the rules for members that have one database.
func (w *World) watchRoles(c store.Change) {
	if w.disk.shared.topology == "" {
		return
	}
	if pods := w.readyPrimaries(); len(pods) > 1 && w.disk.shared.divided == "" {
		w.Breaks("pods %s are primaries at the same time", strings.Join(pods, " and "))
	}
	if w.by != operator {
		return
	}
	if job, is := c.After.(*batchv1.Job); is && c.Before == nil {
		w.watchSource(job)
		if job.Labels[dbv1.LabelComponent] == dbv1.ComponentMemberRemove {
			w.watchRemoval(memberIn(&corev1.Pod{Spec: job.Spec.Template.Spec}))
		}
	}
	if w.isAgreement(c.Object()) && c.After == nil {
		w.watchAgreementEnd(c.Before)
	}
	w.watchActions(c)
	stopped := w.disturbed(c)
	for i, pod := range stopped {
		w.watchDisturbance(pod)
		if i > 0 {
			w.Breaks("pods %s and %s stop at the same time", stopped[i-1].Name, pod.Name)
		}
	}
	if set, is := c.After.(*appsv1.StatefulSet); is {
		before, existed := c.Before.(*appsv1.StatefulSet)
		if existed {
			w.watchShrink(before, set)
			w.watchElection(before, set)
		}
		w.watchJoin(before, set)
	}
	if claim, is := c.After.(*corev1.PersistentVolumeClaim); is {
		w.watchList(claim)
	}
}

// readyPrimaries are the ready pods that report that they are the primary.
func (w *World) readyPrimaries() []string {
	var names []string
	for _, o := range w.Store.Sorted() {
		if pod, is := o.(*corev1.Pod); is && IsMember(pod) && pod.Labels[RoleLabel] == PrimaryRole && IsReady(pod) &&
			pod.DeletionTimestamp == nil && !w.isUnnoticed(pod) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// watchAgreementEnd: members keep their agreement as long as they run, and as long as one of them has a volume with its data. Before they
// get other volumes, claim 0 has recorded the last primary instead.
func (w *World) watchAgreementEnd(agreement client.Object) {
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if IsMember(pod) && Runs(pod) {
			w.Breaks("the agreement is deleted while pod %s runs", pod.Name)
		}
	}
	if first := w.Claim(0); w.switches() && first != nil && first.Annotations[dbv1.AnnotationPrimary] != "" &&
		first.Annotations[dbv1.AnnotationPrimaryTerm] == "" {
		return
	}
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		data := w.disk.volumes[claim.UID].data
		if data != "" && data == agreement.GetAnnotations()[InitializedKey] && claim.DeletionTimestamp == nil {
			w.Breaks("the agreement is deleted, but claim %s with its data is retained", claim.Name)
		}
	}
}

// disturbed returns the running members that the operator stops by a change, as they were before.
func (w *World) disturbed(c store.Change) []*corev1.Pod {
	switch before := c.Before.(type) {
	case *corev1.Pod:
		after, kept := c.After.(*corev1.Pod)
		if IsMember(before) && before.DeletionTimestamp == nil && (!kept || after.DeletionTimestamp != nil) {
			return []*corev1.Pod{before}
		}
	case *appsv1.StatefulSet:
		after, kept := c.After.(*appsv1.StatefulSet)
		if !kept {
			return nil
		}
		return slices.DeleteFunc(podsOf(w.Store, before), func(pod *corev1.Pod) bool {
			return keeps(after, pod) || !keeps(before, pod) || pod.DeletionTimestamp != nil
		})
	}
	return nil
}

// watchDisturbance: the operator disturbs no member of a cluster with two primaries, no primary before a hand-over, and at most a
// minority. If all stop, the primary is the last one.
func (w *World) watchDisturbance(pod *corev1.Pod) {
	cluster := w.Cluster()
	deleting := cluster.DeletionTimestamp != nil
	primaries := w.readyPrimaries()
	if pod.Labels[RoleLabel] == PrimaryRole && IsReady(pod) && !slices.Contains(primaries, pod.Name) {
		primaries = append(primaries, pod.Name)
	}
	if !deleting && len(primaries) > 1 {
		w.Breaks("pod %s is disturbed, although there are two primaries", pod.Name)
	}
	seen := w.seenPrimary()
	leads := w.holder() == pod.Name && IsReady(pod) && w.acts(pod) && (seen == nil || seen.Name == pod.Name)
	unknown := store.Get[*dbv1.DatabaseEngine](w.Store, cluster.Spec.Engine) == nil // only the last recorded primary is known
	switch stops := deleting || w.stops(); {
	case leads && unknown:
	case leads && len(w.others(pod)) > 0 && stops:
		w.Breaks("the primary %s stops before the others", pod.Name)
	case leads && len(w.others(pod)) > 0:
		w.Breaks("the primary %s is disturbed before a hand-over", pod.Name)
	case w.passesTo() != "":
		w.Breaks("pod %s is disturbed during a hand-over", pod.Name)
	}
	if !deleting && !w.stops() && IsReady(pod) {
		w.watchMajority(pod)
	}
}

// others are the other members that run, ready or not.
func (w *World) others(pod *corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(w.databases(), func(other *corev1.Pod) bool { return other.Name == pod.Name })
}

// watchMajority: more than half of the members serve without one that the operator disturbs. If that one stops for good, only those that
// stay count. Of voters, those that are listed count.
func (w *World) watchMajority(pod *corev1.Pod) {
	members := int(*store.Get[*appsv1.StatefulSet](w.Store, w.Name).Spec.Replicas)
	serving := slices.DeleteFunc(w.serving(), func(other *corev1.Pod) bool { return other.Name == pod.Name })
	if stay := int(w.Cluster().Spec.Replicas); ordinalOf(pod) >= stay {
		members = stay
		serving = slices.DeleteFunc(serving, func(other *corev1.Pod) bool { return ordinalOf(other) >= stay })
	}
	if down := members - len(serving); down > max(1, (members-1)/2) {
		w.Breaks("pod %s is disturbed: then %d of %d members are down", pod.Name, down, members)
	}
	_, on := w.on(pod)
	voters := len(w.disk.shared.voters[on.data])
	left := slices.DeleteFunc(w.seenPresent(on.data), func(other *corev1.Pod) bool { return other.Name == pod.Name })
	if w.isVoter(pod) && voters > 1 && len(left) == voters/2 {
		w.Breaks("pod %s is disturbed: then %d of %d voters are left", pod.Name, len(left), voters)
	}
}

// watchRebuild: the operator deletes a member's volume on request, while the others have its data and serve without it. It returns
// false for another deletion.
func (w *World) watchRebuild(claim *corev1.PersistentVolumeClaim) bool {
	cluster := w.Cluster()
	pod := strings.TrimPrefix(claim.Name, "data-")
	request := cluster.Annotations[dbv1.AnnotationRebuild]
	if w.disk.shared.topology == "" || cluster.DeletionTimestamp != nil || request != pod {
		return false
	}
	if !slices.ContainsFunc(cluster.Status.Requests, func(r dbv1.ClusterRequestStatus) bool {
		return r.Type == dbv1.RequestRebuild && r.Request == request && r.State == dbv1.RequestAccepted && r.ClaimUID == string(claim.UID)
	}) {
		w.Breaks("claim %s is deleted, but the records are %v", claim.Name, cluster.Status.Requests)
	}
	w.executes(dbv1.RequestRebuild, claim.UID)
	data, voters := w.listWith(claim, pod)
	others := slices.DeleteFunc(w.seenPresent(data), func(other *corev1.Pod) bool { return other.Name == pod })
	switch primary := w.seenPrimary(); {
	case w.disk.shared.topology == dbv1.TopologyConsensus && len(others) <= voters/2,
		w.disk.shared.topology == dbv1.TopologyPrimaryReplica && (primary == nil || primary.Name == pod):
		w.Breaks("claim %s is deleted, but the other members do not serve without it", claim.Name)
	}
	return true
}

// watchRemoval: the other voters have a majority without the member that the operator removes.
func (w *World) watchRemoval(member string) {
	for data, voters := range w.lists() {
		if _, listed := voters[member]; !listed {
			continue
		}
		others := slices.DeleteFunc(w.seenPresent(data), func(pod *corev1.Pod) bool { return pod.Name == member || !IsReady(pod) })
		if len(others) <= (len(voters)-1)/2 {
			w.Breaks("pod %s is removed from the voters: then %d of %d respond", member, len(others), len(voters)-1)
		}
	}
}

// watchShrink: a member leaves the voters before it stops for good.
func (w *World) watchShrink(before, after *appsv1.StatefulSet) {
	cluster := w.Cluster()
	if *after.Spec.Replicas >= *before.Spec.Replicas || w.stops() || cluster.DeletionTimestamp != nil {
		return
	}
	member := naming.Member(w.Name, *after.Spec.Replicas)
	for _, voters := range w.lists() {
		if _, listed := voters[member]; listed {
			w.Breaks("pod %s stops for good, but is a voter", member)
		}
	}
}

// watchStart: no member starts while an agreement of another cluster exists.
func (w *World) watchStart(pod *corev1.Pod) {
	uid := pod.Labels[dbv1.LabelClusterUID]
	if agreement := w.agreement(); agreement != nil && agreement.Labels[dbv1.LabelClusterUID] != uid {
		w.Breaks("pod %s starts with the agreement of another cluster", pod.Name)
	}
}

// watchInitialize: the first data are created once, before the cluster has members.
func (w *World) watchInitialize(claim *corev1.PersistentVolumeClaim) {
	if w.disk.shared.ran[claim.Labels[dbv1.LabelClusterUID]] {
		w.Breaks("first data are created in claim %s, but the cluster already had members", claim.Name)
	}
	for _, other := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		if w.IsMemberClaim(other) && w.disk.volumes[other.UID].served {
			w.Breaks("first data are created in claim %s, but claim %s has data", claim.Name, other.Name)
		}
	}
}

// rightsLeft are the rights and agreements of members that exist.
func (w *World) rightsLeft() []string {
	var left []string
	for _, o := range w.Store.Sorted() {
		switch o.(type) {
		case *corev1.ServiceAccount, *rbacv1.Role, *rbacv1.RoleBinding:
			left = append(left, store.Ref(o))
		case *corev1.ConfigMap:
			if w.isAgreement(o) && len(store.All[*corev1.PersistentVolumeClaim](w.Store)) == 0 {
				left = append(left, store.Ref(o))
			}
		}
	}
	return left
}

// serves reports a database that clients cannot use in steady state, or members that never stopped waiting.
func (w *World) serves() error {
	cluster := w.Cluster()
	on := w.disk.shared
	switch {
	case on.topology == "":
		return nil
	case cluster == nil:
		if left := w.rightsLeft(); len(left) > 0 {
			return fmt.Errorf("%s stay after the cluster", strings.Join(left, ", "))
		}
		return nil
	case cluster.DeletionTimestamp != nil || w.stops():
		return nil
	case len(w.databases()) < int(cluster.Spec.Replicas):
		return fmt.Errorf("%d of %d members run", len(w.databases()), cluster.Spec.Replicas)
	case on.topology == dbv1.TopologyPrimaryReplica && w.primary() == nil:
		return errors.New("there is no primary")
	case on.edited:
		return errors.New("the members use the configuration of another client")
	case cluster.Spec.Engine == TuneEngine && store.Get[*corev1.ConfigMap](w.Store, naming.State(w.Name, KeptName)) == nil:
		return errors.New("the members have no place for their configuration")
	}
	for _, pod := range w.databases() {
		if !IsReady(pod) {
			return fmt.Errorf("pod %s is not ready", pod.Name)
		}
	}
	return w.absentVoters()
}
