/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engine resolves what a cluster leaves to its DatabaseEngine, and to the defaults where it has none.
package engine

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Defaults of what neither the cluster nor its engine says.
const (
	DefaultPort                          int32 = 9000
	DefaultDataPath                            = "/var/lib/database"
	DefaultTerminationGracePeriodSeconds int64 = 120
)

// Resolve is the cluster with all that its engine says where its own spec says nothing. The engine is nil where
// the cluster names none, or one that does not exist. Neither argument is changed.
func Resolve(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) *dbv1.DatabaseCluster {
	resolved := cluster.DeepCopy()
	spec := &resolved.Spec
	if declared != nil {
		fill(spec, declared.Spec.Container)
	}
	grace := DefaultTerminationGracePeriodSeconds
	setDefault(&spec.Port, DefaultPort)
	setDefault(&spec.DataPath, DefaultDataPath)
	setDefault(&spec.TerminationGracePeriodSeconds, &grace)
	return resolved
}

func fill(spec *dbv1.DatabaseClusterSpec, container dbv1.EngineContainer) {
	setDefault(&spec.Port, container.Port)
	setDefault(&spec.DataPath, container.DataPath)
	setDefault(&spec.TerminationGracePeriodSeconds, container.TerminationGracePeriodSeconds)
}

func setDefault[T comparable](field *T, value T) {
	var unset T
	if *field == unset {
		*field = value
	}
}
