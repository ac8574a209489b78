/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"

	"encoding/json"
	"fmt"
)

// InTemplate reports whether members have the parameters as variables, so that a change restarts them. An effective spec
// without an engine has none of the operator's variables. With one, no parameters are nil, unless an action puts them in force.
func InTemplate(cluster *dbv1.DatabaseCluster) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(cluster.Spec.Container.Env, func(set corev1.EnvVar) bool { return set.Name == name })
	}
	for name := range cluster.Spec.Parameters {
		return has(engine.Variable(name)) || !has("DBC_PORT")
	}
	return cluster.Spec.Parameters == nil || !has("DBC_PORT")
}

// Hosts are the addresses of that many members.
func Hosts(cluster *dbv1.DatabaseCluster, members int32) []string {
	all := make([]string, 0, members)
	for ordinal := range members {
		all = append(all, naming.MemberHost(cluster.Name, ordinal))
	}
	return all
}

// Variable is an environment variable.
func Variable(name, value string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValue(value)
}

// ParametersText is the JSON form of parameters.
func ParametersText(parameters map[string]string) string {
	text, err := json.Marshal(parameters)
	if err != nil {
		panic(fmt.Sprintf("parameters do not marshal: %v", err))
	}
	return string(text)
}
