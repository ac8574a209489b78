/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupOrigin names the schedule that created a backup.
type BackupOrigin struct {
	// clusterUID is the UID of the DatabaseCluster whose schedule created the backup.
	// +required
	// +kubebuilder:validation:MaxLength=128
	ClusterUID string `json:"clusterUID"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID

	// schedule is the name of the schedule in spec.backup.schedules of the DatabaseCluster.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Schedule string `json:"schedule"`

	// scheduledTime is the time of the schedule that the backup was created for.
	// +required
	ScheduledTime metav1.Time `json:"scheduledTime"`
}
