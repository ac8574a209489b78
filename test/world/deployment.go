/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// templateHash is an annotation of pods with the hash of their template.
const templateHash = "template"

// runDeployments is the Deployment controller, for the strategy Recreate: a pod of a template starts when no pod of another one exists.
func (w *World) runDeployments() {
	for _, deployment := range store.All[*appsv1.Deployment](w.Store) {
		if w.delays() || deployment.DeletionTimestamp != nil || w.Store.Terminating == deployment.Namespace {
			continue
		}
		w.runDeployment(deployment)
	}
}

func (w *World) runDeployment(deployment *appsv1.Deployment) {
	hash := objects.Hash(deployment.Spec.Template)
	pods := slices.DeleteFunc(store.All[*corev1.Pod](w.Store), func(pod *corev1.Pod) bool { return !metav1.IsControlledBy(pod, deployment) })
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && (*deployment.Spec.Replicas == 0 || pod.Annotations[templateHash] != hash) {
			w.journal.add(w.by, "stops pod "+pod.Name)
			w.end(pod)
		}
	}
	if len(pods) > 0 || *deployment.Spec.Replicas == 0 {
		return
	}
	pod := &corev1.Pod{ObjectMeta: *deployment.Spec.Template.ObjectMeta.DeepCopy(), Spec: *deployment.Spec.Template.Spec.DeepCopy()}
	name := objects.Hash([]any{deployment.UID, hash}) // the pod of a previous Deployment of the same name may still terminate
	pod.Namespace, pod.Name = deployment.Namespace, deployment.Name+"-"+name[:8]
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, templateHash, hash)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	w.Store.Put(pod)
	w.journal.add(w.by, "creates pod "+pod.Name)
}
