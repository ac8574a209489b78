//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// injection starts a fault. It returns how the fault ends, or nil if nothing has to end it.
type injection func(*world) (heal func() error, err error)

// target selects a member.
type target func(*world) (*corev1.Pod, error)

// fault is one disturbance of a cluster under load.
type fault struct {
	name   string
	inject injection
	// hold is the time until the fault ends. Before, a cluster may still look healthy.
	hold time.Duration
	// needsOperator marks faults during work of the operator.
	needsOperator bool
	// wholeNode marks faults that disturb other users of the node.
	wholeNode bool
	// disk is the StorageClass of the volumes, if it is not the default one.
	disk string
	// deletesData marks faults after which the rows are not expected.
	deletesData bool
}

// killed is the time until the kubelet has killed a frozen container, and it runs again.
const killed = 25 * time.Second

var faults = slices.Concat(simple, ofTheNode, duringWork, random)

var simple = []fault{
	{name: "kill-postgres", inject: signal((*world).primary, syscall.SIGKILL, lab.Postmaster), hold: 3 * time.Second},
	{name: "kill-patroni", inject: signal((*world).primary, syscall.SIGKILL, lab.Patroni), hold: 5 * time.Second},
	{name: "freeze-container", inject: signal((*world).primary, syscall.SIGSTOP, lab.Any), hold: killed},
	{name: "freeze-patroni", inject: signal((*world).primary, syscall.SIGSTOP, lab.Patroni), hold: killed},
	{name: "delete-grace", inject: deletePod((*world).primary, -1), hold: 5 * time.Second},
	{name: "delete-now", inject: deletePod((*world).primary, 1), hold: 5 * time.Second},
	{name: "delete-force", inject: deleteByForce((*world).primary), hold: 5 * time.Second},
	{name: "delete-force-hung", inject: deleteHungByForce((*world).primary), hold: 5 * time.Second},
	{name: "evict", inject: evict((*world).primary), hold: 5 * time.Second},
	{name: "lose-volume-of-primary", inject: loseVolume((*world).primary), hold: 5 * time.Second},
	{name: "lose-volume-of-replica", inject: loseVolume((*world).replica), hold: 5 * time.Second},
	{name: "cut-from-api", inject: cut((*world).primary, true, false), hold: time.Minute},
	{name: "cut-from-peers", inject: cut((*world).primary, false, true), hold: time.Minute},
	{name: "cut-from-both", inject: cut((*world).primary, true, true), hold: time.Minute},
	{name: "cut-standby-from-both", inject: cut((*world).standby, true, true), hold: time.Minute},
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

// standby is the synchronous replica or, without synchronous replication, any replica.
func (w *world) standby() (*corev1.Pod, error) {
	primary, err := w.primary()
	if err != nil {
		return nil, err
	}
	name, err := w.SQL(w.Context(), primary.Name, "SELECT application_name FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') LIMIT 1")
	if err != nil || name == "" {
		return w.replica()
	}
	return w.Pod(w.Context(), name)
}

// signal sends a signal to processes of a member.
func signal(member target, signal syscall.Signal, match func(lab.Process) bool) injection {
	return func(w *world) (func() error, error) {
		pod, err := member(w)
		if err != nil {
			return nil, err
		}
		return nil, lab.Signal(pod, signal, match)
	}
}

func deletePod(member target, grace int64) injection {
	return func(w *world) (func() error, error) {
		pod, err := member(w)
		if err != nil {
			return nil, err
		}
		return nil, w.DeletePod(w.Context(), pod, grace)
	}
}

// evict does what kubectl drain does.
func evict(member target) injection {
	return func(w *world) (func() error, error) {
		pod, err := member(w)
		if err != nil {
			return nil, err
		}
		return nil, w.SubResource("eviction").Create(w.Context(), pod, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}})
	}
}

// loseVolume deletes the claim of a member with its pod.
func loseVolume(member target) injection {
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

// cut separates a member from the API server, from the other members, or from both. Clients still reach it.
func cut(member target, api, peers bool) injection {
	return func(w *world) (func() error, error) {
		pod, err := member(w)
		if err != nil {
			return nil, err
		}
		addresses, err := w.addresses(pod, api, peers)
		if err != nil {
			return nil, err
		}
		return healer(w, pod), lab.Cut(w.Context(), pod, addresses...)
	}
}

// healer ends the cut of a pod, which may have ended itself.
func healer(w *world, pod *corev1.Pod) func() error {
	return func() error {
		if err := lab.Heal(w.Context(), pod); !errors.Is(err, lab.ErrGone) {
			return err
		}
		return nil
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
