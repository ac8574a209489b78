/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// prepares are the properties of an operation that prepares the next one, on a live read.
var prepares = operation.Properties{First: true, LiveRead: true}

// create creates a Job that does not exist.
func create(job objects.Child) operation.Create {
	return operation.Create{Work: operation.Work{
		Is: operation.Last, Text: "create " + job.String(), Event: operation.Normal("JobStarted", "CreateJob", "created "+job.String()),
	}, Objects: []objects.Child{job}}
}

// stop deletes a Job in the foreground: it exists until its pods are deleted.
func stop(job jobs.Job) operation.Delete {
	return operation.Delete{
		Work:    operation.Work{Is: operation.LastInDeletion, Text: "stop Job " + job.Name},
		Objects: []operation.Removal{{Target: operation.JobOf(job)}},
	}
}

// remove deletes a finished Job. Its pods and their volumes are deleted with it.
func remove(job jobs.Job) operation.Delete {
	return operation.Delete{
		Work:    operation.Work{Is: operation.Cleanup, Text: "delete Job " + job.Name},
		Objects: []operation.Removal{{Target: operation.JobOf(job)}}, Propagation: metav1.DeletePropagationBackground,
	}
}

// finalize removes the operator's finalizer from the backup, with a note about retained data; "" if there is none.
func finalize(note string) operation.Finalizer {
	is, about := prepares, operation.Event{}
	is.WhileDeleting = true
	if note != "" {
		about = operation.Warning("DataRetained", "Finalize", note)
	}
	return operation.RemoveFinalizer(is, about)
}

// isolate writes the NetworkPolicy of the copies of a verification, unless it is correct.
func (s situation) isolate() (apply operation.Apply, needed bool) {
	policy := s.policy()
	apply, needed = operation.ApplyOf(policy, s.Policy)
	apply.Is, apply.Text = prepares, "apply "+policy.String()
	return apply, needed
}

// expose deletes the NetworkPolicy of the copies of a verification, when none of them runs.
func (s situation) expose() operation.List {
	policy := s.Policy
	if policy == nil || policy.Labels[dbv1.LabelBackupUID] != string(s.backup.UID) {
		return nil
	}
	return operation.List{operation.Delete{
		Work:    operation.Work{Is: prepares, Text: "delete NetworkPolicy " + policy.Name},
		Objects: []operation.Removal{{Target: operation.TargetOf(networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"), policy)}},
	}}
}
