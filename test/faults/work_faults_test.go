//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"syscall"
	"time"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// duringWork are faults while the operator executes a request of the user, and requests that are disturbances.
var duringWork = []fault{
	{name: "hand-over", inject: requestHandOver, hold: 10 * time.Second, needsOperator: true},
	{name: "rolling-restart", inject: rollingRestart, hold: 10 * time.Second, needsOperator: true},
	{name: "rolling-restart-while-replica-is-cut-off", inject: both(cut((*world).replica, true, true), rollingRestart), hold: time.Minute, needsOperator: true},
	{name: "bad-image-during-failover", inject: both(badImage, killPrimary), hold: 40 * time.Second, needsOperator: true},
	{name: "hibernate-and-resume-with-slow-member", inject: hibernate, hold: time.Second, needsOperator: true},
	{name: "scale-out-and-in", inject: scaleOutAndIn, hold: time.Second, needsOperator: true},
	{name: "recreate-with-kept-volumes", inject: recreate("Retain"), hold: time.Second, needsOperator: true},
	{name: "recreate-with-deleted-volumes", inject: recreate("Delete"), hold: time.Second, needsOperator: true, deletesData: true},
}

func requestHandOver(w *world) (func() error, error) {
	replica, err := w.replica()
	if err != nil {
		return nil, err
	}
	return nil, w.HandOver(w.Context(), replica.Name)
}

func rollingRestart(w *world) (func() error, error) { return nil, w.Restart(w.Context()) }

// badImage requests an image that does not exist. At the end the user corrects it.
func badImage(w *world) (func() error, error) {
	correct := func() error { return w.Spec(w.Context(), map[string]any{"image": image}) }
	return correct, w.Spec(w.Context(), map[string]any{"image": "localhost/no-such-image:17"})
}

// hibernate hibernates and resumes. One member stops slowly, and one starts slowly.
func hibernate(w *world) (func() error, error) {
	replica, err := w.replica()
	if err != nil {
		return nil, err
	}
	if err := lab.Signal(replica, syscall.SIGSTOP, lab.Any); err != nil {
		return nil, err
	}
	if err := w.Spec(w.Context(), map[string]any{"hibernated": true}); err != nil {
		return nil, err
	}
	time.Sleep(10 * time.Second)
	err = lab.Signal(replica, syscall.SIGCONT, lab.Any)
	stopped := lab.Await(w.Context(), "all members to stop", func() bool {
		pods, err := w.Pods(w.Context())
		return err == nil && len(pods) == 0
	})
	return nil, errors.Join(err, stopped, w.Spec(w.Context(), map[string]any{"hibernated": false}), w.slowStart(replica.Name))
}

// slowStart freezes a member for a while as soon as it starts.
func (w *world) slowStart(member string) error {
	frozen := func() bool {
		pod, err := w.Pod(w.Context(), member)
		return err == nil && lab.Signal(pod, syscall.SIGSTOP, lab.Any) == nil
	}
	if err := lab.Await(w.Context(), member+" to start", frozen); err != nil {
		return err
	}
	time.Sleep(15 * time.Second)
	pod, err := w.Pod(w.Context(), member)
	if err != nil {
		return err
	}
	return lab.Signal(pod, syscall.SIGCONT, lab.Any)
}

// scaleOutAndIn scales from three to five members and back, with the primary among those that leave.
func scaleOutAndIn(w *world) (func() error, error) {
	if err := w.Scale(w.Context(), 5); err != nil {
		return nil, err
	}
	if err := w.AwaitReady(w.Context()); err != nil {
		return nil, err
	}
	last := w.Member(4)
	err := w.HandOver(w.Context(), last)
	moved := lab.Await(w.Context(), last+" to be the primary", func() bool {
		primary, err := w.primary()
		return err == nil && primary.Name == last
	})
	return nil, errors.Join(err, moved, w.Scale(w.Context(), 3), w.AwaitReady(w.Context()))
}

// recreate deletes the cluster and creates it again under its name, with the volumes or without them.
func recreate(volumes string) injection {
	return func(w *world) (func() error, error) { return nil, w.Recreate(w.Context(), volumes) }
}
