/*
SPDX-License-Identifier: Apache-2.0
*/

// Package autoresize decides the requests of members by the recommendation of a VerticalPodAutoscaler. It never writes the spec: the status
// has the decision, and the next pass puts it in force as a change of spec.resources.
package autoresize

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the automatic size of the members.
var Subject = subject.Subject{Read: read, Decide: decide, Transitions: []operation.Transition{
	reported(metav1.ConditionTrue, dbv1.ReasonResizing, corev1.EventTypeNormal),
	reported(metav1.ConditionTrue, dbv1.ReasonLimitReached, corev1.EventTypeNormal),
	reported(metav1.ConditionFalse, dbv1.ReasonAutoscalerMissing, corev1.EventTypeWarning),
	reported(metav1.ConditionFalse, dbv1.ReasonAutoscalerIncompatible, corev1.EventTypeWarning),
	reported(metav1.ConditionFalse, dbv1.ReasonRequestsOutOfBounds, corev1.EventTypeWarning),
	reported(metav1.ConditionFalse, dbv1.ReasonAutoResizeRemoved, corev1.EventTypeNormal),
}}

func reported(status metav1.ConditionStatus, reason, kind string) operation.Transition {
	return operation.Reported(dbv1.ConditionAutoResizeActive, status, reason, kind)
}

// lookAgain is the interval for reading the recommendation: the operator does not watch it. The recommender changes it slowly.
const lookAgain = 5 * time.Minute

// retry is the interval after a read that failed.
const retry = 30 * time.Second

// verdict is what a pass reports, and decides about the requests.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
	// decision is what to record; nil to keep the recorded one.
	decision *dbv1.ClusterAutoResizeStatus
	// left is the time until the verdict changes without an event; 0 for never.
	left time.Duration
}

func active(reason, format string, values ...any) verdict {
	return verdict{status: metav1.ConditionTrue, reason: reason, message: fmt.Sprintf(format, values...)}
}

func inactive(reason, message string) verdict {
	return verdict{status: metav1.ConditionFalse, reason: reason, message: message}
}

// decide records a decision in the status, and the next pass renders the template with it: a crash between the two changes nothing.
func decide(s *situation.Situation) subject.Decision {
	switch {
	case s.Deleting():
		return subject.Decision{}
	case s.Declared.Spec.AutoResize == nil:
		return subject.Decision{Report: removed(s)}
	}
	v := judge(s, state.FactsOf[Facts](s.Observed))
	if v.decision == nil {
		v.decision = bound(s)
	}
	return subject.Decision{RequeueAfter: situation.Sooner(lookAgain, v.left), Report: report(v)}
}

func report(v verdict) subject.Report {
	return func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		if v.decision != nil {
			status.AutoResize = v.decision
		}
		if status.AutoResize != nil && status.AutoResize.Requests == (dbv1.ClusterResizeAmounts{}) {
			status.AutoResize = nil
		}
		return []metav1.Condition{{Type: dbv1.ConditionAutoResizeActive, Status: v.status, Reason: v.reason, Message: v.message}}
	}
}

// removed keeps the record until the members have the resources of the spec again.
func removed(s *situation.Situation) subject.Report {
	return func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		if status.AutoResize == nil || s.StatefulSet == nil || !resizing(s) {
			status.AutoResize = nil
			meta.RemoveStatusCondition(&status.Conditions, dbv1.ConditionAutoResizeActive)
			return nil
		}
		return []metav1.Condition{subject.Condition(dbv1.ConditionAutoResizeActive, false, dbv1.ReasonAutoResizeRemoved,
			"spec.autoResize was removed, so the members get spec.resources again")}
	}
}

// bound is the recorded decision within other bounds, which are in force already; nil if it is within them. A request without bounds is
// that of the spec.
func bound(s *situation.Situation) *dbv1.ClusterAutoResizeStatus {
	asked, last := s.Declared.Spec.AutoResize, s.Declared.Status.AutoResize
	if last == nil {
		return nil
	}
	within := situation.Within(asked, last.Requests)
	if equality.Semantic.DeepEqual(within, last.Requests) {
		return nil
	}
	next := *last
	next.Requests, next.Cause = within, dbv1.ResizeCauseBounds // the generation of the spec has the time of the bounds
	return &next
}

// judge decides. A resize in progress ends before the next decision.
func judge(s *situation.Situation, f Facts) verdict {
	asked, last := s.Declared.Spec.AutoResize, s.Declared.Status.AutoResize
	all := bounded(s.Declared, s.Cluster, f.Target)
	for _, o := range all {
		if !o.valid() {
			return inactive(dbv1.ReasonRequestsOutOfBounds, fmt.Sprintf("spec.resources.requests.%[1]s must be between %[2]s and %[3]s, "+
				"the bounds in spec.autoResize.%[1]s. Set it, or change the bounds", o.name, o.bounds.Min.String(), o.bounds.Max.String()))
		}
	}
	if last != nil && resizing(s) {
		return active(dbv1.ReasonResizing, "the members get requests of %s", text(situation.Within(asked, last.Requests)))
	}
	requests, changes := decideOn(all)
	switch {
	case changes:
		return change(s, f, requests)
	case f.Problem != "":
		return inactive(f.Reason, f.Problem)
	case f.Unread != "":
		return verdict{status: metav1.ConditionUnknown, reason: dbv1.ReasonRecommendationMissing,
			message: fmt.Sprintf("reading VerticalPodAutoscaler %s failed: %s", asked.AutoscalerRef.Name, f.Unread), left: retry}
	default:
		return follows(asked.AutoscalerRef.Name, all, f)
	}
}

// change decides about other requests. Only a cluster without another operation gets them. More memory for a member that needs it waits for
// no cooldown.
func change(s *situation.Situation, f Facts, requests dbv1.ClusterResizeAmounts) verdict {
	asked, last := s.Declared.Spec.AutoResize, s.Declared.Status.AutoResize
	urgent := rescues(s, requests)
	if cause := busy(s, urgent); cause != "" {
		return active(dbv1.ReasonRecommendationPending, "the members get other requests after the current operation: %s", cause)
	}
	if last != nil && !urgent {
		if left := last.Time.Add(cooldown(asked)).Sub(s.At); left > 0 {
			v := active(dbv1.ReasonCooldown, "VerticalPodAutoscaler %s recommends other requests; the operator follows it at %s",
				asked.AutoscalerRef.Name, last.Time.Add(cooldown(asked)).UTC().Format(time.RFC3339))
			v.left = left
			return v
		}
	}
	v := active(dbv1.ReasonResizing, "the members get requests of %s", text(requests))
	v.decision = &dbv1.ClusterAutoResizeStatus{
		Requests: requests, Time: metav1.NewTime(s.At), Cause: dbv1.ResizeCauseRecommendation, Recommendation: f.Target,
	}
	return v
}

// follows describes requests that are as they should be.
func follows(autoscaler string, all []one, f Facts) verdict {
	for _, o := range all {
		if o.recommended == nil {
			message := fmt.Sprintf("VerticalPodAutoscaler %s has no recommendation of %s for the container database yet", autoscaler, o.name)
			if f.Why != "" {
				message += ". It reports " + f.Why
			}
			return verdict{status: metav1.ConditionUnknown, reason: dbv1.ReasonRecommendationMissing, message: message}
		}
	}
	for _, o := range all {
		if o.exceeds() {
			return active(dbv1.ReasonLimitReached, "VerticalPodAutoscaler %s recommends more than spec.autoResize.%s.max, which is %s. Raise it, "+
				"or reduce the load", autoscaler, o.name, o.bounds.Max.String())
		}
	}
	return active(dbv1.ReasonRecommendationFollowed, "the requests of the members follow VerticalPodAutoscaler %s", autoscaler)
}

// resizing reports whether a member does not have the resources in force yet.
func resizing(s *situation.Situation) bool {
	if s.StatefulSet == nil {
		return false
	}
	wanted := s.Cluster.Spec.Resources
	if !state.SameResources(s.StatefulSet.Spec.Template, wanted) {
		return true
	}
	outdated := s.Outdated()
	if _, known := s.Revision(); !known {
		outdated = s.Members
	}
	return slices.ContainsFunc(s.Members, func(m state.Member) bool { return s.Resizing(m) != "" }) ||
		slices.ContainsFunc(outdated, func(m state.Member) bool { return !m.HasResources(wanted) })
}

// rescues reports whether requests give more memory to members of which the memory limit has ended some, and all others are ready.
func rescues(s *situation.Situation, requests dbv1.ClusterResizeAmounts) bool {
	current := requestOf(s.Cluster, corev1.ResourceMemory)
	if requests.Memory == nil || current == nil || requests.Memory.Cmp(*current) <= 0 {
		return false
	}
	down := state.Only(s.Members, func(m state.Member) bool { return !m.Ready })
	return len(down) > 0 && !slices.ContainsFunc(down, func(m state.Member) bool { return !m.OutOfMemory })
}

// busy is why the cluster gets no other requests now; "" if it may. Members that urgent requests rescue need not be ready.
func busy(s *situation.Situation, urgent bool) string {
	_, known := s.Revision()
	switch {
	case s.Cluster.Spec.Paused:
		return "spec.paused is true. Resume the cluster"
	case s.Restoration != nil:
		return "a restore"
	case s.Switches() || s.Wanted == 0:
		return "the members are stopped"
	case !known, len(s.Outdated()) > 0, int32(len(s.Members)) != s.Wanted, s.Ready() != s.Wanted && !urgent: //nolint:gosec // at most 9
		return "not all members are ready and up to date"
	default:
		return ""
	}
}

// text lists requests.
func text(requests dbv1.ClusterResizeAmounts) string {
	switch {
	case requests.CPU == nil:
		return "memory " + requests.Memory.String()
	case requests.Memory == nil:
		return "cpu " + requests.CPU.String()
	default:
		return "cpu " + requests.CPU.String() + " and memory " + requests.Memory.String()
	}
}
