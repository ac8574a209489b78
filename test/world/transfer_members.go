/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// performOnMembers runs an action on the members of a database.
func (w *World) performOnMembers(pod *corev1.Pod) exit {
	member := memberIn(pod)
	switch pod.Labels[dbv1.LabelComponent] {
	case dbv1.ComponentHandOver:
		end := w.performHandOver(pod, variableOf(pod, "DBC_MEMBERS"))
		if end.code == 0 && !end.runs && w.isRequested(pod.Labels[batchv1.JobNameLabel]) {
			w.executes(dbv1.RequestHandOver, types.UID(pod.Labels[batchv1.ControllerUidLabel]))
		}
		return end
	case dbv1.ComponentMemberRemove:
		return w.performMemberRemove(member)
	case dbv1.ComponentConfigure:
		return w.performConfigure(pod)
	case dbv1.ComponentProtect:
		return w.protect(variableOf(pod, "DBC_PROTECT"))
	default:
		return done()
	}
}

// isRequested reports whether a Job hands over because the user asks for it now.
func (w *World) isRequested(job string) bool {
	cluster := w.Cluster()
	return cluster != nil && job == naming.HandOverJob(w.Name, "request", cluster.Annotations[dbv1.AnnotationHandOver], string(cluster.UID))
}

func variableOf(pod *corev1.Pod, name string) string {
	for _, v := range pod.Spec.Containers[0].Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// memberIn returns the pod of the member on which an action runs; "" if there is none.
func memberIn(pod *corev1.Pod) string {
	host, _, _ := strings.Cut(variableOf(pod, "DBC_MEMBER"), ".")
	return host
}

// performHandOver passes the lock to a target, or to the replica with the newest data. The primary first sends it all rows, and gives the
// lock up.
func (w *World) performHandOver(pod *corev1.Pod, members string) exit {
	primary, member := w.primary(), memberIn(pod)
	switch on := &w.disk.shared; {
	case on.passedBy == pod.UID && primary != nil:
		return done()
	case on.passedBy == pod.UID && w.Clock.Now().Sub(on.passedAt) < time.Minute:
		return exit{runs: true}
	case on.passedBy == pod.UID:
		return actionFails(protocol.ExitFailed, "no other member became the primary")
	case primary == nil:
		return actionFails(protocol.ExitPrecondition, "there is no primary")
	case !strings.Contains(members, member+"."):
		return actionFails(protocol.ExitFailed, member+" is not in DBC_MEMBERS")
	case primary.Name != member:
		return actionFails(protocol.ExitNotApplicable, member+" is not the primary")
	}
	ready := slices.DeleteFunc(w.followers(primary), func(pod *corev1.Pod) bool { return !IsReady(pod) })
	next := w.newest(ready)
	for _, target := range targetsOf(pod) {
		if i := slices.IndexFunc(ready, func(pod *corev1.Pod) bool { return pod.Name == target }); i >= 0 {
			next = ready[i]
			break
		}
	}
	if next == nil {
		return actionFails(protocol.ExitPrecondition, "no member can take over")
	}
	w.pass(pod, primary, next)
	return exit{runs: true}
}

// performMemberRemove removes a member from the voters by its name. A majority has to agree.
func (w *World) performMemberRemove(member string) exit {
	for data, voters := range w.lists() {
		if _, listed := voters[member]; !listed {
			continue
		}
		if !w.hasMajority(data) {
			return actionFails(protocol.ExitPrecondition, "the others have no majority")
		}
		voters = maps.Clone(voters)
		delete(voters, member)
		w.disk.shared.voters[data] = voters
		if pod := store.Get[*corev1.Pod](w.Store, member); pod != nil {
			w.disk.shared.left[pod.UID] = w.Clock.Now()
		}
		w.journal.add(w.by, fmt.Sprintf("the others remove pod %s from the voters", member))
	}
	return done()
}

// performConfigure finds the primary among the members, and refuses to wait for a replica that does not exist.
func (w *World) performConfigure(pod *corev1.Pod) exit {
	parameters, members := variableOf(pod, "DBC_PARAMETERS"), variableOf(pod, "DBC_REPLICAS")
	switch primary := w.primary(); {
	case primary == nil:
		return actionFails(protocol.ExitPrecondition, "there is no primary")
	case !strings.Contains(variableOf(pod, "DBC_MEMBERS"), primary.Name+"."):
		return actionFails(protocol.ExitFailed, "no member of DBC_MEMBERS is the primary")
	case strings.Contains(parameters, Strict) && members == "1":
		return actionFails(protocol.ExitRefused, "strict waits for a replica, but there is none")
	}
	if w.tune(pod, parameters, members) {
		return exit{runs: true}
	}
	return done()
}

// performInitialize creates the first data.
func (w *World) performInitialize(pod *corev1.Pod, c *protocol.Initialize) exit {
	claim := w.ClaimOf(pod)
	on := w.disk.volumes[claim.UID]
	switch on.marker {
	case marker{c.ID, protocol.MarkDone}:
		return done()
	case marker{c.ID, protocol.MarkRunning}:
	default:
		return fails(protocol.DataDirectoryNotEmpty, "the data directory is not empty")
	}
	on.marker.state = protocol.MarkDone
	on.data = "the first data in " + string(claim.UID)
	w.disk.volumes[claim.UID] = on
	return done()
}
