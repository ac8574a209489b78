/*
SPDX-License-Identifier: Apache-2.0
*/

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	// ClaimProtection is the finalizer that keeps a claim while pods use it.
	ClaimProtection = "kubernetes.io/pvc-protection"
	// PodGrace stands for the grace period of a pod. In Kubernetes, a deleted pod stays without a finalizer until its
	// kubelet has stopped it. The fake client has no grace period.
	PodGrace = "sim/grace-period"
)

// admit changes and checks an object as the API server does before it stores one.
func (s *Store) admit(before, after client.Object) error {
	if before == nil {
		after.SetUID(s.uid(Ref(after)))
		after.SetCreationTimestamp(metav1.NewTime(s.clock.Now()))
		protect(after)
		if hasGeneration(after) {
			after.SetGeneration(1)
		}
		return nil
	}
	if before.GetUID() != after.GetUID() {
		return apierrors.NewConflict(s.resource(after), after.GetName(), fmt.Errorf("uid mismatch"))
	}
	after.SetCreationTimestamp(before.GetCreationTimestamp())
	after.SetGeneration(before.GetGeneration())
	if ending := after.GetDeletionTimestamp() != nil && before.GetDeletionTimestamp() == nil; ending {
		after.SetDeletionTimestamp(new(metav1.NewTime(s.clock.Now())))
		s.raise(after)
	}
	if !equality.Semantic.DeepEqual(spec(before), spec(after)) {
		s.raise(after)
	}
	return s.immutable(before, after)
}

// uid returns a unique UID for each object, independent of the order of creation: names contain parts of it.
func (s *Store) uid(ref string) types.UID {
	next := s.NextUID(ref)
	s.made[ref]++
	return next
}

// NextUID is the UID that the next object of a kind and name will have.
func (s *Store) NextUID(ref string) types.UID {
	sum := sha256.Sum256(fmt.Append(nil, ref, s.made[ref]+1))
	return types.UID(hex.EncodeToString(sum[:4]) + "-0000-4000-8000-000000000000")
}

func (s *Store) raise(object client.Object) {
	if hasGeneration(object) {
		object.SetGeneration(object.GetGeneration() + 1)
	}
}

func hasGeneration(object client.Object) bool {
	switch object.(type) {
	case *appsv1.StatefulSet, *policyv1.PodDisruptionBudget, *batchv1.Job, *corev1.Pod:
		return true
	default: // the kinds of the operator
		return reflect.TypeOf(object).Elem().PkgPath() == reflect.TypeFor[dbv1.DatabaseCluster]().PkgPath()
	}
}

func protect(object client.Object) {
	switch object.(type) {
	case *corev1.Pod:
		object.SetFinalizers([]string{PodGrace})
	case *corev1.PersistentVolumeClaim:
		object.SetFinalizers([]string{ClaimProtection})
	}
}

// spec returns the part of an object that determines its generation.
func spec(object client.Object) any {
	value := reflect.ValueOf(object).Elem().FieldByName("Spec")
	if !value.IsValid() {
		return nil
	}
	return value.Interface()
}

// immutable refuses changes of immutable fields as the API server does.
func (s *Store) immutable(before, after client.Object) error {
	var was, is any
	switch now := after.(type) {
	case *appsv1.StatefulSet:
		was, is = fixedOfStatefulSet(before.(*appsv1.StatefulSet)), fixedOfStatefulSet(now)
	case *corev1.PersistentVolumeClaim:
		return s.immutableClaim(before.(*corev1.PersistentVolumeClaim), now)
	case *corev1.Pod:
		if qualityOf(before.(*corev1.Pod)) != qualityOf(now) {
			return s.refuse(after, "metadata", "Pod QoS class cannot change")
		}
		was, is = s.fixedOfPod(before.(*corev1.Pod)), s.fixedOfPod(now)
	case *dbv1.DatabaseBackup:
		was, is = fixedOfBackup(before.(*dbv1.DatabaseBackup)), fixedOfBackup(now)
	case *dbv1.DatabaseRestore:
		of := before.(*dbv1.DatabaseRestore).Spec
		if of.Mode != now.Spec.Mode && now.Spec.Mode == dbv1.RestorePreview {
			return s.refuse(after, "spec", "spec.mode cannot become Preview again")
		}
		of.Mode = now.Spec.Mode
		was, is = of, now.Spec
	case *batchv1.Job:
		was, is = before.(*batchv1.Job).Spec.Template, now.Spec.Template
	case *corev1.ConfigMap:
		if old := before.(*corev1.ConfigMap); old.Immutable != nil && *old.Immutable {
			was, is = old.Data, now.Data
		}
	}
	if equality.Semantic.DeepEqual(was, is) {
		return nil
	}
	return s.refuse(after, "spec", "updates to fields other than those that may change are forbidden")
}

func (s *Store) refuse(object client.Object, path, why string) error {
	return apierrors.NewInvalid(s.kind(object).GroupKind(), object.GetName(), field.ErrorList{field.Forbidden(field.NewPath(path), why)})
}

func fixedOfStatefulSet(set *appsv1.StatefulSet) appsv1.StatefulSetSpec {
	fixed := *set.Spec.DeepCopy()
	fixed.Replicas, fixed.Template, fixed.MinReadySeconds, fixed.Ordinals = nil, corev1.PodTemplateSpec{}, 0, nil
	fixed.UpdateStrategy, fixed.RevisionHistoryLimit, fixed.PersistentVolumeClaimRetentionPolicy = appsv1.StatefulSetUpdateStrategy{}, nil, nil
	return fixed
}

func fixedOfBackup(backup *dbv1.DatabaseBackup) dbv1.DatabaseBackupSpec {
	fixed := *backup.Spec.DeepCopy()
	fixed.DeletionPolicy = ""
	return fixed
}

func (s *Store) fixedOfPod(pod *corev1.Pod) corev1.PodSpec {
	fixed := *pod.Spec.DeepCopy()
	fixed.NodeName = ""
	if s.resizing {
		for i := range fixed.Containers {
			fixed.Containers[i].Resources = corev1.ResourceRequirements{}
		}
	}
	return fixed
}

// qualityOf returns the QoS class of a pod's first container.
func qualityOf(pod *corev1.Pod) corev1.PodQOSClass {
	resources := pod.Spec.Containers[0].Resources
	switch {
	case len(resources.Requests) == 0 && len(resources.Limits) == 0:
		return corev1.PodQOSBestEffort
	case len(resources.Limits) == 2 && equality.Semantic.DeepEqual(resources.Limits, resources.Requests):
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

func (s *Store) immutableClaim(before, after *corev1.PersistentVolumeClaim) error {
	was, is := before.Spec.DeepCopy(), after.Spec.DeepCopy()
	size, wanted := before.Status.Capacity[corev1.ResourceStorage], is.Resources.Requests[corev1.ResourceStorage]
	previous := was.Resources.Requests[corev1.ResourceStorage]
	was.Resources, is.Resources = corev1.VolumeResourceRequirements{}, corev1.VolumeResourceRequirements{}
	was.VolumeName, is.VolumeName = "", ""
	if !equality.Semantic.DeepEqual(was, is) {
		return s.refuse(after, "spec", "spec is immutable after creation except resources.requests")
	}
	if wanted.Cmp(previous) < 0 && wanted.Cmp(size) <= 0 {
		return s.refuse(after, "spec.resources.requests.storage", "field can not be less than status.capacity")
	}
	return nil
}

// HasFinalizer reports whether an object has a finalizer.
func HasFinalizer(object client.Object, finalizer string) bool {
	return slices.Contains(object.GetFinalizers(), finalizer)
}

// WithoutFinalizer removes a finalizer from an object.
func WithoutFinalizer(object client.Object, finalizer string) {
	object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
}

// No other client deletes a claim with this label: config/admission/policies.yaml.
func (s *Store) protected(object client.Object) error {
	if claim, is := object.(*corev1.PersistentVolumeClaim); is && claim.Labels[dbv1.LabelProtected] == "true" {
		return apierrors.NewForbidden(s.resource(object), object.GetName(),
			fmt.Errorf("the PersistentVolumeClaim contains the data of a protected DatabaseCluster"))
	}
	return nil
}
