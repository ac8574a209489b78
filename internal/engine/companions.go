/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"maps"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Companion is the companion of an engine with a name; nil for none.
func Companion(declared *dbv1.DatabaseEngine, name string) *dbv1.EngineCompanion {
	if declared == nil {
		return nil
	}
	for i := range declared.Spec.Companions {
		if c := &declared.Spec.Companions[i]; c.Name == name {
			return c
		}
	}
	return nil
}

// CompanionParameterProblem reports a value that a companion of an engine does not accept; "" for none.
func CompanionParameterProblem(declared string, c *dbv1.EngineCompanion, given map[string]string) string {
	all := map[string]dbv1.EngineParameter{}
	for _, p := range c.Parameters {
		all[p.Name] = dbv1.EngineParameter{Name: p.Name, Default: p.Default, Pattern: p.Pattern, Enum: p.Enum}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		parameter, is := all[name]
		if !is {
			return fmt.Sprintf("spec.parameters sets %q, which the companion %s of DatabaseEngine %s does not offer. It offers %s. Correct or "+
				"remove the parameter", name, c.Name, declared, names(maps.Keys(all)))
		}
		if text := refused(parameter, given[name]); text != "" {
			return text
		}
	}
	return ""
}

// CompanionProblem is why no cluster can have a companion, with the remedy; "" for none. It affects no cluster without one.
func CompanionProblem(declared *dbv1.DatabaseEngine, c *dbv1.EngineCompanion) string {
	spec, keys := declared.Spec, keyNames(declared.Spec.SecretKeys)
	for _, name := range c.Scripts {
		if spec.Scripts[name] == "" {
			return fmt.Sprintf("spec.companions[%s].scripts names %q, which is not in spec.scripts of DatabaseEngine %s: add the script", c.Name,
				name, declared.Name)
		}
	}
	for _, key := range c.SecretKeys {
		if !slices.Contains(keys, key) {
			return fmt.Sprintf("spec.companions[%s].secretKeys names %q, which is not in spec.secretKeys of DatabaseEngine %s: add the key",
				c.Name, key, declared.Name)
		}
	}
	for _, p := range c.Parameters {
		if _, err := whole(p.Pattern); err != nil {
			return fmt.Sprintf("spec.companions[%s].parameters[%s].pattern of DatabaseEngine %s is not a regular expression (RE2): correct it",
				c.Name, p.Name, declared.Name)
		}
	}
	return ""
}
