/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// ActionKind has the properties that all actions of one kind share. The package that builds their Jobs declares it.
type ActionKind struct {
	// Component is a label of the Jobs and their pods.
	Component string
	// Retries is the number of attempts after the first.
	Retries int32
	// Deadline bounds an action, retries included. The cluster is nil if it no longer exists.
	Deadline func(cluster *dbv1.DatabaseCluster) time.Duration
	// Resources of its containers; nil where each action has its own.
	Resources func(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements
	// Supersede selects the Jobs to re-create when their template has changed.
	Supersede Supersede
	// Places is true if its pods create the volumes of members. They are scheduled like the members, which follow their
	// volumes. Other pods ignore the affinity of members to pods: they follow the volume that they mount, if any.
	Places bool
	// Connects is true if its pods may connect to every port of the members: they have the label LabelConnects.
	Connects bool
}

// Supersede selects the Jobs of a kind to re-create when their template has changed. The template of a Job is
// immutable, so a correction of the spec reaches its pods only by a new Job.
type Supersede int

const (
	// SupersedeUnstarted re-creates only Jobs that have not started. The operator never interrupts an action that has
	// run, or may have run.
	SupersedeUnstarted Supersede = iota
	// SupersedeFailed also re-creates Jobs that have failed, or that wait for another attempt after a failed one: none of
	// their pods runs, and the action can start again.
	SupersedeFailed
	// SupersedeRetried re-creates Jobs that wait for another attempt, but none that has failed: its failure is final.
	SupersedeRetried
)

// Policy is how an action of the kind runs for a cluster, which is nil if it no longer exists.
func (k ActionKind) Policy(cluster *dbv1.DatabaseCluster) Policy {
	return Policy{Supersede: k.Supersede, Deadline: k.Deadline(cluster)}
}

// FieldOfResources is the field that sets the resources of a kind of Job, for remedies. Jobs of hooks have their own field.
func (k ActionKind) FieldOfResources(cluster *dbv1.DatabaseCluster) string {
	if cluster != nil && cluster.Spec.Backup != nil && k.Resources != nil {
		return "spec.backup.resources"
	}
	return "spec.helpers.resources"
}

// Within is a deadline that no cluster changes.
func Within(deadline time.Duration) func(*dbv1.DatabaseCluster) time.Duration {
	return func(*dbv1.DatabaseCluster) time.Duration { return deadline }
}

// BackupResources are the resources of Jobs that transfer data or run in many clusters at once.
func BackupResources(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements {
	if cluster.Spec.Backup == nil {
		return corev1.ResourceRequirements{}
	}
	return cluster.Spec.Backup.Resources
}
