/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Volume is the part of a data volume's claim that decisions use.
type Volume struct {
	Claim   string
	UID     types.UID
	Ordinal int32
	Created metav1.Time
	// Contents is the owner and the source of the data.
	Contents
	// Requested is the size in the claim's spec, Capacity the actual size of the volume; zero while it is not bound.
	Requested, Capacity resource.Quantity
	// Terminating is true if the claim is being deleted; its name is still in use.
	Terminating bool
	// Infeasible is true if the volume cannot get the requested size.
	Infeasible bool
	// Resizing is the progress of an expansion, in the words of its controller; "" if it is unknown.
	Resizing string
	// StorageClass is the StorageClass of the volume; "" for none.
	StorageClass string
	// Class is the VolumeAttributesClass in the claim's spec, CurrentClass that of the volume; "" for none.
	Class, CurrentClass string
	// Unmodifiable is true if the volume cannot get the attributes of Class.
	Unmodifiable bool
	// Modifying is the progress of that change, in the words of its controller; "" if it is unknown.
	Modifying string
	// Protected is true if the claim has the label that makes the API server refuse its deletion.
	Protected bool
	// Managed is true if the claim has the operator's label.
	Managed bool
	// Copied is true if the claim names a source of its data, such as a VolumeSnapshot. A StatefulSet creates no such claim.
	Copied bool
	// Unwatched is true if the claim lacks the labels of the operator's watch.
	Unwatched bool
	// Version is the claim's resourceVersion, for the precondition of its expansion. No decision uses it.
	Version string
}

// Facts returns the volume without fields that no decision uses.
func (v Volume) Facts() Volume {
	v.Version = ""
	return v
}

// Usable reports whether the operator may change the claim: it has the labels of the operator's watch.
func (v Volume) Usable() bool { return v.Managed && !v.Unwatched }

// infeasible are the states of an expansion that cannot succeed.
var infeasible = []corev1.ClaimResourceStatus{
	corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInfeasible,
}

// VolumeOf returns the Volume of a claim.
func VolumeOf(claim *corev1.PersistentVolumeClaim, ordinal int32) Volume {
	class := ""
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	return (Volume{
		StorageClass: class,
		Claim:        claim.Name,
		UID:          claim.UID,
		Ordinal:      ordinal,
		Created:      claim.CreationTimestamp,
		Contents:     ContentsOf(claim),
		Requested:    claim.Spec.Resources.Requests[corev1.ResourceStorage],
		Capacity:     claim.Status.Capacity[corev1.ResourceStorage],
		Terminating:  claim.DeletionTimestamp != nil,
		Infeasible:   slices.Contains(infeasible, claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]),
		Resizing:     resizing(claim),
		Protected:    claim.Labels[dbv1.LabelProtected] == "true",
		Managed:      claim.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue,
		Copied:       claim.Spec.DataSource != nil || claim.Spec.DataSourceRef != nil,
		Version:      claim.ResourceVersion,
	}).withModification(claim)
}

// resizing returns the message of the claim's resize conditions: an error before a pending file system resize.
func resizing(claim *corev1.PersistentVolumeClaim) string {
	said := map[corev1.PersistentVolumeClaimConditionType]string{}
	for _, c := range claim.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			said[c.Type] = c.Message
		}
	}
	for _, kind := range []corev1.PersistentVolumeClaimConditionType{
		corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError,
	} {
		if message, found := said[kind]; found {
			return message
		}
	}
	if _, waits := said[corev1.PersistentVolumeClaimFileSystemResizePending]; waits {
		return "waiting for the kubelet to expand the file system"
	}
	return ""
}

// IsFilling reports whether the volume contains only part of a backup.
func (v Volume) IsFilling() bool { return v.Fill == Filling }

// IsPlain reports whether the volume was created without a restore: a StatefulSet created it, so members existed before.
func (v Volume) IsPlain() bool { return v.Fill == Plain }
