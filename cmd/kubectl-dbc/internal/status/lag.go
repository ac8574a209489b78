/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

// lags are how far the replicas are behind the primary, by the positions that the members report about themselves. One on another
// timeline than the primary has no lag: it may have other changes.
func (f Facts) lags() map[string]string {
	all := map[string]string{}
	for pod, bytes := range Lags(f.Cluster, f.Engine, f.Pods) {
		all[pod] = text.Bytes(bytes)
	}
	return all
}

// Lags are the lags of replicas in bytes, of those whose position is known.
func Lags(cluster *dbv1.DatabaseCluster, engine *dbv1.DatabaseEngine, pods []corev1.Pod) map[string]int64 {
	all := map[string]int64{}
	if engine == nil || engine.Spec.Roles == nil || engine.Spec.Roles.PositionField == "" {
		return all
	}
	positions := map[string]position{}
	for _, pod := range pods {
		positions[pod.Name] = positionOf(engine.Spec.Roles, pod.Annotations[dbv1.AnnotationStatus])
	}
	primary := positions[cluster.Status.Primary]
	for _, m := range cluster.Status.Members {
		own := positions[m.Pod]
		if m.Role == dbv1.RoleReplica && own.bytes > 0 && primary.bytes > 0 && own.timeline == primary.timeline {
			all[m.Pod] = max(primary.bytes-own.bytes, 0)
		}
	}
	return all
}

// position is where a member is in the log of changes.
type position struct {
	bytes    int64
	timeline string
}

// positionOf reads the position exactly, which a floating-point number cannot above 2^53.
func positionOf(roles *dbv1.EngineRoles, report string) position {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(report), &fields) != nil {
		return position{}
	}
	bytes, err := strconv.ParseUint(string(fields[roles.PositionField]), 10, 63)
	if err != nil {
		return position{}
	}
	return position{int64(bytes), string(fields[roles.TimelineField])}
}
