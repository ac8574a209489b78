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

	"github.com/dbcluster/databasecluster-operator/test/faults/lab"
)

// fault is one disturbance of a cluster under load.
type fault struct {
	name string
	// inject returns how the fault ends, or nil if nothing has to end it.
	inject func(*world) (heal func() error, err error)
	// hold is the time until the fault ends. Before, a cluster may still look healthy.
	hold time.Duration
	// needsOperator marks faults during work of the operator.
	needsOperator bool
	// wholeNode marks faults that disturb other users of the node.
	wholeNode bool
	// deletesData marks faults after which the rows are not expected.
	deletesData bool
}

// killed is the time until the kubelet has killed a frozen container, and it runs again.
const killed = 25 * time.Second

var faults = []fault{
	{name: "kill-postgres", inject: signal(syscall.SIGKILL, lab.Postmaster), hold: 3 * time.Second},
	{name: "kill-patroni", inject: signal(syscall.SIGKILL, lab.Patroni), hold: 5 * time.Second},
	{name: "freeze-container", inject: signal(syscall.SIGSTOP, lab.Any), hold: killed},
	{name: "freeze-patroni", inject: signal(syscall.SIGSTOP, lab.Patroni), hold: killed},
	{name: "delete-grace", inject: deletePrimary(-1), hold: 5 * time.Second},
	{name: "delete-now", inject: deletePrimary(1), hold: 5 * time.Second},
	{name: "delete-force", inject: deletePrimary(0), hold: 5 * time.Second},
	{name: "lose-volume-of-primary", inject: loseVolume((*world).primary), hold: 5 * time.Second},
	{name: "lose-volume-of-replica", inject: loseVolume((*world).replica), hold: 5 * time.Second},
	{name: "cut-from-api", inject: cut(true, false), hold: time.Minute},
	{name: "cut-from-peers", inject: cut(false, true), hold: time.Minute},
	{name: "cut-from-both", inject: cut(true, true), hold: time.Minute},
	{name: "two-faults", inject: twoFaults, hold: 5 * time.Second},
}

func (w *world) primary() (*corev1.Pod, error) { return w.Primary(w.Context()) }

func (w *world) replica() (*corev1.Pod, error) {
	replicas, err := w.Replicas(w.Context())
	if err != nil || len(replicas) == 0 {
		return nil, fmt.Errorf("no replica is ready: %w", err)
	}
	return &replicas[w.random.IntN(len(replicas))], nil
}

// signal sends a signal to processes of the primary.
func signal(signal syscall.Signal, match func(lab.Process) bool) func(*world) (func() error, error) {
	return func(w *world) (func() error, error) {
		primary, err := w.primary()
		if err != nil {
			return nil, err
		}
		return nil, lab.Signal(primary, signal, match)
	}
}

func deletePrimary(grace int64) func(*world) (func() error, error) {
	return func(w *world) (func() error, error) {
		primary, err := w.primary()
		if err != nil {
			return nil, err
		}
		return nil, w.DeletePod(w.Context(), primary, grace)
	}
}

// loseVolume deletes the claim of a member with its pod.
func loseVolume(member func(*world) (*corev1.Pod, error)) func(*world) (func() error, error) {
	return func(w *world) (func() error, error) {
		pod, err := member(w)
		if err != nil {
			return nil, err
		}
		claim := &corev1.PersistentVolumeClaim{}
		claim.Namespace, claim.Name = pod.Namespace, "data-"+pod.Name
		return nil, errors.Join(w.Delete(w.Context(), claim), w.DeletePod(w.Context(), pod, 1))
	}
}

// cut separates the primary from the API server, from the other members, or from both. Clients still reach it.
func cut(api, peers bool) func(*world) (func() error, error) {
	return func(w *world) (func() error, error) {
		primary, err := w.primary()
		if err != nil {
			return nil, err
		}
		addresses, err := w.addresses(primary, api, peers)
		if err != nil {
			return nil, err
		}
		heal := func() error {
			if err := lab.Heal(w.Context(), primary); !errors.Is(err, lab.ErrGone) {
				return err
			}
			return nil
		}
		return heal, lab.Cut(w.Context(), primary, addresses...)
	}
}

func (w *world) addresses(member *corev1.Pod, api, peers bool) ([]string, error) {
	var all []string
	if api {
		addresses, err := w.API(w.Context())
		if err != nil {
			return nil, err
		}
		all = addresses
	}
	if peers {
		addresses, err := w.Peers(w.Context(), member.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, addresses...)
	}
	return all, nil
}

// twoFaults kills the primary and deletes a replica at the same time.
func twoFaults(w *world) (func() error, error) {
	primary, err := w.primary()
	replica, problem := w.replica()
	if err := errors.Join(err, problem); err != nil {
		return nil, err
	}
	return nil, errors.Join(lab.Signal(primary, syscall.SIGKILL, lab.Any), w.DeletePod(w.Context(), replica, 0))
}
