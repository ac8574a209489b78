/*
SPDX-License-Identifier: Apache-2.0
*/

// Package state is a snapshot of a cluster: all that the operator read before it decides.
package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// Observed is all that a pass read about a cluster. An object that is nil does not exist; a failed read never results in an
// Observed.
type Observed struct {
	// At is when it was read. Uptime is the same moment, for records of how long something lasts.
	At     time.Time
	Uptime Uptime

	// Engine is the DatabaseEngine in force: the one that the spec names, or the one of Change; nil if there is none, or if it does
	// not exist.
	Engine *dbv1.DatabaseEngine
	// Change is the refused change of spec.engine, during which the engine of the data stays in force; nil if there is none.
	Change *engine.RefusedChange
	// EngineUnreadable is the error of the API server if the operator cannot read the DatabaseEngine; otherwise "".
	EngineUnreadable string

	HeadlessService *corev1.Service
	Service         *corev1.Service
	// ReplicasService is that of an engine with roles. Companions leads actions to the companions whose clients can be paused.
	ReplicasService, Companions *corev1.Service
	PodDisruptionBudget         *policyv1.PodDisruptionBudget
	// PrimaryBudget is the budget of the primary alone, which exists only while a node is drained.
	PrimaryBudget *policyv1.PodDisruptionBudget
	// NodesUnread is true if the operator may not list nodes: then Leaves of all members is unknown.
	NodesUnread bool
	// OtherBudgets are the PodDisruptionBudgets of others that select members, by name.
	OtherBudgets  []string
	NetworkPolicy *networkingv1.NetworkPolicy
	StatefulSet   *appsv1.StatefulSet
	// ServiceAccount is the one that the operator created for this cluster, or for a previous one of the same name.
	ServiceAccount *corev1.ServiceAccount
	// Role and RoleBinding are the rights of that ServiceAccount, of an engine whose members call the API server.
	Role        *rbacv1.Role
	RoleBinding *rbacv1.RoleBinding
	// Agreements are the ConfigMaps in which members keep their agreement, by name. They are read only if AgreementsRead is
	// true: before members start, in a deletion, and while members cannot agree.
	Agreements     []Agreement
	AgreementsRead bool
	// Kept is the ConfigMap in which running members keep their configuration; nil if it is unknown.
	Kept *corev1.ConfigMap
	// KeptAt is when a client last wrote it, by the clock of the API server; zero if that is unknown. It is read only when a Job has put the
	// configuration in force.
	KeptAt time.Time
	// Jobs are the Jobs of actions on members, by name: hand-overs, removals of members, and configurations.
	Jobs []jobs.Job

	// PreviousStatefulSet is the deleted StatefulSet of members that run without one: template and annotations, from its newest
	// revision. It is read only if there is no StatefulSet.
	PreviousStatefulSet *appsv1.StatefulSet

	// Foreign are objects of other owners that have names that the cluster needs, in the order of reading.
	Foreign []Ref

	// Members are the pods of the cluster, by ordinal.
	Members []Member

	// Bystanders are the other pods with the cluster's labels, by name.
	Bystanders []Bystander

	// PreviousJobs are unfinished Jobs of a previous cluster of the same name whose pods use its volumes, by name. They are read
	// only while such volumes are to be adopted.
	PreviousJobs []string

	// Volumes are the claims of the members' data volumes, by ordinal, including those of removed members.
	Volumes []Volume

	// ClaimTemplates are the volumeClaimTemplates of all claims with the labels of the cluster: see Observed.WithVolumes.
	ClaimTemplates []string
	// Retained are those that DatabaseRestores of a previous cluster of the same name retain, although it did not use them.
	Retained []string

	// Configs are the ConfigMaps that the operator created for spec.config, by name.
	Configs []*corev1.ConfigMap

	// Restore is the observed state of a restore into the cluster's volumes.
	Restore ObservedRestore

	// Replacement is what a DatabaseRestore asks the cluster for; nil for nothing, and in a deletion.
	Replacement *Replacement

	// Image is the operator's image: Jobs copy the transfer program from it.
	Image string

	// NoAttributesClasses is true if the spec names a VolumeAttributesClass, and the API server does not serve any.
	NoAttributesClasses bool

	// References are the Secrets, the ConfigMaps and the ServiceAccount that the spec names.
	References []pods.Reference
	// Credentials is the Secret with the credentials of the cluster; in a deletion, the one with the name of generated credentials.
	Credentials Credentials
	// RotatedMembers is the Readiness of the members that were ready when the Job of the rotation was created.
	RotatedMembers []string
	// Rotation is the Job of the rotation in progress; RotationStarted is false if it does not exist.
	Rotation        jobs.Job
	RotationStarted bool
	// Connection is the connection Secret; nil if it does not exist.
	Connection *corev1.Secret

	// TLS is the state of the certificate.
	TLS TLS

	// Backups are the DatabaseBackups of this cluster, by any creator. They are read only if the spec asks for backups.
	Backups []Backup
	// Sources are what clusters of the namespace, or this one, are about to restore. They are read with Backups.
	Sources []dbv1.BackupSource
	// Facts are what subjects have read for themselves.
	Facts factsBySubject

	// Hooks are the Jobs of deletion hooks by the hook's name. They are read only while the cluster is being deleted. A hook
	// without an entry has no Job.
	Hooks map[string]jobs.Job

	// HookBackups are the DatabaseBackups of deletion hooks by the hook's name. They are read only then, too.
	HookBackups map[string]HookBackup

	// Terminating is true if the namespace is being deleted, so the operator cannot create objects in it. The operator reads this
	// only from the API server, while a hook is not started yet.
	Terminating bool
}

// Ref names an object in the cluster's namespace.
type Ref struct {
	Kind string
	Name string
	// Remedy is a way to need no object of that name; "" for none.
	Remedy string
	// OfPreviousCluster is true if it belonged to a previous cluster of the same name: Kubernetes is about to delete it.
	OfPreviousCluster bool
}

// IsStatefulSet reports whether it is a StatefulSet.
func (r Ref) IsStatefulSet() bool { return r.Kind == "StatefulSet" }

// IsOfPreviousCluster reports whether Kubernetes is about to delete it.
func (r Ref) IsOfPreviousCluster() bool { return r.OfPreviousCluster }

// OwnedByAnother reports whether another owner has an object of that kind and name.
func (o Observed) OwnedByAnother(kind, name string) bool {
	return slices.ContainsFunc(o.Foreign, func(f Ref) bool { return f.Kind == kind && f.Name == name })
}

// Only returns the elements of a list that satisfy a condition.
func Only[T any](all []T, holds func(T) bool) []T {
	var some []T
	for _, one := range all {
		if holds(one) {
			some = append(some, one)
		}
	}
	return some
}

// First returns the first element of a list that satisfies a condition; found is false if there is none.
func First[T any](all []T, holds func(T) bool) (first T, found bool) {
	if i := slices.IndexFunc(all, holds); i >= 0 {
		return all[i], true
	}
	return first, false
}

// Ready returns how many members are ready and not terminating.
func (o Observed) Ready() int32 {
	return int32(len(Only(o.Members, func(m Member) bool { return m.Serving(o.At) })))
}

// Counted describes how many desired members are ready, and the state of each other member.
func (o Observed) Counted(wanted int32) string {
	texts := []string{fmt.Sprintf("%d of %d members are ready", o.Ready(), wanted)}
	seen := map[int32]bool{}
	for _, m := range o.Members {
		seen[m.Ordinal] = true
		switch {
		case m.Terminating:
			texts = append(texts, fmt.Sprintf("pod %s is terminating", m.Name))
		case !m.Serving(o.At):
			texts = append(texts, fmt.Sprintf("pod %s is not ready", m.Name))
		}
	}
	replicas, _ := o.Replicas()
	for ordinal := o.Start(); ordinal < o.Start()+min(wanted, replicas); ordinal++ {
		if !seen[ordinal] {
			texts = append(texts,
				fmt.Sprintf("pod %s-%d does not exist; if this persists, see the events of the StatefulSet", o.StatefulSet.Name, ordinal))
			break // one is enough: the others are missing for the same reason
		}
	}
	return strings.Join(texts, "; ")
}

// Replicas returns the replicas in the spec of the StatefulSet; known is false without a StatefulSet.
func (o Observed) Replicas() (replicas int32, known bool) {
	if o.StatefulSet == nil || o.StatefulSet.Spec.Replicas == nil {
		return 0, false
	}
	return *o.StatefulSet.Spec.Replicas, true
}

// Revision returns the revision that members should have; known is false until the StatefulSet controller has observed the latest
// StatefulSet.
func (o Observed) Revision() (revision string, known bool) {
	set := o.StatefulSet
	if set == nil || set.Status.ObservedGeneration < set.Generation || set.Status.UpdateRevision == "" {
		return "", false
	}
	return set.Status.UpdateRevision, true
}

// Outdated returns the members that do not run the current template; none while it is unknown.
func (o Observed) Outdated() []Member {
	revision, known := o.Revision()
	if !known {
		return nil
	}
	return Only(o.Members, func(m Member) bool { return m.Revision != revision && !o.resized(m) })
}

// resized reports whether a member of another revision runs the current template: the templates differ only in the resources of the
// database, and the member was resized in place.
func (o Observed) resized(m Member) bool {
	return o.sameTemplate(m) && m.Resources == o.resources() && !m.Resize.Infeasible
}

// Resizable reports whether a member of another revision differs only in its resources, and may be resized in place on its node. The
// kubelet or the API server may have refused that: then the member has to restart.
func (o Observed) Resizable(m Member) bool {
	revision, known := o.Revision()
	infeasible := m.Resize.Infeasible && m.Resources == o.resources()
	return o.sameTemplate(m) && !infeasible && (!known || m.Refused != revision)
}

func (o Observed) sameTemplate(m Member) bool {
	return m.Template != "" && m.Template == o.Template()
}

// EngineOf returns the engine of a member; "" if it is unknown. If the template is the current one, a different name of the engine
// causes no restart.
func (o Observed) EngineOf(m Member) string {
	if o.StatefulSet != nil && o.sameTemplate(m) {
		if engine := o.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationEngine]; engine != "" {
			return engine
		}
	}
	return m.Engine
}

// Resizing describes the progress of a member's in-place resize; "" if the kubelet can do no more.
func (o Observed) Resizing(m Member) string {
	revision, _ := o.Revision()
	switch {
	case m.Resize.Infeasible:
		return ""
	case m.Resize.Pending:
		return m.Resize.Message
	case m.Resize.Unseen && m.Revision != revision:
		return "the kubelet has not responded yet"
	default:
		return ""
	}
}

// Template returns the operator's hash of the current template; "" without one.
func (o Observed) Template() string {
	if o.StatefulSet == nil {
		return ""
	}
	return o.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationTemplate]
}

// resources returns the resources of the database in the current template.
func (o Observed) resources() string {
	database := databaseContainer(o.StatefulSet.Spec.Template.Spec.Containers)
	if database == nil {
		return ""
	}
	return resourcesText(database.Resources)
}
