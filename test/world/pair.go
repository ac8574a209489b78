/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

const (
	// AgreementName is the last part of the name of the ConfigMap in which members keep their agreement.
	AgreementName = "leader"
	// KeptName is the last part of the name of the ConfigMap in which members keep their configuration.
	KeptName = "config"
	// KeptKey is its annotation with that configuration.
	KeptKey = "config"
	// InitializedKey is an annotation, as all keys of Patroni, with the data of the database.
	InitializedKey = "initialize"
	// HolderKey has the pod that has the lock.
	HolderKey = "leader"
	// TermKey has the time when a pod got the lock. When its holder stops, it frees the lock, and the term stays.
	TermKey = "acquireTime"
	// syncKey has the pods with all acknowledged rows in synchronous mode: the primary, and the replicas that it waits for.
	syncKey = "sync"
	// LockRounds is for how many rounds a lock is valid that its holder does not renew.
	LockRounds = 3
)

// runPair is the software of an engine of topology PrimaryReplica. It creates no data: a member with an empty volume copies that of
// the primary.
func (w *World) runPair() {
	w.watchPrimary()
	w.expireLock()
	for _, i := range w.order(len(w.databases())) {
		if pods := w.databases(); i < len(pods) && !w.delays() {
			w.agree(pods[i])
		}
	}
	w.replicate()
}

func (w *World) agreement() *corev1.ConfigMap {
	return store.Get[*corev1.ConfigMap](w.Store, naming.State(w.Name, AgreementName))
}

// setAgreement changes one key of the agreement.
func (w *World) setAgreement(key, value string) {
	agreement := w.agreement()
	if agreement == nil {
		return
	}
	if agreement.Annotations[key] == value {
		return
	}
	metav1.SetMetaDataAnnotation(&agreement.ObjectMeta, key, value)
	w.Store.Put(agreement)
}

// lock gives the lock to a pod.
func (w *World) lock(pod string) {
	term := w.Clock.Now()
	if last, err := time.Parse(time.RFC3339, w.agreed(TermKey)); err == nil && !term.After(last) {
		term = last.Add(time.Second) // Patroni's has microseconds
	}
	w.setAgreement(TermKey, term.UTC().Format(time.RFC3339))
	w.setAgreement(HolderKey, pod)
	w.disk.nodes.leads(pod)
	w.disk.shared.led[pod] = true
	w.disk.shared.passedTo = ""
}

// pass is the moment at which a Job makes a primary give up its lock for another member, which gets it in the next round.
func (w *World) pass(job, primary, next *corev1.Pod) {
	_, from := w.on(primary)
	w.write(next, from.data, from.rows)
	on := &w.disk.shared
	on.passedBy, on.passedTo, on.passedAt = job.UID, next.Name, w.Clock.Now()
	w.setAgreement(HolderKey, "")
	w.reports(primary, ReplicaRole, false)
}

// passesTo is the pod for which a primary has given up its lock; "" for none.
func (w *World) passesTo() string {
	next := w.disk.shared.passedTo
	if next == "" || !w.acts(store.Get[*corev1.Pod](w.Store, next)) {
		return ""
	}
	return next
}

// agreed is one key of the agreement.
func (w *World) agreed(key string) string {
	if agreement := w.agreement(); agreement != nil {
		return agreement.Annotations[key]
	}
	return ""
}

// holder is the pod that has the lock; "" if no pod has it.
func (w *World) holder() string { return w.agreed(HolderKey) }

// expireLock frees the lock if its holder has not renewed it for long enough.
func (w *World) expireLock() {
	holder, on := w.holder(), &w.disk.shared
	switch {
	case holder == "", w.acts(store.Get[*corev1.Pod](w.Store, holder)):
		on.gone = 0
	case on.gone < LockRounds:
		on.gone++
		w.Store.Touch() // time passes
	default:
		on.gone = 0
		w.setAgreement(HolderKey, "")
		w.journal.add(w.by, fmt.Sprintf("the lock of pod %s expires", holder))
	}
}

// agree is one turn of the software of a member.
func (w *World) agree(pod *corev1.Pod) {
	agreement := w.agreement()
	_, on := w.on(pod)
	switch {
	case w.disk.shared.divided == pod.Name:
	case agreement == nil:
		w.reports(pod, ReplicaRole, false)
	case on.data == "":
		w.join(pod)
	case w.agreed(InitializedKey) == "":
		w.setAgreement(InitializedKey, on.data)
	case w.holder() == pod.Name:
		w.lead(pod)
	case w.holder() == "":
		w.elect(pod)
	default:
		w.reports(pod, ReplicaRole, IsReady(pod) || w.primary() != nil)
	}
}

// primary is the pod of the primary that accepts writes; nil if there is none.
func (w *World) primary() *corev1.Pod {
	if w.holder() == "" {
		return nil
	}
	pod := store.Get[*corev1.Pod](w.Store, w.holder())
	if !w.acts(pod) || !IsReady(pod) || w.isFull(pod) || pod.Labels[RoleLabel] != PrimaryRole {
		return nil
	}
	return pod
}

// join copies the data of the primary into an empty volume.
func (w *World) join(pod *corev1.Pod) {
	primary := w.primary()
	if primary == nil {
		w.reports(pod, "", false)
		return
	}
	_, from := w.on(primary)
	w.write(pod, from.data, from.rows)
	w.Store.Touch()
	w.journal.add(w.by, fmt.Sprintf("pod %s copies the data of pod %s", pod.Name, primary.Name))
}

// lead reports the holder of the lock as the primary, after the previous primary has noticed its loss.
func (w *World) lead(pod *corev1.Pod) {
	for _, other := range w.databases() {
		if other.Name != pod.Name && other.Labels[RoleLabel] == PrimaryRole && IsReady(other) {
			return
		}
	}
	w.reports(pod, PrimaryRole, !w.isFull(pod))
}

// elect gives the free lock to the member with the newest data of those that respond. It knows the agreement, and not which rows were
// acknowledged. In synchronous mode only members in the agreement can get the lock, if there are any.
func (w *World) elect(pod *corev1.Pod) {
	_, on := w.on(pod)
	synced, next := w.agreed(syncKey), w.passesTo()
	if next == pod.Name && !w.Clock.Now().After(w.disk.shared.passedAt) {
		w.Store.Touch() // time passes
		return
	}
	candidates := slices.DeleteFunc(w.databases(), func(other *corev1.Pod) bool {
		_, has := w.on(other)
		return has.data != on.data || synced != "" && !slices.Contains(strings.Fields(synced), other.Name) || next != "" && other.Name != next
	})
	if newest := w.newest(candidates); newest == nil || newest.Name != pod.Name {
		w.reports(pod, ReplicaRole, IsReady(pod))
		return
	}
	w.resumes(pod)
	w.lock(pod.Name)
	w.journal.add(w.by, fmt.Sprintf("pod %s has the lock", pod.Name))
}

// followers are the replicas that receive the rows of the primary.
func (w *World) followers(primary *corev1.Pod) []*corev1.Pod {
	_, from := w.on(primary)
	return slices.DeleteFunc(w.databases(), func(pod *corev1.Pod) bool {
		_, on := w.on(pod)
		return pod.Name == primary.Name || pod.Labels[RoleLabel] != ReplicaRole || on.data != from.data || w.disk.shared.stalled[pod.Name]
	})
}

// replicate lets a client write a row. Replicas receive it at once in synchronous mode, and otherwise in the next round.
func (w *World) replicate() {
	primary := w.primary()
	if primary == nil {
		return
	}
	_, on := w.on(primary)
	sent := on.rows
	if w.disk.shared.synchronous {
		sent++
		w.agreeOn(primary)
	}
	for _, replica := range w.followers(primary) {
		w.write(replica, on.data, sent)
	}
	w.write(primary, on.data, on.rows+1)
	w.disk.shared.acked[on.data] = on.rows + 1
}

// agreeOn records which members get all rows, before the next one is acknowledged.
func (w *World) agreeOn(primary *corev1.Pod) {
	synced := []string{primary.Name}
	for _, replica := range w.followers(primary) {
		synced = append(synced, replica.Name)
	}
	w.setAgreement(syncKey, strings.Join(synced, " "))
}

// halt stops the software of a member. A primary that responds first sends its rows to the replicas, then frees the lock.
func (w *World) halt(pod *corev1.Pod) {
	frozen := w.disk.shared.frozen[pod.Name]
	delete(w.disk.shared.frozen, pod.Name)
	delete(w.disk.shared.unnoticed, pod.Name)
	if frozen || w.holder() != pod.Name || !Runs(pod) {
		return
	}
	_, on := w.on(pod)
	for _, replica := range w.followers(pod) {
		w.write(replica, on.data, on.rows)
	}
	w.setAgreement(HolderKey, "")
}

// mistaken reports whether a member cannot start, because its agreement is that of another database.
func (w *World) mistaken(pod *corev1.Pod) bool {
	agreement := w.agreement()
	_, on := w.on(pod)
	if agreement == nil || !IsRelated(pod) || on.data == "" {
		return false
	}
	known := agreement.Annotations[InitializedKey]
	return known != "" && known != on.data
}
