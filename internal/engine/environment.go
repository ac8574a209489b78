/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// VariablePrefix begins the names of the operator's environment variables. Users and engines cannot set such names.
const VariablePrefix = "DBC_"

// environment is the environment of an effective spec: first the operator's variables, to which all others can
// refer, then the engine's, then the cluster's. Of equal names, the last one wins.
//
// Parameters that an action puts in force are not in it: a change of them restarts no pod.
func environment(spec dbv1.DatabaseClusterSpec, declared *dbv1.DatabaseEngine) []corev1.EnvVar {
	all := []corev1.EnvVar{
		{Name: "DBC_PORT", Value: strconv.Itoa(int(spec.Container.Port))},
		{Name: "DBC_DATA_DIR", Value: spec.Container.DataPath},
		{Name: "DBC_SECRETS_DIR", Value: naming.SecretsPath},
	}
	all = append(all, bootstrapVariables(spec.Bootstrap)...)
	all = append(all, tlsVariables(spec.TLS)...)
	if !Configures(declared) {
		all = append(all, ParameterVariables(spec.Parameters)...)
	}
	for _, variable := range declared.Spec.Container.Env {
		if !slices.ContainsFunc(spec.Container.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name }) {
			all = append(all, corev1.EnvVar{Name: variable.Name, Value: variable.Value})
		}
	}
	for _, variable := range spec.Container.Env {
		if !strings.HasPrefix(variable.Name, VariablePrefix) {
			all = append(all, variable)
		}
	}
	return all
}

// ParameterVariables are the variables of parameters.
func ParameterVariables(parameters map[string]string) []corev1.EnvVar {
	all := make([]corev1.EnvVar, 0, len(parameters))
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		all = append(all, corev1.EnvVar{Name: Variable(name), Value: literal(parameters[name])})
	}
	return all
}

func bootstrapVariables(bootstrap *dbv1.ClusterBootstrap) []corev1.EnvVar {
	if bootstrap == nil {
		return nil
	}
	all := []corev1.EnvVar{{Name: "DBC_DATABASE", Value: bootstrap.Database}, {Name: "DBC_OWNER", Value: bootstrap.Owner}}
	return slices.DeleteFunc(all, func(v corev1.EnvVar) bool { return v.Value == "" })
}

// Variable is the environment variable in which members and actions find a parameter.
func Variable(parameter string) string {
	return VariablePrefix + "PARAM_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z':
			return r
		default:
			return '_'
		}
	}, parameter)
}

// literal escapes a value, so that Kubernetes does not expand "$(NAME)" in it.
func literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }
