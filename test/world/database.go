/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// The members of an engine with another topology than Independent have one database. The actor "database" is the software of such an
// engine. Clients write a row in each round in which the database can accept it. A row is lost if the database continues without it.

// Engines whose members have one database.
const (
	// PairEngine replicates asynchronously, syncEngine synchronously. tuneEngine has the action configure.
	PairEngine = "pairdb-v1"
	// SyncEngine replicates synchronously.
	SyncEngine = "syncdb-v1"
	// TuneEngine has the action configure.
	TuneEngine = "tunedb-v1"
	// VoteEngine has voters.
	VoteEngine = "votedb-v1"
)

// Topologies are the topologies of the engines whose members have one database.
var Topologies = map[string]dbv1.EngineTopology{
	PairEngine: dbv1.TopologyPrimaryReplica, SyncEngine: dbv1.TopologyPrimaryReplica, TuneEngine: dbv1.TopologyPrimaryReplica,
	VoteEngine: dbv1.TopologyConsensus,
}

const (
	// RoleLabel has the role of a member: PrimaryRole or ReplicaRole.
	RoleLabel = "role"
	// PrimaryRole is that of the member that accepts writes.
	PrimaryRole = "primary"
	// ReplicaRole is that of all others.
	ReplicaRole = "replica"
)

// shared is the state of a database that members have together. Its maps are replaced or cloned with the disk.
type shared struct {
	topology dbv1.EngineTopology
	// synchronous reports whether the primary acknowledges a row only after its replicas have it.
	synchronous bool
	// acked is the number of acknowledged rows by the data of the database.
	acked map[string]int
	// voters are the claims of the voters by the data, and by the name of the member.
	voters map[string]map[string]types.UID
	// left are the pods whose member was removed from the voters while it ran, and since when.
	left map[types.UID]time.Time
	// asked counts the requests of a type, and executed are the objects with which the latest one was executed; "" for none yet.
	asked    map[dbv1.ClusterRequestType]int
	executed map[dbv1.ClusterRequestType]types.UID
	// led are the pods that have had the lock since the latest request for a hand-over.
	led map[string]bool
	// ran are the clusters that ever had a member.
	ran map[string]bool
	// frozen are the pods whose database does not respond, stalled those that receive no rows any more.
	frozen, stalled map[string]bool
	// unnoticed is since when a pod is frozen that still looks ready. It ends with the first report of the pod after that.
	unnoticed map[string]time.Time
	// divided is the pod that considers itself the primary, although another one has the lock.
	divided string
	// gone is for how many rounds the holder of the lock has not renewed it.
	gone int
	// passedTo is the pod for which the primary has given up its lock, passedBy is the pod that asked for it, and passedAt is when.
	passedTo string
	passedBy types.UID
	passedAt time.Time
	// parameters are those that the database uses, tunedFor is the number of members that they are correct for.
	parameters, tunedFor string
	// tuned is when the action configure in a pod has written the parameters.
	tuned map[types.UID]time.Time
	// edited is true after another client has changed the parameters, until the action configure runs again.
	edited bool
	// without is since when the database has no primary; zero while it has one.
	without time.Time
}

func newShared() shared {
	return shared{
		acked: map[string]int{}, voters: map[string]map[string]types.UID{}, left: map[types.UID]time.Time{}, ran: map[string]bool{},
		frozen: map[string]bool{}, stalled: map[string]bool{}, unnoticed: map[string]time.Time{},
		asked: map[dbv1.ClusterRequestType]int{}, executed: map[dbv1.ClusterRequestType]types.UID{}, led: map[string]bool{},
		tuned: map[types.UID]time.Time{},
	}
}

func (s shared) clone() shared {
	s.acked, s.voters, s.left, s.ran, s.frozen = maps.Clone(s.acked), maps.Clone(s.voters), maps.Clone(s.left), maps.Clone(s.ran),
		maps.Clone(s.frozen)
	s.unnoticed = maps.Clone(s.unnoticed)
	s.stalled, s.asked, s.executed, s.led = maps.Clone(s.stalled), maps.Clone(s.asked), maps.Clone(s.executed), maps.Clone(s.led)
	s.tuned = maps.Clone(s.tuned)
	return s
}

// ranked returns the bucket, the volumes and the acknowledged rows with ranks instead of numbers of rows: no decision depends on the
// numbers.
func (d *disk) ranked() (map[string]artifact, map[types.UID]volume, map[string]int) {
	if len(d.shared.acked) == 0 {
		return d.bucket, d.volumes, nil
	}
	numbers := map[string][]int{}
	for data, rows := range d.shared.acked {
		numbers[data] = append(numbers[data], rows)
	}
	for _, v := range d.volumes {
		numbers[v.data] = append(numbers[v.data], v.rows)
	}
	for _, there := range d.bucket {
		for _, of := range there.sources {
			numbers[of.data] = append(numbers[of.data], of.rows)
		}
	}
	rank := func(data string, rows int) int {
		slices.Sort(numbers[data])
		return slices.Index(slices.Compact(slices.Clone(numbers[data])), rows)
	}
	bucket, volumes, acked := maps.Clone(d.bucket), map[types.UID]volume{}, map[string]int{}
	for at, there := range d.bucket {
		for member, of := range there.sources {
			of.rows = rank(of.data, of.rows)
			bucket[at] = bucket[at].from(member, of)
		}
	}
	for uid, v := range d.volumes {
		v.rows = rank(v.data, v.rows)
		volumes[uid] = v
	}
	for data, rows := range d.shared.acked {
		acked[data] = rank(data, rows)
	}
	return bucket, volumes, acked
}

// IsRelated reports whether a member has its database together with others, by its container and not by annotations.
func IsRelated(pod *corev1.Pod) bool { return IsMember(pod) && Topologies[engineOf(pod)] != "" }

// runDatabase is the software of the engine in the pods of members.
func (w *World) runDatabase() {
	switch w.disk.shared.topology {
	case dbv1.TopologyPrimaryReplica:
		w.runPair()
	case dbv1.TopologyConsensus:
		w.runVoters()
	case dbv1.TopologyIndependent:
	}
}

// databases are the pods in which the software of the engine acts: neither frozen nor terminating.
func (w *World) databases() []*corev1.Pod {
	return slices.DeleteFunc(store.All[*corev1.Pod](w.Store),
		func(pod *corev1.Pod) bool { return !w.acts(pod) || pod.DeletionTimestamp != nil })
}

// acts reports whether the software in a pod runs and responds.
func (w *World) acts(pod *corev1.Pod) bool {
	return pod != nil && IsRelated(pod) && Runs(pod) && !w.disk.shared.frozen[pod.Name] && !w.disk.lost[pod.Name]
}

// on returns the volume of a member and the UID of its claim.
func (w *World) on(pod *corev1.Pod) (types.UID, volume) {
	claim := w.ClaimOf(pod)
	if claim == nil {
		return "", volume{}
	}
	return claim.UID, w.disk.volumes[claim.UID]
}

// write replaces the data and the rows of a member.
func (w *World) write(pod *corev1.Pod, data string, rows int) {
	uid, v := w.on(pod)
	v.data, v.rows = data, rows
	w.disk.volumes[uid] = v
}

// newest is the member with the most rows, and of those the one with the lowest ordinal; nil if there is none.
func (w *World) newest(pods []*corev1.Pod) *corev1.Pod {
	if len(pods) == 0 {
		return nil
	}
	return slices.MaxFunc(pods, func(a, b *corev1.Pod) int {
		_, first := w.on(a)
		_, second := w.on(b)
		return cmp.Or(cmp.Compare(first.rows, second.rows), ordinalOf(b)-ordinalOf(a))
	})
}

// resumes checks that a database that continues with a member has each acknowledged row. Rows that it has not are no longer counted.
func (w *World) resumes(with *corev1.Pod) {
	_, v := w.on(with)
	if lost := w.disk.shared.acked[v.data] - v.rows; lost > 0 {
		w.Breaks("acknowledged rows are lost, because the database continues with pod %s", with.Name)
	}
	w.disk.shared.acked[v.data] = v.rows
	for uid, other := range w.disk.volumes {
		if other.data == v.data {
			other.rows = min(other.rows, v.rows)
			w.disk.volumes[uid] = other
		}
	}
}

// Forgives no longer counts rows that only a member has which fails without a fault of the operator.
func (w *World) Forgives(pod *corev1.Pod) {
	uid, _ := w.on(pod)
	w.ForgivesVolume(uid)
}

// ForgivesVolume no longer counts rows that only a volume has.
func (w *World) ForgivesVolume(uid types.UID) {
	v := w.disk.volumes[uid]
	rows := -1
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		if other := w.disk.volumes[claim.UID]; claim.UID != uid && other.data == v.data {
			rows = max(rows, other.rows)
		}
	}
	if !w.disk.shared.synchronous && rows >= 0 {
		w.disk.shared.acked[v.data] = min(rows, w.disk.shared.acked[v.data])
	}
}

// reports sets what the software of a member reports: its role and its readiness.
func (w *World) reports(pod *corev1.Pod, role string, ready bool) {
	before := pod.DeepCopy()
	delete(w.disk.shared.unnoticed, pod.Name)
	if role != "" {
		pod.Labels[RoleLabel] = role
		w.reportPosition(pod)
	}
	w.setReady(pod, ready)
	if !w.Store.Put(pod) {
		return
	}
	what := "is not ready"
	if ready {
		what = "is ready"
	}
	if role != "" {
		what += " as the " + role
	}
	if IsReady(before) != ready || before.Labels[RoleLabel] != pod.Labels[RoleLabel] {
		w.journal.add(w.by, fmt.Sprintf("pod %s %s", pod.Name, what))
	}
}

func (w *World) setReady(pod *corev1.Pod, ready bool) {
	reason := ""
	if !ready {
		reason = "ContainersNotReady"
	}
	pod.Status.ContainerStatuses[0].Ready = ready
	w.setCondition(pod, corev1.PodReady, ready, reason, "")
}

// Relate sets the engine that runs in the members, if they have one database.
func (w *World) Relate(engine string) {
	w.disk.shared.topology, w.disk.shared.synchronous = Topologies[engine], engine == SyncEngine
}

// TunedFor is the number of members that the parameters of the database are correct for.
func (w *World) TunedFor() string { return w.disk.shared.tunedFor }

// ForgetsLock lets the next holder of the lock have all its time.
func (w *World) ForgetsLock() { w.disk.shared.gone = 0 }
