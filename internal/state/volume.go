/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Volume is what the operator uses of the claim of a member's data volume, and all that it uses.
type Volume struct {
	Claim   string
	UID     types.UID
	Ordinal int32
	// Contents is whose data the volume holds.
	Contents
	// Requested is the size that the claim asks for, Capacity the one that the volume has; zero while it is
	// not bound.
	Requested, Capacity resource.Quantity
	// Terminating tells that the claim is being deleted; its name is not free yet.
	Terminating bool
	// Infeasible tells that the volume cannot get the size that the claim asks for.
	Infeasible bool
	// Resizing says how far a growth is, in the words of whoever does it; "" when nothing is known.
	Resizing string
	// Protected tells that the claim bears the label by which the API server refuses to delete it.
	Protected bool
	// Managed tells that the claim bears the operator's label.
	Managed bool
	// Unwatched tells that the claim lacks the labels by which the operator would hear of its changes.
	Unwatched bool
	// Version is the claim's resourceVersion, for the precondition of its growth. No decision reads it.
	Version string
}

// Facts is the volume without what no decision reads.
func (v Volume) Facts() Volume {
	v.Version = ""
	return v
}

// Usable tells whether the operator may write on the claim: it has the label by which the operator sees it change.
func (v Volume) Usable() bool { return v.Managed && !v.Unwatched }

// infeasible are the states of a growth that will not come about.
var infeasible = []corev1.ClaimResourceStatus{
	corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInfeasible,
}

// VolumeOf reads a Volume from its claim.
func VolumeOf(claim *corev1.PersistentVolumeClaim, ordinal int32) Volume {
	return Volume{
		Claim:       claim.Name,
		UID:         claim.UID,
		Ordinal:     ordinal,
		Contents:    ContentsOf(claim),
		Requested:   claim.Spec.Resources.Requests[corev1.ResourceStorage],
		Capacity:    claim.Status.Capacity[corev1.ResourceStorage],
		Terminating: claim.DeletionTimestamp != nil,
		Infeasible:  slices.Contains(infeasible, claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]),
		Resizing:    resizing(claim),
		Protected:   claim.Labels[dbv1.LabelProtected] == "true",
		Managed:     claim.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue,
		Version:     claim.ResourceVersion,
	}
}

// resizing is what the last of the claim's conditions about a growth says: an error before what waits for it.
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

// IsFilling tells whether the volume holds a part of a backup and nothing else.
func (v Volume) IsFilling() bool { return v.Fill == Filling }

// IsPlain tells whether the volume was created without a restore: by a StatefulSet, so that there were members before.
func (v Volume) IsPlain() bool { return v.Fill == Plain }
