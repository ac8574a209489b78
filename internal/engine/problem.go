/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Refusal reports a request of the cluster that its engine does not support and how to correct it, with the reason
// for the condition Stalled; "" if there is none. The engine is nil if the cluster names none, or one that does not
// exist.
func Refusal(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, hasMembers bool) (reason, message string) {
	if name := cluster.Spec.Engine; name != "" && declared == nil {
		return missing(name)
	}
	if text := declaredProblem(cluster, declared, hasMembers); text != "" {
		return dbv1.ReasonInvalidEngine, text
	}
	for _, check := range []struct {
		reason string
		of     func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) string
	}{
		{dbv1.ReasonInvalidReplicas, replicasProblem},
		{dbv1.ReasonInvalidParameter, parameterProblem},
		{dbv1.ReasonActionMissing, actionProblem},
		{dbv1.ReasonFieldUnsupported, targetProblem},
		{dbv1.ReasonTLSUnsupported, tlsProblem},
		{dbv1.ReasonFieldUnsupported, fieldProblem},
		{dbv1.ReasonFieldUnsupported, portProblem},
		{dbv1.ReasonFieldUnsupported, metricsPortProblem},
	} {
		if text := check.of(cluster, declared); text != "" {
			return check.reason, text
		}
	}
	if declared != nil && cluster.Spec.Credentials.SecretName == "" && len(declared.Spec.SecretKeys) > 0 && !Generates(cluster, declared) {
		return dbv1.ReasonSecretIncomplete, fmt.Sprintf("spec.credentials.secretName must name a Secret with %s, which DatabaseEngine %s needs",
			keys(neededKeys(cluster, declared)), declared.Name)
	}
	return "", ""
}

// KeyProblem reports keys that the engine needs and that are missing, empty or unusable in the Secret of a cluster; "" if
// there are none. An empty password lets every client in, or none. A key that no operator can generate may be a file.
//
//nolint:revive // each list is one finding about the keys
func KeyProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, have, empty, unusable []string, sizes map[string]int) string {
	if declared == nil {
		return ""
	}
	needed, secret := neededKeys(cluster, declared), cluster.Spec.Credentials.SecretName
	if lacking := except(needed, have); len(lacking) > 0 {
		return fmt.Sprintf("Secret %s in spec.credentials.secretName lacks %s, which DatabaseEngine %s needs: add %s to the Secret",
			secret, keys(lacking), declared.Name, them(lacking))
	}
	if void := except(needed, except(have, empty)); len(void) > 0 {
		return fmt.Sprintf("Secret %s in spec.credentials.secretName has no value for %s, which DatabaseEngine %s needs: set %s in the Secret",
			secret, keys(void), declared.Name, them(void))
	}
	if wrong := except(unusable, except(unusable, passwords(declared))); len(wrong) > 0 {
		return fmt.Sprintf(
			"Secret %s in spec.credentials.secretName has a control character, a second line or invalid UTF-8 in %s: set %s to one line of text",
			secret, keys(wrong), them(wrong))
	}
	for _, key := range declared.Spec.SecretKeys {
		if most := cmp.Or(int(key.MaxBytes), maxSecretBytes); key.Generate != nil && sizes[key.Name] > most {
			return fmt.Sprintf(
				"Secret %s in spec.credentials.secretName has %d bytes in the key %s, but DatabaseEngine %s allows %d: set a shorter value",
				secret, sizes[key.Name], key.Name, declared.Name, most)
		}
	}
	return ""
}

// maxSecretBytes is the default of spec.secretKeys[].maxBytes. Longer values do not fit into a header of HTTP or an environment variable
// everywhere.
const maxSecretBytes = 1024

// except returns the first names without the second ones.
func except(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(others, name) })
}

func them(names []string) string {
	if len(names) == 1 {
		return "it"
	}
	return "them"
}

func keys(names []string) string {
	if len(names) == 1 {
		return "the key " + names[0]
	}
	return "the keys " + strings.Join(names, ", ")
}

// replicasProblem reports a number of members that the engine does not allow.
func replicasProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	if declared == nil {
		return ""
	}
	allowed, replicas := declared.Spec.Replicas, cluster.Spec.Replicas
	// The CRD has the same defaults. Zeros are of an engine that no API server has stored.
	lowest, highest := max(allowed.Min, 1), cmp.Or(allowed.Max, MaxReplicas)
	switch {
	case replicas >= lowest && replicas <= highest && (!allowed.Odd || replicas%2 == 1):
		return ""
	case replicas >= lowest && replicas <= highest:
		return fmt.Sprintf("spec.replicas is %d, but DatabaseEngine %s needs an odd number of members, because they decide by a majority: set "+
			"spec.replicas to %s",
			replicas, declared.Name, odd(replicas, lowest, highest))
	case highest == 1:
		return fmt.Sprintf("spec.replicas is %d, but DatabaseEngine %s runs single databases without replication: set spec.replicas to 1, "+
			"or create a DatabaseCluster for each database", replicas, declared.Name)
	default:
		return fmt.Sprintf("spec.replicas is %d, but DatabaseEngine %s allows %d to %d members: set spec.replicas to a number in this range",
			replicas, declared.Name, lowest, highest)
	}
}

// odd are the nearest odd numbers of members that an engine allows.
func odd(replicas, lowest, highest int32) string {
	var all []string
	for _, n := range []int32{replicas - 1, replicas + 1} {
		if n >= lowest && n <= highest {
			all = append(all, fmt.Sprint(n))
		}
	}
	return strings.Join(all, " or ")
}

// portProblem reports a port that the software of the engine uses itself: the database could not listen on it.
func portProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	if declared == nil || !slices.Contains(declared.Spec.Container.OtherPorts, cluster.Spec.Container.Port) {
		return ""
	}
	return fmt.Sprintf("spec.container.port is %d, which DatabaseEngine %s uses for another purpose: set another port, or remove the field",
		cluster.Spec.Container.Port, declared.Name)
}

func parameterProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	offered := map[string]dbv1.EngineParameter{}
	if declared != nil {
		for _, p := range declared.Spec.Parameters {
			offered[p.Name] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cluster.Spec.Parameters)) {
		parameter, is := offered[name]
		switch {
		case declared == nil:
			return fmt.Sprintf("spec.parameters sets %q, but only an engine has parameters: set spec.engine, or remove the parameter", name)
		case !is && declared.Spec.OtherParameters:
			continue // the action configure reports what the database does not know
		case !is:
			return fmt.Sprintf("spec.parameters sets %q, which DatabaseEngine %s does not offer. It offers %s. Correct or remove the parameter",
				name, declared.Name, names(maps.Keys(offered)))
		}
		value := cluster.Spec.Parameters[name]
		if text := cmp.Or(refused(parameter, value), lockRefused(declared.Spec.Roles, name, value),
			tooLargeFor(cluster, parameter, value)); text != "" {
			return text
		}
	}
	return ""
}

// refused reports why a parameter does not accept a value. The default is valid even if the pattern does not match,
// so that "" can mean "not set".
func refused(parameter dbv1.EngineParameter, value string) string {
	if value == parameter.Default {
		return ""
	}
	if len(parameter.Enum) > 0 && !slices.Contains(parameter.Enum, value) {
		return fmt.Sprintf("spec.parameters[%s] is %q; it must be one of %s", parameter.Name, value, strings.Join(parameter.Enum, ", "))
	}
	if pattern, err := whole(parameter.Pattern); err != nil || parameter.Pattern != "" && !pattern.MatchString(value) {
		return fmt.Sprintf("spec.parameters[%s] is %q; it must match %s", parameter.Name, value, parameter.Pattern)
	}
	return ""
}
