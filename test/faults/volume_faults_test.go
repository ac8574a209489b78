//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// After a deletion by force, Kubernetes creates the next pod of a member at once, on the same volume, while the container of the previous
// one still runs. Process 1 of a container has a lock on the volume, so that the next one waits.

// successor observes the previous pod of a member and the next one, until the previous one has ended.
type successor struct {
	world    *world
	previous *corev1.Pod
	stop     chan struct{}
	done     chan struct{}
	// waited reports whether the next pod waited for the lock, and both whether it ran a server beside the previous one.
	waited, both bool
}

func (w *world) succeed(previous *corev1.Pod) *successor {
	s := &successor{world: w, previous: previous, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for {
			select {
			case <-s.stop:
				return
			case <-time.After(50 * time.Millisecond):
				s.look()
			}
		}
	}()
	return s
}

// next returns the next pod; nil while it does not exist.
func (s *successor) next() *corev1.Pod {
	pod, err := s.world.Pod(s.world.Context(), s.previous.Name)
	if err != nil || pod.UID == s.previous.UID {
		return nil
	}
	return pod
}

// look looks at the next pod first: if its server runs, and process 1 of the previous pod still runs afterward, both ran at once.
func (s *successor) look() {
	next := s.next()
	if next == nil {
		return
	}
	waits := lab.WaitsForLock(next)
	serves := lab.Runs(next, func(p lab.Process) bool { return lab.Patroni(p) || lab.Postmaster(p) })
	if !lab.Runs(s.previous, lab.Main) {
		return
	}
	s.waited, s.both = s.waited || waits, s.both || serves
}

// end returns what was wrong.
func (s *successor) end() error {
	close(s.stop)
	<-s.done
	s.world.Logf("the next pod of %s waited for the volume: %v", s.previous.Name, s.waited)
	if s.both {
		return fmt.Errorf("two servers of %s ran on one volume", s.previous.Name)
	}
	return nil
}

// deleteByForce deletes a pod by force. If the previous container ends before the next one starts, the next one need not wait.
func deleteByForce(member target) injection {
	return func(w *world) (func() error, error) {
		pod, err := member(w)
		if err != nil {
			return nil, err
		}
		observed := w.succeed(pod)
		return observed.end, w.DeletePod(w.Context(), pod, 0)
	}
}

// deleteHungByForce deletes a pod by force whose container does not end: its runtime does not respond, so the kubelet cannot kill it. The next one must
// wait until the test kills that container.
func deleteHungByForce(member target) injection {
	return func(w *world) (func() error, error) {
		pod, err := member(w)
		if err != nil {
			return nil, err
		}
		observed := w.succeed(pod)
		kill := func() error {
			waits := lab.Await(w.Context(), "the next pod of "+pod.Name+" to wait for the volume", func() bool {
				next := observed.next()
				return next != nil && lab.WaitsForLock(next) && lab.Runs(pod, lab.Main)
			})
			return errors.Join(waits, lab.SignalRuntime(pod, syscall.SIGCONT), lab.Signal(pod, syscall.SIGKILL, lab.Any), observed.end())
		}
		hangs := errors.Join(lab.SignalRuntime(pod, syscall.SIGSTOP), lab.Signal(pod, syscall.SIGSTOP, lab.Any))
		return kill, errors.Join(hangs, w.DeletePod(w.Context(), pod, 0))
	}
}
