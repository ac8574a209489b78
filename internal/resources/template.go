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
	"github.com/dbcluster/databasecluster-operator/internal/memo"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// A newer operator must not restart databases because it would change the pod template. So the operator renders a
// new template only if its inputs have changed. Otherwise it repeats the template of the live StatefulSet, and no
// code depends on how earlier versions rendered it.

// template is the current template if it is still valid, and otherwise a new one.
func template(cluster *dbv1.DatabaseCluster, observed state.Observed) map[string]any {
	standing := standing(cluster, observed)
	if standing == nil {
		return withResources(render(cluster, observed.References), cluster, observed)
	}
	kept := objects.Fields(&standing.Spec.Template)
	unstructured.RemoveNestedField(kept, "metadata", "creationTimestamp")
	return kept
}

// Newer reports whether the current template is still valid although this version would render another.
func Newer(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	standing := standing(cluster, observed)
	if standing == nil {
		return false
	}
	return today(cluster, observed.References,
		standing.Annotations[dbv1.AnnotationRenderedFrom]) != standing.Spec.Template.Annotations[dbv1.AnnotationTemplate]
}

// todays are the hashes of templates by those of their inputs: this version renders the same template from the same inputs.
var todays = memo.New[string, string](16384)

// today is the hash of the template that this version renders.
func today(cluster *dbv1.DatabaseCluster, references []pods.Reference, inputs string) string {
	return todays.Of(inputs, func() string {
		rendered, _, _ := unstructured.NestedString(render(cluster, references), "metadata", "annotations", dbv1.AnnotationTemplate)
		return rendered
	})
}

// standing is the StatefulSet whose template has the current inputs and was not changed by others; nil if there is
// none. While the operator re-creates the StatefulSet, it is the deleted StatefulSet.
func standing(cluster *dbv1.DatabaseCluster, observed state.Observed) *appsv1.StatefulSet {
	set := latest(observed)
	touched := observed.StatefulSet != nil && !objects.Untouched(cluster.Status.StatefulSet, observed.StatefulSet)
	if set == nil || touched || set.Annotations[dbv1.AnnotationRenderedFrom] != renderedFrom(cluster, observed.References) {
		return nil
	}
	return set
}

// latest is the StatefulSet or, if it does not exist, its last known state.
func latest(observed state.Observed) *appsv1.StatefulSet {
	if observed.StatefulSet != nil {
		return observed.StatefulSet
	}
	return observed.PreviousStatefulSet
}

// render builds a template. Its hash leaves out the resources of the database, which can change without a restart.
// It also leaves out the name of the engine: members depend only on its declarations.
func render(cluster *dbv1.DatabaseCluster, references []pods.Reference) map[string]any {
	bare := cluster.DeepCopy()
	bare.Spec.Resources = corev1.ResourceRequirements{}
	made := objects.Fields(pods.Template(cluster, references))
	objects.SetField(made, objects.Hash(objects.Fields(pods.Template(bare, references))), "metadata", "annotations", dbv1.AnnotationTemplate)
	if cluster.Spec.Engine != "" {
		objects.SetField(made, cluster.Spec.Engine, "metadata", "annotations", dbv1.AnnotationEngine)
	}
	return made
}

// withResources records when the resources last changed, next to the fields that the hash covers.
func withResources(made map[string]any, cluster *dbv1.DatabaseCluster, observed state.Observed) map[string]any {
	before := latest(observed)
	if before == nil {
		return made
	}
	recorded := before.Spec.Template.Annotations[dbv1.AnnotationResources]
	if !state.SameResources(before.Spec.Template, cluster.Spec.Resources) {
		recorded = strconv.FormatInt(cluster.Generation, 10) + decidedAt(cluster)
	}
	if recorded != "" {
		objects.SetField(made, recorded, "metadata", "annotations", dbv1.AnnotationResources)
	}
	return made
}

// decidedAt distinguishes decisions about the resources in one generation.
func decidedAt(cluster *dbv1.DatabaseCluster) string {
	if cluster.Spec.AutoResize == nil || cluster.Status.AutoResize == nil {
		return ""
	}
	return "." + strconv.FormatInt(cluster.Status.AutoResize.Time.Unix(), 10)
}

// renderedFrom is a hash of the inputs of a template: the spec without the fields that do not affect pods, the
// annotation by which a user requests a restart, and the contents of the referenced Secrets and ConfigMaps.
//
// An effective spec includes the declarations of the engine. The hash leaves out the operator's own environment
// variables, because they may change between versions.
//
// A field that a later version adds must be omitted from the JSON form while it is not set, and must have no
// default in the CRD. Otherwise that version would render every template again.
func renderedFrom(cluster *dbv1.DatabaseCluster, references []pods.Reference) string {
	spec := pods.ForMembers(cluster).Spec
	spec.NetworkPolicy = dbv1.ClusterNetworkPolicy{}
	spec.Monitoring = nil // the exporter is one of the sidecars
	spec.AutoResize = nil // the resources are those that it decided
	spec.Replicas, spec.Service, spec.Deletion, spec.UpdateStrategy = 0, dbv1.ClusterService{}, dbv1.ClusterDeletion{},
		dbv1.ClusterUpdateStrategy{}
	spec.Disruption = dbv1.ClusterDisruption{}
	spec.Credentials.Rotation = dbv1.ClusterCredentialsRotation{}
	spec.ServiceAccount = dbv1.ClusterServiceAccount{Name: pods.ServiceAccountName(cluster)}
	if pods.HasRights(cluster) {
		spec.ServiceAccount.Annotations = map[string]string{dbv1.AnnotationRights: naming.Role(cluster.Name)}
	}
	if !pods.InTemplate(cluster) {
		spec.Parameters = nil
	}
	spec.Paused, spec.Hibernated, spec.Backup, spec.Bootstrap = false, false, nil, nil
	if spec.TLS != nil { // the issuer and its DNS names do not affect pods
		asks := spec.TLS.ClientCertificates
		if !engine.AsksForCertificates(cluster) {
			asks = ""
		}
		spec.TLS = &dbv1.ClusterTLS{SecretName: spec.TLS.SecretName, Mode: spec.TLS.Mode, ClientCertificates: asks}
	}
	exporter := engine.TakeExporter(&spec)
	spec.Container.Env = slices.DeleteFunc(slices.Clone(spec.Container.Env),
		func(v corev1.EnvVar) bool { return strings.HasPrefix(v.Name, engine.VariablePrefix) })
	if len(spec.Container.VersionCommand) == 0 {
		spec.Helpers = dbv1.ClusterHelpers{}
	}
	if !pods.Ephemeral(cluster) {
		spec.Storage = dbv1.ClusterStorage{}
	}
	inputs := []any{
		&spec, cluster.UID, cluster.Annotations[dbv1.AnnotationUpdate], cluster.Annotations[dbv1.AnnotationRestart],
		pods.ReferencesHash(cluster, references),
	}
	if exporter != nil {
		inputs = append(inputs, exporter, cluster.Spec.Monitoring.Exporter.Resources)
	}
	if volumes := naming.ClaimTemplate(cluster); volumes != naming.DataVolume {
		inputs = append(inputs, volumes)
	}
	return objects.Hash(inputs)
}
