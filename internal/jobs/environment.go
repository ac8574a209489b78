/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// localhost is the member of a temporary copy: the containers of one pod share it.
const localhost = "localhost"

// environment gives an action its cluster and the addresses of the members, except for variables that the effective
// spec has already.
func (a Spec) environment(cluster *dbv1.DatabaseCluster) []*corev1ac.EnvVarApplyConfiguration {
	replicas, members := cluster.Spec.Replicas, pods.Hosts(cluster, max(cluster.Spec.Replicas, a.Members))
	if a.Copy != nil {
		replicas, members = 1, []string{localhost}
	}
	all := []*corev1ac.EnvVarApplyConfiguration{
		pods.Variable("DBC_CLUSTER", cluster.Name),
		pods.Variable("DBC_NAMESPACE", cluster.Namespace),
		pods.Variable("DBC_PORT", strconv.Itoa(int(cluster.Spec.Container.Port))),
		pods.Variable("DBC_DATA_DIR", cluster.Spec.Container.DataPath),
		pods.Variable("DBC_SECRETS_DIR", naming.SecretsPath),
		pods.Variable("DBC_REPLICAS", strconv.Itoa(int(replicas))),
		pods.Variable("DBC_MEMBERS", strings.Join(members, " ")),
	}
	if a.Member != nil {
		all = append(all, pods.Variable("DBC_MEMBER", a.host(cluster)), pods.Variable("DBC_ORDINAL", strconv.Itoa(int(*a.Member))))
	}
	all = append(all, a.Variables...)
	if engine.Archives(cluster.Spec) {
		all = append(all, pods.Variable("DBC_ARCHIVE", "true"))
	}
	if a.Offline {
		all = append(all, pods.Variable("DBC_OFFLINE", "true"))
	}
	all = append(all, actionParameters(cluster)...)
	return slices.DeleteFunc(all, func(v *corev1ac.EnvVarApplyConfiguration) bool {
		return slices.ContainsFunc(cluster.Spec.Container.Env, func(set corev1.EnvVar) bool { return set.Name == *v.Name })
	})
}

// actionParameters are the parameters that members do not have, because an action puts them in force: each as a variable, and
// all as a JSON object.
func actionParameters(cluster *dbv1.DatabaseCluster) []*corev1ac.EnvVarApplyConfiguration {
	if pods.InTemplate(cluster) {
		return nil
	}
	all := objects.AsEach[corev1ac.EnvVarApplyConfiguration](engine.ParameterVariables(cluster.Spec.Parameters))
	return append(all, pods.Variable("DBC_PARAMETERS", strings.ReplaceAll(pods.ParametersText(cluster.Spec.Parameters), "$", "$$")))
}

func (a Spec) host(cluster *dbv1.DatabaseCluster) string {
	if a.Copy != nil {
		return localhost
	}
	return naming.MemberHost(cluster.Name, *a.Member)
}
