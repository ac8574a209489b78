/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

var (
	then = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	now  = metav1.NewTime(then.Add(time.Hour))
)

// idle returns a pass of a cluster of two members without operations.
func idle() PassResult {
	cluster := &dbv1.DatabaseCluster{}
	cluster.Name, cluster.Generation, cluster.Spec.Replicas = "orders", 7, 2
	return PassResult{
		Situation: &situation.Situation{Declared: cluster, Cluster: cluster, Observed: state.Observed{
			At:          now.Time,
			StatefulSet: &appsv1.StatefulSet{},
			Members:     []state.Member{{Name: "orders-0", Ready: true}, {Name: "orders-1", Ordinal: 1, Ready: true}},
		}},
		Plan: plan.Plan{Reason: dbv1.ReasonUpToDate, Message: "the cluster matches its spec"},
	}
}

// summary is every condition as "+Type Reason" when true and "-Type Reason" when not.
func summary(s dbv1.DatabaseClusterStatus) string {
	var parts []string
	for _, c := range s.Conditions {
		sign := "-"
		if c.Status == metav1.ConditionTrue {
			sign = "+"
		}
		parts = append(parts, sign+c.Type+" "+c.Reason)
	}
	return strings.Join(parts, ", ")
}

func TestTheConditionsOfAPass(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "StatefulSet"}, "orders", nil)
	cases := map[string]struct {
		change  func(*PassResult)
		want    string
		message string // of Ready
	}{
		"all is well": {
			func(*PassResult) {},
			"+Ready Ready, +Available AllReplicasReady, -Progressing UpToDate, -Degraded MembersHealthy, -Stalled NotStalled",
			"2 of 2 members are ready",
		},
		"an object fails that the cluster does not need": {
			func(p *PassResult) { p.Err = errors.Join(operation.OptionalError{Err: invalid}) },
			"+Ready Ready, +Available AllReplicasReady, -Progressing UpToDate, -Degraded MembersHealthy, -Stalled NotStalled",
			"2 of 2 members are ready",
		},
		"nothing exists yet": {
			func(p *PassResult) {
				p.Observed = state.Observed{}
				p.Plan = plan.Plan{Reason: dbv1.ReasonApplying, Message: "create"}
			},
			"-Ready Applying, -Available Creating, +Progressing Applying, -Degraded MembersHealthy, -Stalled NotStalled",
			"progressing: create",
		},
		"a member is not ready": {
			func(p *PassResult) {
				p.Members[1].Ready = false
				p.Plan = plan.Plan{Reason: dbv1.ReasonWaitingForMembers, Message: "waiting for pod orders-1"}
			},
			"-Ready WaitingForMembers, -Available ReplicasNotReady, +Progressing WaitingForMembers, -Degraded MembersHealthy, -Stalled NotStalled",
			"progressing: waiting for pod orders-1",
		},
		"a member is on its way out": {
			func(p *PassResult) {
				p.Members[1].Terminating = true
				p.Plan = plan.Plan{Reason: dbv1.ReasonWaitingForMembers, Message: "waiting for pod orders-1"}
			},
			"-Ready WaitingForMembers, -Available ReplicasNotReady, +Progressing WaitingForMembers, -Degraded MembersHealthy, -Stalled NotStalled",
			"progressing: waiting for pod orders-1",
		},
		"a member cannot run": {
			func(p *PassResult) {
				p.Members[1].Ready, p.Members[1].Problem = false, "container database: ErrImagePull: no"
			},
			"-Ready MemberFailing, -Available ReplicasNotReady, -Progressing UpToDate, +Degraded MemberFailing, -Stalled NotStalled",
			"degraded: pod orders-1 container database: ErrImagePull: no",
		},
		"two members cannot run for the same cause, which has a remedy": {
			func(p *PassResult) {
				for i := range p.Members {
					p.Members[i].Ready, p.Members[i].Problem, p.Members[i].Remedy = false, "cannot be scheduled: no node", "Add a node"
				}
			},
			"-Ready MemberFailing, -Available ReplicasNotReady, -Progressing UpToDate, +Degraded MemberFailing, -Stalled NotStalled",
			"degraded: pod orders-0 cannot be scheduled: no node; pod orders-1 cannot be scheduled: no node. Add a node",
		},
		"a member has not been ready for ten minutes": {
			func(p *PassResult) {
				p.Members[1].Ready, p.Members[1].ReadySince = false, metav1.NewTime(now.Add(-10*time.Minute))
			},
			"-Ready MemberFailing, -Available ReplicasNotReady, -Progressing UpToDate, +Degraded MemberFailing, -Stalled NotStalled",
			"degraded: pod orders-1 is not ready; see kubectl describe pod orders-1",
		},
		"a rollout is paused while a member is down": {
			func(p *PassResult) {
				p.Members[1].Ready = false
				p.Plan = plan.Plan{Reason: dbv1.ReasonRolloutPaused, Message: "paused"}
			},
			"-Ready ReplicasNotReady, -Available ReplicasNotReady, +Progressing RolloutPaused, -Degraded MembersHealthy, -Stalled NotStalled",
			"not available: 1 of 2 members are ready; pod orders-1 is not ready",
		},
		"only the user can bring the cluster to its spec": {
			func(p *PassResult) {
				p.Plan.Stalled = &situation.Stall{Reason: dbv1.ReasonConfigureFailed, Message: "no such parameter"}
			},
			"-Ready ConfigureFailed, +Available AllReplicasReady, -Progressing ConfigureFailed, -Degraded MembersHealthy, +Stalled ConfigureFailed",
			"stalled: no such parameter",
		},
		"a rollout continues although the user must act": {
			func(p *PassResult) {
				p.Plan = plan.Plan{Reason: dbv1.ReasonRollingOut, Message: "restarting pod orders-1", Stalled: &situation.Stall{Reason: dbv1.ReasonConfigureFailed, Message: "no such parameter"}}
			},
			"-Ready ConfigureFailed, +Available AllReplicasReady, +Progressing RollingOut, -Degraded MembersHealthy, +Stalled ConfigureFailed",
			"stalled: no such parameter",
		},
		"a rollout continues while every member serves": {
			func(p *PassResult) {
				p.Plan = plan.Plan{Reason: dbv1.ReasonRollingOut, Message: "restarting pod orders-1"}
			},
			"-Ready RollingOut, +Available AllReplicasReady, +Progressing RollingOut, -Degraded MembersHealthy, -Stalled NotStalled",
			"progressing: restarting pod orders-1",
		},
		"the API server refuses an object": {
			func(p *PassResult) { p.Err = fmt.Errorf("apply StatefulSet orders: %w", invalid) },
			"-Ready Refused, +Available AllReplicasReady, +Progressing Retrying, -Degraded MembersHealthy, +Stalled Refused",
			"stalled: apply StatefulSet orders: StatefulSet \"orders\" is invalid",
		},
		"the API server does not answer": {
			func(p *PassResult) { p.Err = errors.New("dial tcp: connection refused at 12:00:01") },
			"-Ready Retrying, +Available AllReplicasReady, +Progressing Retrying, -Degraded MembersHealthy, -Stalled NotStalled",
			"progressing: the cluster matches its spec; retrying after an error; see the operator's log",
		},
		"a deletion is blocked": {
			func(p *PassResult) {
				p.Cluster.DeletionTimestamp = &now
				p.Plan = plan.Plan{Reason: dbv1.ReasonHookFailed, Message: "no", Stalled: &situation.Stall{Reason: dbv1.ReasonHookFailed, Message: "do"}}
			},
			"-Ready HookFailed, +Available Deleting, +Progressing HookFailed, -Degraded MembersHealthy, +Stalled HookFailed, +DeletionBlocked HookFailed",
			"stalled: do",
		},
		"members stop because the cluster is being deleted": {
			func(p *PassResult) {
				p.Cluster.DeletionTimestamp, p.Observed = &now, state.Observed{}
				p.Plan = plan.Plan{Reason: dbv1.ReasonDeleting, Message: "every member has stopped"}
			},
			"-Ready Deleting, -Available Deleting, +Progressing Deleting, -Degraded MembersHealthy, -Stalled NotStalled, -DeletionBlocked Deleting",
			"progressing: every member has stopped",
		},
		"a member fails while the cluster is being deleted": {
			func(p *PassResult) {
				p.Cluster.DeletionTimestamp = &now
				p.Members[1].Ready, p.Members[1].Problem = false, "container database: exited"
				p.Plan = plan.Plan{Reason: dbv1.ReasonHookRunning, Message: "deletion hook last runs"}
			},
			"-Ready HookRunning, -Available Deleting, +Progressing HookRunning, +Degraded MemberFailing, -Stalled NotStalled, -DeletionBlocked HookRunning",
			"progressing: deletion hook last runs",
		},
		"a deletion continues": {
			func(p *PassResult) {
				p.Cluster.DeletionTimestamp = &now
				p.Plan = plan.Plan{Reason: dbv1.ReasonTerminating, Message: "pod orders-1 is terminating"}
			},
			"-Ready Terminating, +Available Deleting, +Progressing Terminating, -Degraded MembersHealthy, -Stalled NotStalled, -DeletionBlocked Terminating",
			"progressing: pod orders-1 is terminating",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pass := idle()
			c.change(&pass)
			status := Of(pass, now)
			if got := summary(status); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := meta.FindStatusCondition(status.Conditions, dbv1.ConditionReady).Message; got != c.message {
				t.Errorf("Ready says %q, want %q", got, c.message)
			}
			for _, condition := range status.Conditions {
				if condition.ObservedGeneration != 7 || condition.Message == "" {
					t.Errorf("%+v", condition)
				}
			}
		})
	}
}

func TestATransitionTimeMovesOnlyWhenTheStatusDoes(t *testing.T) {
	pass := idle()
	pass.Cluster.Status = Of(pass, then)
	pass.Members[1].Ready = false
	status := Of(pass, now)
	for kind, want := range map[string]metav1.Time{dbv1.ConditionAvailable: now, dbv1.ConditionStalled: then} {
		if got := meta.FindStatusCondition(status.Conditions, kind).LastTransitionTime; !got.Equal(&want) {
			t.Errorf("%s changed at %s, want %s", kind, got, want)
		}
	}
}

func TestTheObservedGenerationIsTheOneThatTheObjectsExpress(t *testing.T) {
	cases := map[string]struct {
		change func(*PassResult)
		want   int64
	}{
		"after a pass without errors":             {func(*PassResult) {}, 7},
		"not after an error":                      {func(p *PassResult) { p.Err = errors.New("no") }, 6},
		"not while members are still terminating": {func(p *PassResult) { p.Plan.Pending = true }, 6},
		"not what had stalled and moves again": {func(p *PassResult) {
			p.Cluster.Status.ObservedGeneration, p.Plan.Pending = 7, true
		}, 6},
		"not while members stop during a stall": {func(p *PassResult) {
			p.Plan.Stalled, p.Plan.Reason = &situation.Stall{Reason: "X", Message: "x"}, dbv1.ReasonScaling
		}, 6},
		"when only the user can solve the rest": {func(p *PassResult) { p.Plan.Stalled = &situation.Stall{Reason: "X", Message: "x"} }, 7},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pass := idle()
			pass.Cluster.Status.ObservedGeneration = 6
			c.change(&pass)
			if got := Of(pass, now).ObservedGeneration; got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestAConditionThatAppliedOnceIsSetToFalse(t *testing.T) {
	cases := map[string]struct {
		apply func(*PassResult)
		want  string
	}{
		dbv1.ConditionUpdateAvailable: {func(p *PassResult) { p.Plan.Newer = true }, "+UpdateAvailable NewerTemplate; -UpdateAvailable UpToDate"},
		dbv1.ConditionPaused:          {func(p *PassResult) { p.Cluster.Spec.Paused = true }, "+Paused Paused; -Paused NotPaused"},
		dbv1.ConditionHibernated: {
			func(p *PassResult) { p.Cluster.Spec.Hibernated, p.Members = true, nil }, "+Hibernated Hibernated; -Hibernated Running",
		},
	}
	for kind, c := range cases {
		t.Run(kind, func(t *testing.T) {
			never := idle()
			if meta.FindStatusCondition(Of(never, then).Conditions, kind) != nil {
				t.Error("it is there although it never applied")
			}
			applies, over := idle(), idle()
			c.apply(&applies)
			over.Cluster.Status = Of(applies, then)
			var got []string
			for _, status := range []dbv1.DatabaseClusterStatus{over.Cluster.Status, Of(over, now)} {
				for part := range strings.SplitSeq(summary(status), ", ") {
					if strings.HasPrefix(part[1:], kind+" ") {
						got = append(got, part)
					}
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestAnObjectThatServerSideApplyCannotReadStalls(t *testing.T) {
	pass := idle()
	pass.Err = apierrors.NewInternalError(errors.New("failed to create typed patch object (shop/orders; apps/v1, Kind=StatefulSet): duplicate entries for key"))
	stalled := meta.FindStatusCondition(Of(pass, now).Conditions, dbv1.ConditionStalled)
	if stalled.Status != metav1.ConditionTrue || !strings.Contains(stalled.Message, "duplicate entries for key") {
		t.Errorf("%+v", stalled)
	}
}

func TestAHibernatedClusterIsReadyButNotAvailable(t *testing.T) {
	pass := idle()
	pass.Cluster.Spec.Hibernated, pass.Members = true, nil
	want := "+Ready Hibernated, -Available Hibernated, -Progressing UpToDate, -Degraded MembersHealthy, -Stalled NotStalled, +Hibernated Hibernated"
	if got := summary(Of(pass, now)); got != want {
		t.Error(got)
	}
}

func TestEachMemberIsReported(t *testing.T) {
	pass := idle()
	pass.StatefulSet.Status.UpdateRevision = "new"
	pass.Members = []state.Member{
		{Name: "orders-0", Revision: "new", Ready: true, Node: "worker-1", Zone: "a", Reports: "17.5"},
		{Name: "orders-1", Ordinal: 1, Revision: "old", Problem: "no image"},
		{Name: "orders-2", Ordinal: 2, Revision: "new", Ready: true, Terminating: true},
		{Name: "orders-3", Ordinal: 3, Revision: "new"},
	}
	pass.Volumes = []state.Volume{
		{Claim: "data-orders-0", Requested: resource.MustParse("2Gi"), Capacity: resource.MustParse("2Gi"), Class: "gold", CurrentClass: "gold"},
		{Claim: "data-orders-1", Ordinal: 1, Requested: resource.MustParse("3Gi"), Capacity: resource.MustParse("1Gi")},
		{Claim: "data-orders-9", Ordinal: 9, Requested: resource.MustParse("1Mi"), Capacity: resource.MustParse("1Mi")},
	}
	status := Of(pass, now)
	var got []string
	for _, m := range status.Members {
		got = append(got, fmt.Sprintf("%s %s outdated=%v ready=%v %s%s volume=%v", m.Pod, m.Revision, m.Outdated, m.Ready, m.State, m.Message, m.Volume != nil))
	}
	want := []string{
		"orders-0 new outdated=false ready=true Ready volume=true",
		"orders-1 old outdated=true ready=false Failingno image volume=true",
		"orders-2 new outdated=false ready=false Terminating volume=false",
		"orders-3 new outdated=false ready=false Starting volume=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if first := status.Members[0]; first.Version != "17.5" || first.Node != "worker-1" || first.Zone != "a" || first.Volume.AttributesClass != "gold" {
		t.Errorf("%+v", first)
	}
	if status.UpdatedReplicas != 3 || status.UpdateRevision != "new" || status.Storage.Requested.String() != "3Gi" || status.Storage.Capacity.String() != "1Gi" {
		t.Errorf("%+v", status)
	}
}

func TestTheVersionIsThatOfAllMembers(t *testing.T) {
	cases := map[string]struct {
		reported []string
		want     string
	}{
		"all report the same":  {[]string{"17.5", "17.5"}, "17.5"},
		"a rollout changes it": {[]string{"17.5", "17.4"}, ""},
		"one has not started":  {[]string{"17.5", ""}, ""},
		"there are no members": {nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pass := idle()
			pass.Members = nil
			for _, version := range c.reported {
				pass.Members = append(pass.Members, state.Member{Reports: version})
			}
			if got := Of(pass, now).Version; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestALongMessageIsTruncatedAtAWholeCharacter(t *testing.T) {
	pass := idle()
	pass.Plan.Message = strings.Repeat("ü", 40000)
	for _, c := range Of(pass, now).Conditions {
		if len(c.Message) > 32768 || strings.ToValidUTF8(c.Message, "?") != c.Message {
			t.Errorf("%s: %d bytes", c.Type, len(c.Message))
		}
	}
}

func TestTheSameSnapshotGivesTheSameStatus(t *testing.T) {
	pass := idle()
	pass.Cluster.Status = Of(pass, then)
	if got := Of(pass, now); fmt.Sprint(got) != fmt.Sprint(pass.Cluster.Status) {
		t.Errorf("got  %+v\nwant %+v", got, pass.Cluster.Status)
	}
}
