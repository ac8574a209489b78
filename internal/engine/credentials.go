/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Defaults of generated values.
const (
	defaultLength     int32 = 32
	defaultCharacters       = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// GeneratedKey is a key of a Secret whose value the operator generates.
type GeneratedKey struct {
	Name       string
	Length     int32
	Characters string
}

// Generates reports whether the operator generates the credentials of a cluster: the cluster names no Secret, and the
// engine declares how to generate each key.
func Generates(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) bool {
	return cluster.Spec.Credentials.SecretName == "" && declared != nil && len(declared.Spec.SecretKeys) > 0 &&
		len(passwords(declared)) == len(declared.Spec.SecretKeys)
}

// Lacking are the keys that the operator has to generate, because a Secret does not have them.
func Lacking(declared *dbv1.DatabaseEngine, have []string) []GeneratedKey {
	var all []GeneratedKey
	for _, key := range declared.Spec.SecretKeys {
		if key.Generate != nil && !slices.Contains(have, key.Name) {
			all = append(all, GeneratedKey{
				Name: key.Name, Length: cmp.Or(key.Generate.Length, defaultLength), Characters: cmp.Or(key.Generate.Characters, defaultCharacters),
			})
		}
	}
	return all
}

// passwords are the keys whose values the operator can generate.
func passwords(declared *dbv1.DatabaseEngine) []string {
	return keyNames(slices.DeleteFunc(slices.Clone(declared.Spec.SecretKeys), func(k dbv1.EngineSecretKey) bool { return k.Generate == nil }))
}

func keyNames(all []dbv1.EngineSecretKey) []string {
	names := make([]string, 0, len(all))
	for _, key := range all {
		names = append(names, key.Name)
	}
	return names
}
