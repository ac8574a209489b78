/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Target identifies an object in the version that the pass has read, in the namespace of its cluster.
type Target struct {
	Kind, Name string
	UID        types.UID
	Version    string
}

// TargetOf identifies an object of a kind.
func TargetOf(kind string, object metav1.Object) Target {
	return Target{kind, object.GetName(), object.GetUID(), object.GetResourceVersion()}
}

// PodOf identifies the pod of a member.
func PodOf(m state.Member) Target { return Target{"Pod", m.Name, m.UID, m.Version} }

// Claim identifies the claim of a volume.
func Claim(v state.Volume) Target { return Target{"PersistentVolumeClaim", v.Claim, v.UID, v.Version} }

// JobOf identifies a Job.
func JobOf(job jobs.Job) Target { return Target{"Job", job.Name, job.UID, job.Version} }

// groups are the API groups of kinds. Others are in the core group.
var groups = map[string]schema.GroupVersion{
	"DatabaseBackup": dbv1.GroupVersion, naming.CertificateKind.Kind: naming.CertificateKind.GroupVersion(),
	"Job": batchv1.SchemeGroupVersion, "NetworkPolicy": networkingv1.SchemeGroupVersion,
	"Role": rbacv1.SchemeGroupVersion, "RoleBinding": rbacv1.SchemeGroupVersion, "StatefulSet": appsv1.SchemeGroupVersion,
}

// In is the target as an object that has nothing else.
func (t Target) In(namespace string) *unstructured.Unstructured {
	group, found := groups[t.Kind]
	if !found {
		group = corev1.SchemeGroupVersion
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(group.WithKind(t.Kind))
	object.SetNamespace(namespace)
	object.SetName(t.Name)
	object.SetUID(t.UID)
	object.SetResourceVersion(t.Version)
	return object
}
