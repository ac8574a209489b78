/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// A newer operator must not restart databases because it would make their pods otherwise. So a template
// is made anew only when what it was made from has changed: as long as that holds, what stands in the live
// StatefulSet is repeated, and no code knows how earlier versions made it.

// template is the standing one where it still holds, and otherwise a new one.
func template(cluster *dbv1.DatabaseCluster, observed state.Observed) map[string]any {
	standing := standing(cluster, observed)
	if standing == nil {
		return withResources(render(cluster, observed.References), cluster, observed)
	}
	kept := toMap(&standing.Spec.Template)
	unstructured.RemoveNestedField(kept, "metadata", "creationTimestamp")
	return kept
}

// Newer tells whether the standing template holds, although it would be made otherwise today.
func Newer(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	standing := standing(cluster, observed)
	if standing == nil {
		return false
	}
	today, _, _ := unstructured.NestedString(render(cluster, observed.References), "metadata", "annotations", dbv1.AnnotationTemplate)
	return today != standing.Spec.Template.Annotations[dbv1.AnnotationTemplate]
}

// standing is the StatefulSet whose template was made from what is wanted now, and which nobody has changed
// since; nil when there is none. Where the StatefulSet is being made anew it is the former one.
func standing(cluster *dbv1.DatabaseCluster, observed state.Observed) *appsv1.StatefulSet {
	set := latest(observed)
	touched := observed.StatefulSet != nil && !untouched(observed.StatefulSet)
	if set == nil || touched || set.Annotations[dbv1.AnnotationRenderedFrom] != renderedFrom(cluster, observed.References) {
		return nil
	}
	return set
}

// latest is the StatefulSet or, while there is none, what it was.
func latest(observed state.Observed) *appsv1.StatefulSet {
	if observed.StatefulSet != nil {
		return observed.StatefulSet
	}
	return observed.PreviousStatefulSet
}

// untouched tells whether the spec is as the operator last wrote it. One that a crash kept from being sealed
// after it was made is still of the first generation.
func untouched(set *appsv1.StatefulSet) bool {
	seal := set.Annotations[dbv1.AnnotationStoredSpec]
	return seal == StoredSpecHash(set) || seal == "" && set.Generation == 1
}

// render makes a template. Its hash leaves out the resources of the database, which can change without a
// restart, and the name of the engine: for members only what that declares is different.
func render(cluster *dbv1.DatabaseCluster, references []state.Reference) map[string]any {
	bare := cluster.DeepCopy()
	bare.Spec.Resources = corev1.ResourceRequirements{}
	made := toMap(podTemplate(cluster, references))
	setField(made, hash(toMap(podTemplate(bare, references))), "metadata", "annotations", dbv1.AnnotationTemplate)
	if cluster.Spec.Engine != "" {
		setField(made, cluster.Spec.Engine, "metadata", "annotations", dbv1.AnnotationEngine)
	}
	return made
}

// withResources notes when the resources last changed, next to what the hash covers.
func withResources(made map[string]any, cluster *dbv1.DatabaseCluster, observed state.Observed) map[string]any {
	before := latest(observed)
	if before == nil {
		return made
	}
	noted := before.Spec.Template.Annotations[dbv1.AnnotationResources]
	if !state.SameResources(before.Spec.Template, cluster.Spec.Resources) {
		noted = strconv.FormatInt(cluster.Generation, 10)
	}
	if noted != "" {
		setField(made, noted, "metadata", "annotations", dbv1.AnnotationResources)
	}
	return made
}

// renderedFrom is a hash of what a template is made from: the spec without the fields that pods do not
// show, what somebody asked for by annotation, and what the Secrets and ConfigMaps hold that it names.
//
// What of an engine an effective spec has is what is declared there; how the operator tells pods of it, by variables
// of its own, is left out: that may become another.
//
// A field that a later version adds must be left out of the JSON form while it is not set, and must have
// no default in the CRD: else every template would be made anew by that version.
func renderedFrom(cluster *dbv1.DatabaseCluster, references []state.Reference) string {
	spec := cluster.Spec.DeepCopy()
	spec.Replicas, spec.Service, spec.Deletion, spec.UpdateStrategy = 0, dbv1.Service{}, dbv1.Deletion{}, dbv1.UpdateStrategy{}
	spec.Paused, spec.Hibernated, spec.Backup, spec.Bootstrap = false, false, nil, nil
	spec.Container.Env = slices.DeleteFunc(spec.Container.Env, func(v corev1.EnvVar) bool { return strings.HasPrefix(v.Name, engine.VariablePrefix) })
	if !ephemeral(cluster) {
		spec.Storage = dbv1.Storage{}
	}
	return hash([]any{
		spec, cluster.UID, cluster.Annotations[dbv1.AnnotationUpdate], cluster.Annotations[dbv1.AnnotationRestart],
		referencesHash(cluster, references),
	})
}
