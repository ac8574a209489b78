/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Target identifies an object in the version that the pass has read, in the namespace of its cluster.
type Target struct {
	Kind    schema.GroupVersionKind
	Name    string
	UID     types.UID
	Version string
}

// TargetOf identifies an object of a kind.
func TargetOf(kind schema.GroupVersionKind, object metav1.Object) Target {
	return Target{kind, object.GetName(), object.GetUID(), object.GetResourceVersion()}
}

// Core is a kind of the core group.
func Core(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }

// PodOf identifies the pod of a member.
func PodOf(m state.Member) Target { return Target{Core("Pod"), m.Name, m.UID, m.Version} }

// Claim identifies the claim of a volume.
func Claim(v state.Volume) Target {
	return Target{Core("PersistentVolumeClaim"), v.Claim, v.UID, v.Version}
}

// JobOf identifies a Job.
func JobOf(job jobs.Job) Target {
	return Target{batchv1.SchemeGroupVersion.WithKind("Job"), job.Name, job.UID, job.Version}
}

// In is the target as an object that has nothing else.
func (t Target) In(namespace string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(t.Kind)
	object.SetNamespace(namespace)
	object.SetName(t.Name)
	object.SetUID(t.UID)
	object.SetResourceVersion(t.Version)
	return object
}
