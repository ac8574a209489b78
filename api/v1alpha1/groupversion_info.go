/*
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 is the API of the DatabaseCluster operator, group database.dbcluster.io.
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
		&DatabaseEngine{}, &DatabaseEngineList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
