/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

// judge finds the flaws that the operator sees, and those that it cannot see.
func judge(declared *dbv1.DatabaseEngine) (all []finding) {
	spec := declared.Spec
	for _, flaw := range engine.Flaws(spec) {
		all = append(all, errorf("%s", flaw))
	}
	if !version.MatchString(declared.Name) {
		all = append(all,
			warningf("metadata.name is %q, without a version at its end: an engine cannot be changed, so begin with %s-v1", declared.Name,
				declared.Name))
	}
	return slices.Concat(all, lock(spec), probes(spec), missing(spec), numbers(spec), programs(spec), mentions(spec), absent(spec),
		unused(spec), variables(spec))
}

var version = regexp.MustCompile(`-v[0-9]+$`)

// lock compares the longest life of a frozen primary with the time after which another member can be the primary.
func lock(spec dbv1.DatabaseEngineSpec) []finding {
	if spec.Roles == nil {
		return nil
	}
	probe, lockSeconds, field := spec.Container.LivenessProbe, engine.LockSeconds(spec, nil), "spec.roles.lockSeconds"
	if name := spec.Roles.LockParameter; name != "" {
		field = fmt.Sprintf("the default of spec.parameters[%s]", name)
	}
	if probe == nil {
		return []finding{errorf(
			"spec.container.livenessProbe is not set, so a primary that hangs never ends, and another member becomes the primary "+
				"after %s (%d): add a probe that fails in less time", field, lockSeconds)}
	}
	grace := cmp.Or(probe.TerminationGracePeriodSeconds, spec.Container.TerminationGracePeriodSeconds,
		new(engine.DefaultTerminationGracePeriodSeconds))
	period, failures, timeout := cmp.Or(probe.PeriodSeconds, 10), cmp.Or(probe.FailureThreshold, 3), cmp.Or(probe.TimeoutSeconds, 1)
	if total := int64(period*failures+timeout) + *grace; total >= int64(lockSeconds) {
		return []finding{errorf("spec.container.livenessProbe ends a primary that hangs after up to %d s (periodSeconds %d x failureThreshold "+
			"%d + timeoutSeconds %d "+
			"+ terminationGracePeriodSeconds %d), but another member becomes the primary after %s (%d): lower them; "+
			"livenessProbe.terminationGracePeriodSeconds alone overrides the grace period of the pod", total, period, failures, timeout, *grace,
			field, lockSeconds)}
	}
	return nil
}

// patience is the shortest time in which a probe may end a member that has not started yet.
const patience = 60

func probes(spec dbv1.DatabaseEngineSpec) (all []finding) {
	container := spec.Container
	if container.ReadinessProbe == nil {
		report := warningf
		if spec.Topology != dbv1.TopologyIndependent {
			report = errorf
		}
		all = append(all,
			report("spec.container.readinessProbe is not set, so a member counts as ready before it answers: add a probe that asks the server"))
	}
	if probe := container.LivenessProbe; probe != nil && container.StartupProbe == nil {
		if seconds := probe.InitialDelaySeconds + cmp.Or(probe.PeriodSeconds, 10)*cmp.Or(probe.FailureThreshold, 3); seconds < patience {
			all = append(all, warningf("spec.container.livenessProbe ends a member that recovers for longer than %d s, because "+
				"spec.container.startupProbe is not set: add one", seconds))
		}
	}
	return all
}

// lack is a part that an engine may leave out, and the consequence.
type lack struct {
	is   bool
	text string
}

// missing are the parts of the contract that the engine does not offer.
func missing(spec dbv1.DatabaseEngineSpec) (all []finding) {
	actions := spec.Actions
	generated := slices.ContainsFunc(spec.SecretKeys, func(k dbv1.EngineSecretKey) bool { return k.Generate != nil })
	given := slices.ContainsFunc(spec.SecretKeys, func(k dbv1.EngineSecretKey) bool { return k.Generate == nil })
	for _, l := range []lack{
		{actions.Backup == nil, "spec.actions.backup is not set: clusters have no backups, no restores and no hooks of type Backup. Add backup " +
			"and restore if the database stores data"},
		{actions.Backup != nil && actions.Probe == nil,
			"spec.actions.probe is not set: a verification of a backup needs spec.backup.verification.command of the cluster. Add probe"},
		{actions.Backup != nil && actions.Check == nil,
			"spec.actions.check is not set: a verification of a backup shows only that the copy answers. Add check with facts"},
		{generated && actions.Credentials == nil,
			"spec.actions.credentials is not set: a rotation of generated passwords restarts the members. Add credentials"},
		{unprotected(spec), "spec.actions.protect is not set: clients write until the volume is full. Add protect if the database can refuse " +
			"writes, unless it does so by itself"},
		{unmeasured(spec), "spec.actions.measure is not set: the condition DiskPressure does not name what fills a volume. Add measure if the " +
			"database keeps log for an archive or for clients"},
		{given, "spec.secretKeys has keys without generate: each cluster needs a Secret of its user. Add generate if the container applies the " +
			"value at each start"},
		{spec.TLS == nil, "spec.tls is not set: clusters cannot have spec.tls. Add spec.tls.modes if the database serves TLS"},
		{spec.TLS != nil && actions.Reload == nil,
			"spec.actions.reload is not set: members restart one by one after each renewal of the certificate. Add reload"},
		{spec.Connection == nil, "spec.connection is not set: clusters have no connection Secret. Add it, with the keys that clients need"},
		{spec.Roles != nil && len(spec.Parameters) > 0 && actions.Configure == nil,
			"spec.actions.configure is not set: a change of parameters restarts the members, with a hand-over. Add configure if the database can " +
				"change them while it runs"},
		{spec.Roles != nil && spec.Roles.PositionField == "",
			"spec.roles.positionField is not set: clusters have no metric of the lag of replicas. Add it if members can report their position in " +
				"the annotation status"},
		{len(spec.Container.VersionCommand) == 0,
			"spec.container.versionCommand is not set: clusters have no status.version. Add a command that prints the version"},
		{spec.Container.RunAsUser == nil, "spec.container.runAsUser is not set: pods start only if the image names a user by its number, and " +
			"not root. Set the number of the user"},
	} {
		if l.is {
			all = append(all, warningf("%s", l.text))
		}
	}
	return all
}

// unprotected reports whether clients of an engine with data on volumes can fill them. Databases that decide by a majority have quotas.
func unprotected(spec dbv1.DatabaseEngineSpec) bool {
	return spec.Actions.Backup != nil && spec.Actions.Protect == nil && spec.Topology != dbv1.TopologyConsensus
}

// unmeasured reports whether members can keep log that no client reads. Databases that decide by a majority keep none for others.
func unmeasured(spec dbv1.DatabaseEngineSpec) bool {
	return spec.Actions.Archive != nil && spec.Actions.Measure == nil && spec.Topology != dbv1.TopologyConsensus
}

// numbers finds an engine that no cluster can use: its only number of members is even, and odd requires another one.
func numbers(spec dbv1.DatabaseEngineSpec) []finding {
	replicas := spec.Replicas
	if !replicas.Odd || replicas.Min != replicas.Max || replicas.Max%2 == 1 {
		return nil
	}
	return []finding{errorf("spec.replicas allows only %d members, but spec.replicas.odd requires an odd number: correct min, max or odd",
		replicas.Max)}
}

// commands are all commands of an engine by their fields.
func commands(spec dbv1.DatabaseEngineSpec) map[string][]string {
	all := map[string][]string{"spec.container.command": spec.Container.Command,
		"spec.container.versionCommand": spec.Container.VersionCommand}
	for name, probe := range map[string]*corev1.Probe{
		"startupProbe": spec.Container.StartupProbe, "readinessProbe": spec.Container.ReadinessProbe,
		"livenessProbe": spec.Container.LivenessProbe,
	} {
		if probe != nil && probe.Exec != nil {
			all["spec.container."+name+".exec.command"] = probe.Exec.Command
		}
	}
	for _, c := range spec.Companions {
		all["spec.companions["+c.Name+"].command"] = c.Command
	}
	for _, name := range engine.Actions {
		if action := engine.Action(spec.Actions, name); action != nil {
			all["spec.actions."+name+".command"] = action.Command
		}
	}
	return all
}

// programs are commands that no image can run as they are written. The working directory belongs to the image.
func programs(spec dbv1.DatabaseEngineSpec) (all []finding) {
	named := commands(spec)
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if len(named[key]) == 0 {
			continue
		}
		program := named[key][0]
		switch {
		case strings.ContainsAny(program, " \t\n"):
			all = append(all,
				errorf("%s[0] is %q, one word with spaces: Kubernetes runs no shell, so write each word as an element, or [sh, -c, %q]", key, program,
					program))
		case strings.Contains(program, "/") && !path.IsAbs(program):
			all = append(all, errorf("%s[0] is %q, a relative path: use an absolute path, or a name in the PATH of the image", key, program))
		case strings.HasPrefix(program, "/dbc/") && !strings.HasPrefix(program, mounted):
			all = append(all, errorf("%s[0] is %q, but the scripts are in %s: use %s%s", key, program, mounted, mounted, path.Base(program)))
		case spec.Scripts[program] != "":
			all = append(all,
				errorf("%s[0] is %q, which is a script of the engine, but not in the PATH: use /dbc/scripts/%s", key, program, program))
		}
	}
	return all
}

// mention matches the path of a script in any text.
var mention = regexp.MustCompile(`/dbc/scripts/([-A-Za-z0-9_.]*[A-Za-z0-9])`)

// mentions are paths in scripts to scripts that do not exist.
func mentions(spec dbv1.DatabaseEngineSpec) (all []finding) {
	for _, name := range slices.Sorted(maps.Keys(spec.Scripts)) {
		for _, at := range mention.FindAllStringSubmatch(string(spec.Scripts[name]), -1) {
			if spec.Scripts[at[1]] == "" {
				all = append(all,
					errorf("spec.scripts[%s] names /dbc/scripts/%s, but spec.scripts has no %s: correct the path, or add the script", name, at[1], at[1]))
			}
		}
	}
	return all
}

// imported matches the module that a line in Python imports.
var imported = regexp.MustCompile(`(?m)^\s*(?:import|from) +(\w+)`)

// absent are scripts that scripts of members name or import, but that members do not have.
func absent(spec dbv1.DatabaseEngineSpec) (all []finding) {
	for _, name := range spec.Container.Scripts {
		text := string(spec.Scripts[name])
		for _, at := range slices.Concat(mention.FindAllStringSubmatch(text, -1), imported.FindAllStringSubmatch(text, -1)) {
			for _, other := range []string{at[1], at[1] + ".py"} {
				if spec.Scripts[other] != "" && !slices.Contains(spec.Container.Scripts, other) {
					all = append(all,
						warningf("spec.scripts[%s] names %s, but spec.container.scripts does not list it, so members do not have it: add it if they need it",
							name, other))
				}
			}
		}
	}
	return all
}

// unused are scripts that nothing names. A script in Python imports others by their names without the extension.
func unused(spec dbv1.DatabaseEngineSpec) (all []finding) {
	for _, name := range slices.Sorted(maps.Keys(spec.Scripts)) {
		var text strings.Builder
		_, _ = fmt.Fprintln(&text, commands(spec), spec.Container.Args, spec.Container.Env)
		for other, script := range spec.Scripts {
			if other != name {
				text.WriteString(string(script))
			}
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(strings.TrimSuffix(name, path.Ext(name))) + `\b`).MatchString(text.String()) {
			all = append(all,
				warningf("spec.scripts[%s] is used by no command and no other script: remove it, or name it as /dbc/scripts/%s", name, name))
		}
	}
	return all
}

// parameter matches the variable of a parameter in any text.
var parameter = regexp.MustCompile(`DBC_PARAM_[A-Z0-9]+(_[A-Z0-9]+)*`)

// variables are those of parameters that do not exist, in scripts. A cluster can have any if the engine has otherParameters.
func variables(spec dbv1.DatabaseEngineSpec) (all []finding) {
	if spec.OtherParameters {
		return nil
	}
	known := map[string]bool{}
	for _, p := range spec.Parameters {
		known[engine.Variable(p.Name)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Scripts)) {
		used := parameter.FindAllString(string(spec.Scripts[name]), -1)
		for _, variable := range slices.Compact(slices.Sorted(slices.Values(used))) {
			if !known[variable] {
				all = append(all,
					warningf("spec.scripts[%s] uses %s, but spec.parameters does not define that variable: correct its name, or add the parameter", name,
						variable))
			}
		}
	}
	return all
}
