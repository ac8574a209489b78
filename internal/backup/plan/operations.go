/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// AddBackupFinalizer adds the operator's finalizer to the backup, before the first Job is created.
type AddBackupFinalizer struct{}

// CreateJob creates a Job that does not exist.
type CreateJob struct {
	Job objects.Child
	// Deletes is true if the Job deletes the backup's data.
	Deletes bool
}

// ApplyPolicy writes the NetworkPolicy of the copies of a verification.
type ApplyPolicy struct {
	firstLive
	Policy objects.Child
	// Live is the policy that exists; nil for none.
	Live *networkingv1.NetworkPolicy
}

// DeletePolicy deletes the NetworkPolicy of the copies of a verification, when none of them runs.
type DeletePolicy struct {
	firstLive
	Name string
}

// StopJob deletes a Job in the foreground: it exists until its pods are deleted.
type StopJob struct {
	Job jobs.Job
}

// DeleteJob deletes a finished Job. Its pods and their volumes are deleted with it.
type DeleteJob struct{ Job jobs.Job }

// FinalizeBackup removes the operator's finalizer from the backup.
type FinalizeBackup struct {
	// Note describes retained data; "" if there is none.
	Note string
}

// firstLive operations prepare the next one, on a live read.
type firstLive struct{}

// Properties of the operation.
func (firstLive) Properties() operation.Properties {
	return operation.Properties{First: true, LiveRead: true}
}

// Properties of the operation.
func (AddBackupFinalizer) Properties() operation.Properties { return operation.First }

// Properties of the operation.
func (StopJob) Properties() operation.Properties { return operation.LastInDeletion }

// Properties of the operation.
func (c CreateJob) Properties() operation.Properties {
	return operation.Properties{Disruptive: true, LiveRead: true, WhileDeleting: c.Deletes}
}

// Properties of the operation.
func (DeleteJob) Properties() operation.Properties {
	return operation.Properties{LiveRead: true, WhileDeleting: true}
}

// Properties of the operation.
func (FinalizeBackup) Properties() operation.Properties {
	return operation.Properties{First: true, LiveRead: true, WhileDeleting: true}
}

func (AddBackupFinalizer) String() string { return "add the finalizer" }
func (c CreateJob) String() string        { return "create " + c.Job.String() }

// corrects reports whether the policy does not exist, or differs.
func (a ApplyPolicy) corrects() bool { return a.Live == nil || a.Policy.Drift(a.Live) != "" }

func (a ApplyPolicy) String() string    { return "apply " + a.Policy.String() }
func (d DeletePolicy) String() string   { return "delete NetworkPolicy " + d.Name }
func (s StopJob) String() string        { return "stop Job " + s.Job.Name }
func (d DeleteJob) String() string      { return "delete Job " + d.Job.Name }
func (f FinalizeBackup) String() string { return "remove the finalizer" }
