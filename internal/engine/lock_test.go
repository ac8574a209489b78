/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// tunable is an engine whose clusters can change the lifetime of the lock.
func tunable(value string) *dbv1.DatabaseEngine {
	e := replicated()
	e.Spec.Parameters = append(e.Spec.Parameters, dbv1.EngineParameter{Name: "ttl", Default: value})
	e.Spec.Roles.LockParameter, e.Spec.Roles.LockSeconds = "ttl", 0
	e.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
	return e
}

func timeless() *dbv1.DatabaseEngine {
	e := replicated()
	e.Spec.Roles.LockSeconds = 0
	return e
}

func TestTheLifetimeOfTheLockIsTheParameterThatTheEngineNames(t *testing.T) {
	for name, c := range map[string]struct {
		engine     *dbv1.DatabaseEngine
		parameters map[string]string
		want       int32
	}{
		"no roles":                          {consenting(), nil, 0},
		"no parameter":                      {replicated(), map[string]string{"ttl": "120"}, 30},
		"nothing":                           {timeless(), nil, 30},
		"the default":                       {tunable("40"), nil, 40},
		"a value of the cluster":            {tunable("40"), map[string]string{"ttl": "120"}, 120},
		"the longest":                       {tunable("40"), map[string]string{"ttl": "3600"}, 3600},
		"a value that the operator refuses": {tunable("40"), map[string]string{"ttl": "3601"}, 30},
	} {
		if got := LockSeconds(c.engine.Spec, c.parameters); got != c.want {
			t.Errorf("%s: %d s, want %d", name, got, c.want)
		}
	}
}

func TestAParameterForTheLockMustBeANumberOfSecondsThatConfigureChanges(t *testing.T) {
	without := tunable("40")
	without.Spec.Actions.Configure = nil
	unknown := tunable("40")
	unknown.Spec.Roles.LockParameter = "lifetime"
	for name, c := range map[string]struct {
		engine *dbv1.DatabaseEngine
		want   string
	}{
		"a number":               {tunable("40"), ""},
		"no default":             {tunable(""), `spec.parameters[ttl].default is "", but spec.roles.lockParameter names the parameter: set a number of seconds, 1 to 3600`},
		"a default with a unit":  {tunable("40s"), `spec.parameters[ttl].default is "40s"`},
		"a default of 0":         {tunable("0"), `spec.parameters[ttl].default is "0"`},
		"no such parameter":      {unknown, `spec.roles.lockParameter is "lifetime", but spec.parameters does not define that parameter`},
		"no action configure":    {without, "spec.roles.lockParameter needs the action configure"},
		"no parameter, no roles": {consenting(), ""},
	} {
		if got := strings.Join(lockFlaws(c.engine.Spec), "; "); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if flaws := strings.Join(Flaws(c.engine.Spec), "; "); c.want != "" && !strings.Contains(flaws, c.want) {
			t.Errorf("%s: Accepted does not report it: %q", name, flaws)
		}
	}
}

func TestALifetimeOfTheLockThatIsNoNumberOfSecondsIsRefused(t *testing.T) {
	cluster := orders()
	for value, want := range map[string]string{
		"120": "", "1": "", "3600": "", "0": "1 to 3600", "3601": "1 to 3600", "2m": "1 to 3600", "-5": "1 to 3600", "": "1 to 3600",
	} {
		cluster.Spec.Parameters = map[string]string{"ttl": value}
		reason, message := Refusal(cluster, tunable("40"), true)
		if want == "" && reason != "" || want != "" && (reason != dbv1.ReasonInvalidParameter || !strings.Contains(message, "spec.parameters[ttl]") || !strings.HasSuffix(message, want)) {
			t.Errorf("%q: %s: %s", value, reason, message)
		}
	}
}
