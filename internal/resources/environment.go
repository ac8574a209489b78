/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// localhost is the member of a temporary copy: the containers of one pod share it.
const localhost = "localhost"

// environment gives an action its cluster and the addresses of the members, except for variables that the effective
// spec has already.
func (a Action) environment(cluster *dbv1.DatabaseCluster) []*corev1ac.EnvVarApplyConfiguration {
	members := hosts(cluster)
	if a.Copy != nil {
		members = []string{localhost}
	}
	all := []*corev1ac.EnvVarApplyConfiguration{
		variable("DBC_CLUSTER", cluster.Name),
		variable("DBC_NAMESPACE", cluster.Namespace),
		variable("DBC_PORT", strconv.Itoa(int(cluster.Spec.Container.Port))),
		variable("DBC_DATA_DIR", cluster.Spec.Container.DataPath),
		variable("DBC_SECRETS_DIR", naming.SecretsPath),
		variable("DBC_REPLICAS", strconv.Itoa(len(members))),
		variable("DBC_MEMBERS", strings.Join(members, " ")),
	}
	if a.Member != nil {
		all = append(all, variable("DBC_MEMBER", a.host(cluster)), variable("DBC_ORDINAL", strconv.Itoa(int(*a.Member))))
	}
	if a.Offline {
		all = append(all, variable("DBC_OFFLINE", "true"))
	}
	return slices.DeleteFunc(all, func(v *corev1ac.EnvVarApplyConfiguration) bool {
		return slices.ContainsFunc(cluster.Spec.Container.Env, func(set corev1.EnvVar) bool { return set.Name == *v.Name })
	})
}

func (a Action) host(cluster *dbv1.DatabaseCluster) string {
	if a.Copy != nil {
		return localhost
	}
	return naming.MemberHost(cluster.Name, *a.Member)
}

func hosts(cluster *dbv1.DatabaseCluster) []string {
	all := make([]string, 0, cluster.Spec.Replicas)
	for ordinal := range cluster.Spec.Replicas {
		all = append(all, naming.MemberHost(cluster.Name, ordinal))
	}
	return all
}

func variable(name, value string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValue(value)
}
