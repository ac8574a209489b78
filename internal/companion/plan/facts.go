/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a DatabaseCompanion.
package plan

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// CompanionFacts are what a pass reads about a DatabaseCompanion. An object that is nil does not exist, or has another owner.
type CompanionFacts struct {
	// Cluster is the cluster with the fields of its engine, and Engine that engine.
	Cluster *dbv1.DatabaseCluster
	Engine  *dbv1.DatabaseEngine
	// User is the DatabaseUser that spec names.
	User *dbv1.DatabaseUser
	// Binding is the connection Secret of an application.
	Binding Binding
	// CredentialKeys are the keys in the Secret with the credentials of the cluster. They are read only for a companion that needs some.
	CredentialKeys []string
	// Certificate is the Secret with the certificate of the companion, and Authority the CA of the cluster. They are read only if the
	// companion serves TLS.
	Certificate, Authority state.Certificate
	// At is the time of the pass. Period is the time after which a companion that is blocked reads Secrets again: they are not watched. The
	// status of the cluster or of the user changes with the connection Secret, so no other companion needs it.
	At     time.Time
	Period time.Duration

	Deployment *appsv1.Deployment
	Service    *corev1.Service
	Budget     *policyv1.PodDisruptionBudget
	Policy     *networkingv1.NetworkPolicy
	// OtherBudgets are the PodDisruptionBudgets of others that select pods of the companion.
	OtherBudgets []string
	// Foreign are the kinds of objects with the name of the companion that have another owner.
	Foreign []string
	// Pods are those of the companion, by their names.
	Pods []state.Member
}

// foreign reports whether an object of a kind with the name of the companion has another owner.
func (f CompanionFacts) foreign(kind string) bool { return slices.Contains(f.Foreign, kind) }

// Binding is a connection Secret as it was read. The zero value is one that does not exist.
type Binding struct {
	Name string
	// Keys are its sorted keys, and Content a hash of its values.
	Keys    []string
	Content string
}

// DeploymentFacts are the fields of a Deployment that are read.
func DeploymentFacts(d *appsv1.Deployment) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: state.MetadataFacts(d.ObjectMeta), Spec: d.Spec, Status: appsv1.DeploymentStatus{
		ObservedGeneration: d.Status.ObservedGeneration, Replicas: d.Status.Replicas, UpdatedReplicas: d.Status.UpdatedReplicas,
		ReadyReplicas: d.Status.ReadyReplicas,
	}}
}
