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
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// localhost is the member of a temporary copy: the containers of one pod share it.
const localhost = "localhost"

// environment gives an action its cluster and the addresses of the members, except for variables that the effective
// spec has already.
func (a Action) environment(cluster *dbv1.DatabaseCluster) []*corev1ac.EnvVarApplyConfiguration {
	replicas, members := cluster.Spec.Replicas, hosts(cluster, max(cluster.Spec.Replicas, a.Members))
	if a.Copy != nil {
		replicas, members = 1, []string{localhost}
	}
	all := []*corev1ac.EnvVarApplyConfiguration{
		variable("DBC_CLUSTER", cluster.Name),
		variable("DBC_NAMESPACE", cluster.Namespace),
		variable("DBC_PORT", strconv.Itoa(int(cluster.Spec.Container.Port))),
		variable("DBC_DATA_DIR", cluster.Spec.Container.DataPath),
		variable("DBC_SECRETS_DIR", naming.SecretsPath),
		variable("DBC_REPLICAS", strconv.Itoa(int(replicas))),
		variable("DBC_MEMBERS", strings.Join(members, " ")),
	}
	if a.Member != nil {
		all = append(all, variable("DBC_MEMBER", a.host(cluster)), variable("DBC_ORDINAL", strconv.Itoa(int(*a.Member))))
	}
	if a.Target != nil {
		all = append(all, variable("DBC_TARGET", naming.MemberHost(cluster.Name, *a.Target)))
	}
	if a.Offline {
		all = append(all, variable("DBC_OFFLINE", "true"))
	}
	all = append(all, actionParameters(cluster)...)
	return slices.DeleteFunc(all, func(v *corev1ac.EnvVarApplyConfiguration) bool {
		return slices.ContainsFunc(cluster.Spec.Container.Env, func(set corev1.EnvVar) bool { return set.Name == *v.Name })
	})
}

// actionParameters are the parameters that members do not have, because an action puts them in force: each as a variable, and
// all as a JSON object.
func actionParameters(cluster *dbv1.DatabaseCluster) []*corev1ac.EnvVarApplyConfiguration {
	if inTemplate(cluster) {
		return nil
	}
	all := asEach[corev1ac.EnvVarApplyConfiguration](engine.ParameterVariables(cluster.Spec.Parameters))
	return append(all, variable("DBC_PARAMETERS", strings.ReplaceAll(parametersText(cluster.Spec.Parameters), "$", "$$")))
}

// inTemplate reports whether members have the parameters as variables, so that a change restarts them. An effective spec
// without an engine has none of the operator's variables. With one, no parameters are nil, unless an action puts them in force.
func inTemplate(cluster *dbv1.DatabaseCluster) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(cluster.Spec.Container.Env, func(set corev1.EnvVar) bool { return set.Name == name })
	}
	for name := range cluster.Spec.Parameters {
		return has(engine.Variable(name)) || !has("DBC_PORT")
	}
	return cluster.Spec.Parameters == nil || !has("DBC_PORT")
}

func (a Action) host(cluster *dbv1.DatabaseCluster) string {
	if a.Copy != nil {
		return localhost
	}
	return naming.MemberHost(cluster.Name, *a.Member)
}

// hosts are the addresses of that many members.
func hosts(cluster *dbv1.DatabaseCluster, members int32) []string {
	all := make([]string, 0, members)
	for ordinal := range members {
		all = append(all, naming.MemberHost(cluster.Name, ordinal))
	}
	return all
}

func variable(name, value string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValue(value)
}
