/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"maps"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Related reports whether the members of an engine have one database together. The engine is nil if the cluster names none.
func Related(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && (declared.Spec.Topology == dbv1.TopologyPrimaryReplica || declared.Spec.Topology == dbv1.TopologyConsensus)
}

// HasRoles reports whether one member of the engine is the primary.
func HasRoles(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && declared.Spec.Roles != nil
}

// Consents reports whether the members of the engine agree by a majority.
func Consents(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && declared.Spec.Topology == dbv1.TopologyConsensus
}

// Identifies reports whether the members of the engine call the API server, so that they need a token and rights.
func Identifies(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && (declared.Spec.Roles != nil || declared.Spec.State != nil)
}

// Configures reports whether parameters are put in force without a restart of pods.
func Configures(declared *dbv1.DatabaseEngine) bool {
	return declared != nil && declared.Spec.Actions.Configure != nil
}

// StateConfigMaps are the names of the ConfigMaps in which the members of a cluster keep their agreement.
func StateConfigMaps(cluster string, declared *dbv1.DatabaseEngine) []string {
	if declared == nil || declared.Spec.State == nil {
		return nil
	}
	all := make([]string, 0, len(declared.Spec.State.ConfigMaps))
	for _, name := range declared.Spec.State.ConfigMaps {
		all = append(all, naming.State(cluster, name))
	}
	return all
}

// LockOf returns where the primary keeps its lock; nil if the engine does not declare that.
func LockOf(declared *dbv1.DatabaseEngine) *dbv1.EngineLock {
	if !HasRoles(declared) || declared.Spec.State == nil {
		return nil
	}
	return declared.Spec.State.Lock
}

// HidesLock reports whether a member of the engine is the primary, and no other one can be ruled out: the engine does not declare where
// its lock is.
func HidesLock(declared *dbv1.DatabaseEngine) bool {
	return HasRoles(declared) && LockOf(declared) == nil
}

// ConfigurationMap is the name of the ConfigMap in which the members of a cluster keep the configuration that the action configure puts in
// force, and the key of the entry; "" if the engine declares none.
func ConfigurationMap(cluster string, declared *dbv1.DatabaseEngine) (name, key string) {
	if !Configures(declared) || declared.Spec.State == nil || declared.Spec.State.Configuration == nil {
		return "", ""
	}
	entry := declared.Spec.State.Configuration
	return naming.State(cluster, entry.ConfigMap), entry.Key
}

// identify lets the operator create the ServiceAccount of members that call the API server.
func identify(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) {
	if !Identifies(declared) {
		return
	}
	annotations := map[string]string{dbv1.AnnotationRights: naming.Role(cluster.Name)}
	maps.Copy(annotations, cluster.Spec.ServiceAccount.Annotations)
	cluster.Spec.ServiceAccount.Annotations = annotations
}

// withRole adds the label that members may change to the annotations of the pods: see dbv1.AnnotationRoleLabel.
func withRole(annotations map[string]string, roles *dbv1.EngineRoles) map[string]string {
	if roles == nil {
		return annotations
	}
	all := make(map[string]string, len(annotations)+1)
	maps.Copy(all, annotations)
	all[dbv1.AnnotationRoleLabel] = roles.Label
	return all
}

// fieldProblem reports a field of the cluster that an engine with related members does not support.
func fieldProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	switch {
	case Identifies(declared) && cluster.Spec.ServiceAccount.Name != "":
		return fmt.Sprintf("spec.serviceAccount.name is %s, but the members of DatabaseEngine %s need a ServiceAccount with rights of their "+
			"own: remove the field",
			cluster.Spec.ServiceAccount.Name, declared.Name)
	case Related(declared) && cluster.Spec.Storage.Ephemeral != nil && *cluster.Spec.Storage.Ephemeral:
		return fmt.Sprintf("spec.storage.ephemeral is true, but the members of DatabaseEngine %s need volumes: create the cluster again with "+
			"spec.storage.size only",
			declared.Name)
	default:
		return ""
	}
}
