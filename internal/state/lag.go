/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Lag is how far a replica is behind the primary, in bytes of the log of changes.
type Lag struct {
	Pod   string
	Bytes int64
}

// Lags returns the lag of each replica whose position is known, if that of the only ready primary is known, too.
//
// Positions are no facts of a Member: they change every few seconds, and no decision may start because of that.
func Lags(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, pods []*corev1.Pod) []Lag {
	primary, replicas := reports(cluster, declared, pods)
	var all []Lag
	for _, r := range replicas {
		if bytes, known := r.behind(primary.position); known {
			all = append(all, Lag{r.pod, bytes})
		}
	}
	return all
}

// freshBytes is how far behind the primary a fresh replica may be. Members report their positions at different moments, so a healthy
// replica seems to be behind by what the primary writes between two reports: with a report every 5 s, up to 3 MiB a second.
const freshBytes = 16 << 20

// Fresh returns the replicas that are known to have nearly all data of the only ready primary. A replica whose position is unknown,
// or which may have another history, is not fresh.
func Fresh(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, pods []*corev1.Pod) []string {
	primary, replicas := reports(cluster, declared, pods)
	var all []string
	for _, r := range replicas {
		if bytes, known := r.behind(primary.position); known && bytes <= freshBytes && r.follows(primary.position) {
			all = append(all, r.pod)
		}
	}
	return all
}

// report is what a member reports about itself.
type report struct {
	pod string
	position
}

// reports returns the positions of the only ready primary and of the replicas.
func reports(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, pods []*corev1.Pod) (primary report, replicas []report) {
	if declared == nil || declared.Spec.Roles == nil || declared.Spec.Roles.PositionField == "" {
		return report{}, nil
	}
	o, positions := Observed{Engine: declared}, map[string]position{}
	for _, pod := range pods {
		if !isMember(cluster, pod) {
			continue
		}
		o.Members = append(o.Members, MemberOf(pod, 0))
		positions[pod.Name] = positionOf(declared.Spec.Roles, pod.Annotations[dbv1.AnnotationStatus])
	}
	leader, _ := o.Primary()
	for _, m := range o.Members {
		if o.RoleOf(m) == dbv1.RoleReplica {
			replicas = append(replicas, report{m.Name, positions[m.Name]})
		}
	}
	return report{leader.Name, positions[leader.Name]}, replicas
}

func isMember(cluster *dbv1.DatabaseCluster, pod *corev1.Pod) bool {
	_, named := naming.Ordinal(cluster.Name, pod.Name)
	return named && pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase && pod.Labels[dbv1.LabelClusterUID] == string(cluster.UID)
}

// position is where a member is in the log. The zero value is an unknown position.
type position struct {
	bytes int64
	// timeline is the value of the field of that name as JSON; "" if it is unknown.
	timeline string
	// forks is true if the engine has timelines.
	forks bool
}

// positionOf reads the position exactly, which a floating-point number cannot above 2^53.
func positionOf(roles *dbv1.EngineRoles, status string) position {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(status), &fields) != nil {
		return position{}
	}
	bytes, err := strconv.ParseUint(string(fields[roles.PositionField]), 10, 63)
	if err != nil {
		return position{}
	}
	return position{int64(bytes), string(fields[roles.TimelineField]), roles.TimelineField != ""}
}

// behind returns by how many bytes a replica is behind the primary. Members report at different moments, so a replica can be
// ahead of the last report of the primary: then it is 0 bytes behind. But if both are not known to be on one timeline, the
// replica can have other changes than the primary.
func (p position) behind(primary position) (bytes int64, known bool) {
	switch {
	case p.bytes == 0 || primary.bytes == 0:
		return 0, false
	case p.bytes <= primary.bytes:
		return primary.bytes - p.bytes, true
	default:
		return 0, p.follows(primary)
	}
}

// follows reports whether both are known to be in the same history.
func (p position) follows(primary position) bool {
	return !p.forks || p.timeline != "" && p.timeline == primary.timeline
}
