/*
SPDX-License-Identifier: Apache-2.0
*/

// Package state is one snapshot of a cluster: what the operator read, before it decides anything.
package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Observed is everything that one pass read about a cluster. An object that is nil does not exist; a
// read that failed never leads to an Observed.
type Observed struct {
	// At is when it was read.
	At time.Time

	// Engine is the DatabaseEngine that the spec names; nil when it names none, or one that does not exist.
	Engine *dbv1.DatabaseEngine
	// EngineUnreadable is why the operator cannot read that one, in the API server's words; "" when it can.
	EngineUnreadable string

	HeadlessService     *corev1.Service
	Service             *corev1.Service
	PodDisruptionBudget *policyv1.PodDisruptionBudget
	StatefulSet         *appsv1.StatefulSet

	// PreviousStatefulSet is what the StatefulSet was whose members run without one: template and annotations, as its
	// newest revision tells. Read only where there is no StatefulSet.
	PreviousStatefulSet *appsv1.StatefulSet

	// Foreign are objects of somebody else under names that the cluster needs, in the order of reading.
	Foreign []Ref

	// Members are the pods of the cluster, by ordinal.
	Members []Member

	// Bystanders are the other pods that bear the cluster's name, by name.
	Bystanders []Bystander

	// PreviousJobs are those of an earlier cluster of the same name that have not ended and whose pods have volumes of it,
	// by name; read only while such volumes are to be taken over.
	PreviousJobs []string

	// Volumes are the claims of the members' data volumes, by ordinal; those of members that are no more, too.
	Volumes []Volume

	// Configs are the ConfigMaps that the operator made for spec.config, by name.
	Configs []*corev1.ConfigMap

	// Restore is what is there of a restore into the cluster's volumes.
	Restore Restore

	// Image is the operator's own: Jobs take transfer from it.
	Image string

	// References are the Secrets and ConfigMaps that the spec names, in the order of the fields.
	References []Reference

	// Protection is what is in force to protect the cluster; nil where the spec does not ask for it.
	Protection *Protection

	// Backups are the DatabaseBackups of this cluster, by whoever made them; read only where the spec asks for
	// backups.
	Backups []Backup
	// Strangers are DatabaseBackups that no schedule of this cluster is known to have created: each may have a name that
	// one needs. A cached view has those of the cluster alone.
	Strangers []Backup

	// Zones are the time zones that the spec names. One that does not exist has no entry.
	Zones map[string]*time.Location

	// Hooks are the Jobs of deletion hooks by the hook's name; read only while the cluster is being
	// deleted. A hook without an entry has no Job.
	Hooks map[string]Task

	// HookBackups are the DatabaseBackups of deletion hooks by the hook's name, likewise.
	HookBackups map[string]HookBackup

	// Terminating tells that the namespace is being deleted, so that nothing can be made in it. That is known only
	// from a look at the API server itself, while a hook is still to start.
	Terminating bool
}

// Ref names an object in the cluster's namespace.
type Ref struct {
	Kind string
	Name string
	// Leaving tells that it belonged to a former cluster of the same name: Kubernetes removes it.
	Leaving bool
}

// IsStatefulSet tells whether it is a StatefulSet.
func (r Ref) IsStatefulSet() bool { return r.Kind == "StatefulSet" }

// IsLeaving tells whether Kubernetes removes it.
func (r Ref) IsLeaving() bool { return r.Leaving }

// Holds tells whether somebody else's object of that kind and name is in the way.
func (o Observed) Holds(kind, name string) bool {
	return slices.ContainsFunc(o.Foreign, func(f Ref) bool { return f.Kind == kind && f.Name == name })
}

// Only are the elements of a list that a condition holds for.
func Only[T any](all []T, holds func(T) bool) []T {
	var some []T
	for _, one := range all {
		if holds(one) {
			some = append(some, one)
		}
	}
	return some
}

// First is the first element of a list that a condition holds for; found is false when there is none.
func First[T any](all []T, holds func(T) bool) (first T, found bool) {
	if i := slices.IndexFunc(all, holds); i >= 0 {
		return all[i], true
	}
	return first, false
}

// Ready is how many members are ready and not on their way out.
func (o Observed) Ready() int32 {
	return int32(len(Only(o.Members, func(m Member) bool { return m.Serving(o.At) })))
}

// Counted says how many of the members that are wanted are ready, and what is with each of the others.
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
	for ordinal := range min(wanted, replicas) {
		if !seen[ordinal] {
			texts = append(texts, fmt.Sprintf("pod %s-%d does not exist; if this persists, see the events of the StatefulSet", o.StatefulSet.Name, ordinal))
			break // one tells enough: the others are missing for the same reason
		}
	}
	return strings.Join(texts, "; ")
}

// ConvergesIn is how long it takes until another member has been ready for that long; 0 when there is none
// that only time keeps from it.
func (o Observed) ConvergesIn(after time.Duration) time.Duration {
	var soonest time.Duration
	for _, m := range o.Members {
		left := m.settlesIn(o.At, after)
		if m.Ready && !m.Terminating && left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}

// Replicas is how many members the StatefulSet is told to run; known is false without a StatefulSet.
func (o Observed) Replicas() (replicas int32, known bool) {
	if o.StatefulSet == nil || o.StatefulSet.Spec.Replicas == nil {
		return 0, false
	}
	return *o.StatefulSet.Spec.Replicas, true
}

// Revision is the revision that members should have; known is false until the StatefulSet controller
// has seen the StatefulSet as it stands.
func (o Observed) Revision() (revision string, known bool) {
	set := o.StatefulSet
	if set == nil || set.Status.ObservedGeneration < set.Generation || set.Status.UpdateRevision == "" {
		return "", false
	}
	return set.Status.UpdateRevision, true
}

// Outdated are the members that do not run the current template; none while that is not known.
func (o Observed) Outdated() []Member {
	revision, known := o.Revision()
	if !known {
		return nil
	}
	return Only(o.Members, func(m Member) bool { return m.Revision != revision && !o.resized(m) })
}

// resized tells whether a member of another revision runs the current template all the same: the two
// differ only in the resources of the database, and the member was given those while it ran.
func (o Observed) resized(m Member) bool {
	return o.sameTemplate(m) && m.Resources == o.resources() && !m.Resize.Infeasible
}

// Resizable tells whether a member of another revision lacks nothing but its resources, and may be given
// them on the node where it is.
func (o Observed) Resizable(m Member) bool {
	refused := m.Resize.Infeasible && m.Resources == o.resources()
	return o.sameTemplate(m) && !refused
}

func (o Observed) sameTemplate(m Member) bool {
	return m.Template != "" && m.Template == o.Template()
}

// EngineOf is the engine that a member runs; "" where that is not known. A member whose template is like the current one
// is not restarted for another name of its engine.
func (o Observed) EngineOf(m Member) string {
	if o.StatefulSet != nil && o.sameTemplate(m) {
		if engine := o.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationEngine]; engine != "" {
			return engine
		}
	}
	return m.Engine
}

// Resizing says how far the kubelet is with the resources that a member was given; "" when it has done
// what it can.
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

// Template is the operator's hash of the current template; "" without one.
func (o Observed) Template() string {
	if o.StatefulSet == nil {
		return ""
	}
	return o.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationTemplate]
}

// resources are those of the database in the current template.
func (o Observed) resources() string {
	database := databaseContainer(o.StatefulSet.Spec.Template.Spec.Containers)
	if database == nil {
		return ""
	}
	return resourcesText(database.Resources)
}
