/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// tokenSeconds is how long a token is valid. The kubelet renews it after four fifths of that time.
const tokenSeconds = 3600

// tokenMode lets the group of the volumes read the token.
const tokenMode = 0o440

// Role lets members report who is the primary and keep their agreement. RBAC bounds get and patch by names; it cannot
// bound list and watch. An admission policy restricts the fields of pods that members may change.
func Role(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) Child {
	rules := []*rbacv1ac.PolicyRuleApplyConfiguration{
		rule("pods").WithVerbs("list", "watch"),
		rule("pods").WithVerbs("get", "patch").WithResourceNames(everyMember(cluster)...),
	}
	if maps := engine.StateConfigMaps(cluster.Name, declared); len(maps) > 0 {
		rules = append(rules, rule("configmaps").WithVerbs("list", "watch"), rule("configmaps").WithVerbs("get", "patch").WithResourceNames(maps...))
	}
	return newChild(rbacv1ac.Role(naming.Role(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithRules(rules...), []string{"rules"})
}

// RoleBinding binds the Role to the ServiceAccount of the members. Both have no owner: see ServiceAccount.
func RoleBinding(cluster *dbv1.DatabaseCluster) Child {
	return newChild(rbacv1ac.RoleBinding(naming.Role(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("Role").WithName(naming.Role(cluster.Name))).
		WithSubjects(rbacv1ac.Subject().WithKind(rbacv1.ServiceAccountKind).
			WithName(naming.ServiceAccount(cluster.Name)).WithNamespace(cluster.Namespace)), []string{"subjects"})
}

func rule(resource string) *rbacv1ac.PolicyRuleApplyConfiguration {
	return rbacv1ac.PolicyRule().WithAPIGroups("").WithResources(resource)
}

// everyMember are the pods that the cluster can have, so that scaling changes no rights.
func everyMember(cluster *dbv1.DatabaseCluster) []string {
	all := make([]string, 0, engine.MaxReplicas)
	for ordinal := range engine.MaxReplicas {
		all = append(all, naming.Member(cluster.Name, ordinal))
	}
	return all
}

// hasRights reports whether the members of an effective cluster call the API server.
func hasRights(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.ServiceAccount.Annotations[dbv1.AnnotationRights] != ""
}

// withToken projects a token into the database container alone: sidecars and Jobs get none.
func withToken(spec *corev1ac.PodSpecApplyConfiguration, database *corev1ac.ContainerApplyConfiguration, cluster *dbv1.DatabaseCluster) {
	if !hasRights(cluster) {
		return
	}
	spec.WithVolumes(corev1ac.Volume().WithName(naming.TokenVolume).WithProjected(corev1ac.ProjectedVolumeSource().
		WithDefaultMode(tokenMode).
		WithSources(
			corev1ac.VolumeProjection().WithServiceAccountToken(corev1ac.ServiceAccountTokenProjection().
				WithExpirationSeconds(tokenSeconds).WithPath(corev1.ServiceAccountTokenKey)),
			corev1ac.VolumeProjection().WithConfigMap(corev1ac.ConfigMapProjection().WithName("kube-root-ca.crt").
				WithItems(corev1ac.KeyToPath().WithKey(corev1.ServiceAccountRootCAKey).WithPath(corev1.ServiceAccountRootCAKey))),
			corev1ac.VolumeProjection().WithDownwardAPI(corev1ac.DownwardAPIProjection().
				WithItems(corev1ac.DownwardAPIVolumeFile().WithPath(corev1.ServiceAccountNamespaceKey).
					WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath("metadata.namespace")))),
		)))
	database.WithVolumeMounts(corev1ac.VolumeMount().WithName(naming.TokenVolume).WithMountPath(naming.TokenPath).WithReadOnly(true))
}
