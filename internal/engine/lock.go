/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The default and the maximum of spec.roles.lockSeconds. A file of an engine that no API server has read lacks the default.
const (
	defaultLockSeconds = 30
	maxLockSeconds     = 3600
)

// LockSeconds is how long the lock of a primary lives: the value of the parameter that the engine names, else the time of the engine.
// The parameters are those of a cluster; without them, the default counts.
func LockSeconds(spec dbv1.DatabaseEngineSpec, parameters map[string]string) int32 {
	if spec.Roles == nil {
		return 0
	}
	if parameter, found := lockParameter(spec); found {
		value, set := parameters[parameter.Name]
		if !set {
			value = parameter.Default
		}
		if seconds, valid := ParseLock(value); valid {
			return seconds
		}
	}
	return cmp.Or(spec.Roles.LockSeconds, defaultLockSeconds)
}

// ParseLock reads the lifetime of a lock in seconds.
func ParseLock(value string) (seconds int32, valid bool) {
	number, err := strconv.ParseInt(value, 10, 32)
	return int32(number), err == nil && number >= 1 && number <= maxLockSeconds
}

// HasLockParameter reports whether clusters of the engine can change the lifetime of the lock.
func HasLockParameter(declared *dbv1.DatabaseEngine) bool {
	return HasRoles(declared) && declared.Spec.Roles.LockParameter != ""
}

func lockParameter(spec dbv1.DatabaseEngineSpec) (parameter dbv1.EngineParameter, found bool) {
	i := slices.IndexFunc(spec.Parameters, func(p dbv1.EngineParameter) bool { return p.Name == spec.Roles.LockParameter })
	if i < 0 {
		return parameter, false
	}
	return spec.Parameters[i], true
}

// lockFlaws are mistakes in the parameter with the lifetime of the lock. Without the action configure, members with the previous and the
// new value would run beside each other during a rollout.
func lockFlaws(spec dbv1.DatabaseEngineSpec) []string {
	if spec.Roles == nil || spec.Roles.LockParameter == "" {
		return nil
	}
	var all []string
	parameter, found := lockParameter(spec)
	if !found {
		all = append(all,
			fmt.Sprintf("spec.roles.lockParameter is %q, but spec.parameters does not define that parameter", spec.Roles.LockParameter))
	} else if _, valid := ParseLock(parameter.Default); !valid {
		all = append(all,
			fmt.Sprintf("spec.parameters[%s].default is %q, but spec.roles.lockParameter names the parameter: set a number of seconds, 1 to %d",
				parameter.Name, parameter.Default, maxLockSeconds))
	}
	if spec.Actions.Configure == nil {
		all = append(all, "spec.roles.lockParameter needs the action configure: set lockSeconds instead, or add the action")
	}
	return all
}

// lockRefused reports a value of that parameter that is no lifetime of a lock.
func lockRefused(roles *dbv1.EngineRoles, name, value string) string {
	if _, valid := ParseLock(value); valid || roles == nil || roles.LockParameter != name {
		return ""
	}
	return fmt.Sprintf("spec.parameters[%s] is %q; it must be a number of seconds, 1 to %d", name, value, maxLockSeconds)
}
