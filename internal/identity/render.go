/*
SPDX-License-Identifier: Apache-2.0
*/

package identity

import (
	rbacv1 "k8s.io/api/rbac/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Role lets members report who is the primary and keep their agreement. RBAC bounds get and patch by names; it cannot
// bound list and watch. An admission policy restricts the fields of pods that members may change.
func Role(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) objects.Child {
	rules := []*rbacv1ac.PolicyRuleApplyConfiguration{
		rule("pods").WithVerbs("list", "watch"),
		rule("pods").WithVerbs("get", "patch").WithResourceNames(everyMember(cluster)...),
	}
	if maps := engine.StateConfigMaps(cluster.Name, declared); len(maps) > 0 {
		rules = append(rules, rule("configmaps").WithVerbs("list", "watch"),
			rule("configmaps").WithVerbs("get", "patch").WithResourceNames(maps...))
	}
	return objects.New(rbacv1ac.Role(naming.Role(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithRules(rules...), []string{"rules"})
}

// RoleBinding binds the Role to the ServiceAccount of the members. Both have no owner: see ServiceAccount.
func RoleBinding(cluster *dbv1.DatabaseCluster) objects.Child {
	return objects.New(rbacv1ac.RoleBinding(naming.Role(cluster.Name), cluster.Namespace).
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

// ServiceAccount has the annotations of the spec, by which a platform gives the pods an identity. It has no owner: in a
// foreground deletion, Kubernetes would delete it before the Jobs of deletion hooks ran.
func ServiceAccount(cluster *dbv1.DatabaseCluster) objects.Child {
	return objects.New(corev1ac.ServiceAccount(naming.ServiceAccount(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithAnnotations(cluster.Spec.ServiceAccount.Annotations).
		WithAutomountServiceAccountToken(false))
}
