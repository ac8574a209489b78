/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// ready is derived last, from the other conditions: it has the reason and the message of the first one that explains why the cluster is
// not ready. A hibernated cluster is ready although it is not available. A member that fails does not hide a deletion, and a
// rollout that the user has paused does not hide a member that is down.
func (p PassResult) ready(available, progressing, degraded, stalled metav1.Condition) metav1.Condition {
	hibernated, deleting := available.Reason == dbv1.ReasonHibernated, p.Cluster.DeletionTimestamp != nil
	asked := progressing.Reason == dbv1.ReasonRolloutPaused || progressing.Reason == dbv1.ReasonWaitingForUser
	unavailable := available.Status != metav1.ConditionTrue && !hibernated
	switch {
	case stalled.Status == metav1.ConditionTrue:
		return notReady("stalled", stalled)
	case degraded.Status == metav1.ConditionTrue && !deleting:
		return notReady("degraded", degraded)
	case progressing.Status == metav1.ConditionTrue && !(asked && unavailable):
		return notReady("progressing", progressing)
	case unavailable:
		return notReady("not available", available)
	case hibernated:
		return condition(dbv1.ConditionReady, true, dbv1.ReasonHibernated, available.Message)
	default:
		return p.complete(available)
	}
}

// complete is the condition of an available cluster: clients can use it although some of its members are down.
func (p PassResult) complete(available metav1.Condition) metav1.Condition {
	if p.Ready() < p.Cluster.Spec.Replicas && !p.Deleting() {
		return condition(dbv1.ConditionReady, false, dbv1.ReasonReplicasNotReady, p.Counted(p.Cluster.Spec.Replicas))
	}
	return condition(dbv1.ConditionReady, true, dbv1.ReasonReady, available.Message)
}

func notReady(why string, cause metav1.Condition) metav1.Condition {
	return condition(dbv1.ConditionReady, false, cause.Reason, why+": "+cause.Message)
}

func (p PassResult) available() metav1.Condition {
	wanted, members := p.Cluster.Spec.Replicas, int32(len(p.Members))
	serving := p.Ready()
	text := p.Counted(wanted)
	refusal := p.refusal()
	switch {
	case p.Cluster.DeletionTimestamp != nil:
		return condition(dbv1.ConditionAvailable, serving >= wanted, dbv1.ReasonDeleting, text)
	case p.Cluster.Spec.Hibernated && members == 0:
		return condition(dbv1.ConditionAvailable, false, dbv1.ReasonHibernated, "spec.hibernated is true; the volumes are retained")
	case p.Cluster.Spec.Hibernated:
		return condition(dbv1.ConditionAvailable, false, dbv1.ReasonHibernating, "spec.hibernated is true; members are still terminating")
	case p.StatefulSet == nil && members == 0:
		return condition(dbv1.ConditionAvailable, false, dbv1.ReasonCreating, "the members do not exist yet")
	case refusal != "":
		return condition(dbv1.ConditionAvailable, false, dbv1.ReasonWritesRefused, refusal)
	case p.Related():
		return p.availableTogether(text)
	case serving > wanted:
		return condition(dbv1.ConditionAvailable, true, dbv1.ReasonAllReplicasReady,
			fmt.Sprintf("%d members are ready, %d are desired", serving, wanted))
	case serving == wanted:
		return condition(dbv1.ConditionAvailable, true, dbv1.ReasonAllReplicasReady, text)
	default:
		return condition(dbv1.ConditionAvailable, false, dbv1.ReasonReplicasNotReady, text)
	}
}

// refusal is why a client cannot write although members answer; "" for no reason.
func (p PassResult) refusal() string {
	switch refusing, refuses := p.refusing(); {
	case refuses:
		return fmt.Sprintf("pod %s accepts no writes: %s", refusing.Name, refusing.Refuses())
	case p.Serves():
		return p.Plan.Refuses
	default:
		return ""
	}
}

// refusing returns a member that reports that the database accepts no writes. A ready primary does: only the others may report that then.
func (p PassResult) refusing() (refusing state.Member, found bool) {
	if _, primary := p.Primary(); p.HasRoles() && primary {
		return state.Member{}, false
	}
	return p.Refusing()
}

// availableTogether is the condition of members with one database: clients need the primary, or a majority.
func (p PassResult) availableTogether(counted string) metav1.Condition {
	reasons := map[bool]string{true: dbv1.ReasonMajorityReady, false: dbv1.ReasonNoMajority}
	if p.HasRoles() {
		reasons = map[bool]string{true: dbv1.ReasonPrimaryReady, false: dbv1.ReasonNoPrimary}
		switch primary, found := p.Primary(); {
		case found:
			counted = fmt.Sprintf("pod %s is the primary; %s", primary.Name, counted)
		case p.SplitBrain():
			counted = "more than one member reports that it is the primary; " + counted
		default:
			counted = "no ready member is the primary; " + counted
		}
	}
	return condition(dbv1.ConditionAvailable, p.Serves(), reasons[p.Serves()], counted)
}

// progressing is the condition of the current step. If no step is left although the user must act, the cluster may not match its
// spec, so the condition has the reason of Stalled.
func (p PassResult) progressing() metav1.Condition {
	reason, message := p.Plan.Reason, p.Plan.Message
	idle := reason == dbv1.ReasonUpToDate
	if stalled := p.Plan.Stalled; idle && stalled != nil {
		reason, message = stalled.Reason, "nothing is in progress until you act; see the condition Stalled"
	}
	if p.Err != nil {
		message = fmt.Sprintf("%s; %s", message, explain(p.Err))
		if idle {
			reason = dbv1.ReasonRetrying
		}
	}
	return condition(dbv1.ConditionProgressing, !idle || p.Err != nil, reason, message)
}

func (p PassResult) degraded() metav1.Condition {
	var texts, remedies []string
	for _, m := range p.Members {
		ailing := m.Ailing(p.At)
		if ailing == "" {
			continue
		}
		texts = append(texts, fmt.Sprintf("pod %s %s", m.Name, ailing))
		if remedy := p.remedy(m); remedy != "" && !slices.Contains(remedies, remedy) {
			remedies = append(remedies, remedy)
		}
	}
	if len(texts) > 0 {
		message := strings.Join(slices.Insert(remedies, 0, strings.Join(texts, "; ")), ". ")
		return condition(dbv1.ConditionDegraded, true, dbv1.ReasonMemberFailing, message)
	}
	if unreported, is := p.unreported(); is {
		return unreported
	}
	return condition(dbv1.ConditionDegraded, false, dbv1.ReasonMembersHealthy, "all members are healthy")
}

// remedy is that of a member. It also names the field in which users limit the resources that the operator has decided.
func (p PassResult) remedy(m state.Member) string {
	if p.Cluster.Spec.AutoResize == nil || p.Cluster.Status.AutoResize == nil {
		return m.Remedy
	}
	return strings.ReplaceAll(m.Remedy, state.ResourcesField, state.ResourcesField+" (max in spec.autoResize where that decides)")
}

func (p PassResult) stalled() metav1.Condition {
	switch {
	case p.Plan.Stalled != nil:
		return condition(dbv1.ConditionStalled, true, p.Plan.Stalled.Reason, p.Plan.Stalled.Message)
	case operation.Refused(p.Err):
		return condition(dbv1.ConditionStalled, true, dbv1.ReasonRefused, explain(p.Err))
	default:
		return condition(dbv1.ConditionStalled, false, dbv1.ReasonNotStalled, "no action required")
	}
}

func (p PassResult) deletionBlocked() metav1.Condition {
	switch {
	case p.Plan.Stalled != nil:
		return condition(dbv1.ConditionDeletionBlocked, true, p.Plan.Stalled.Reason, p.Plan.Stalled.Message)
	case p.Err != nil:
		return condition(dbv1.ConditionDeletionBlocked, true, dbv1.ReasonDeletionError, explain(p.Err)+p.Plan.Operations.Remedy())
	default:
		return condition(dbv1.ConditionDeletionBlocked, false, p.Plan.Reason, p.Plan.Message)
	}
}

func condition(kind string, is bool, reason, message string) metav1.Condition {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// explain returns an error text that does not change from pass to pass, or every pass would write a status. It is the API server's
// message if the user must act, and only its reason if the error may be temporary.
func explain(err error) string {
	if operation.Refused(err) {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return fmt.Sprintf("retrying after the API server returned %q", reason)
	}
	return "retrying after an error; see the operator's log"
}
