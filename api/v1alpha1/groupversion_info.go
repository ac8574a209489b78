/*
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 is the API of the DatabaseCluster operator, group database.dbcluster.io.
//
// Names that were considered, and stay:
//
//   - spec.engine and spec.cluster of a DatabaseBackup have no suffix Name. Users write them most often, and their values can only be
//     names.
//   - spec.paused and spec.hibernated are two booleans: a cluster can be both.
//   - A backup and a restore end as Completed: they can complete and still be useless. A verification and a hook end as Succeeded: they
//     give a verdict.
//   - actions.probe of an engine asks the database whether it is usable, as a probe of Kubernetes does. The kubelet does not run it.
//   - status.fence of a DatabaseBackup is a fencing token: it shows that no member could write after a certain stop.
//   - unhealthyAfter and period are durations such as 26h, because people think of backups in hours and days. Deadlines are in seconds,
//     with the unit in the name, like activeDeadlineSeconds of a Job.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=database.dbcluster.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "database.dbcluster.io", Version: "v1alpha1"}

	// SchemeGroupVersion is the same, under the name by which generated code knows it.
	SchemeGroupVersion = GroupVersion

	// SchemeBuilder collects the kinds of this package.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme makes a scheme know the kinds of this package.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&DatabaseCluster{}, &DatabaseClusterList{},
		&DatabaseBackup{}, &DatabaseBackupList{},
		&DatabaseEngine{}, &DatabaseEngineList{},
		&DatabaseRestore{}, &DatabaseRestoreList{},
		&Database{}, &DatabaseList{},
		&DatabaseUser{}, &DatabaseUserList{},
		&DatabaseCompanion{}, &DatabaseCompanionList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
