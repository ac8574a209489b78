/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// flaw is a mistake in the declaration itself, independent of any cluster. CEL rules of the CRD detect some. The
// others, and objects stored before a rule existed, are detected here.
type flaw struct {
	// actions are the actions that cannot work; nil if no cluster can run.
	actions []string
	text    string
}

// only is a list of one action; nil for "".
func only(action string) []string {
	if action == "" {
		return nil
	}
	return []string{action}
}

// concerns reports whether a flaw affects a cluster that needs these actions.
func (f flaw) concerns(actions []string) bool {
	return f.actions == nil || slices.ContainsFunc(f.actions, func(action string) bool { return slices.Contains(actions, action) })
}

// Declared reports the flaws of an engine's declaration that affect a cluster with these actions, and how to
// correct them; "" without flaws. The status of the engine and of its clusters quote it.
func Declared(declared *dbv1.DatabaseEngine, actions ...string) string {
	var texts []string
	for _, f := range flaws(declared.Spec) {
		if f.concerns(actions) {
			texts = append(texts, f.text)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf(
		"DatabaseEngine %s is invalid: %s. Create a corrected DatabaseEngine under another name, and set spec.engine of the clusters to it",
		declared.Name, strings.Join(texts, "; "))
}

// Flaws are all flaws of an engine's declaration, and how to correct them.
func Flaws(spec dbv1.DatabaseEngineSpec) []string {
	var texts []string
	for _, f := range flaws(spec) {
		texts = append(texts, f.text)
	}
	return texts
}

func flaws(spec dbv1.DatabaseEngineSpec) []flaw {
	var all []flaw
	for _, text := range slices.Concat(clashes(spec.Parameters), patterns(spec.Parameters), impossibleKeys(spec.SecretKeys),
		lockFlaws(spec), strangers(spec.State), unfitting(spec), badTemplates(spec), tooLarge(spec.Scripts), reserved(spec.Container.DataPath),
		unprobed(spec)) {
		all = append(all, flaw{text: text})
	}
	return slices.Concat(all, dangling(spec), unrestorable(spec.Actions), badScripts(spec))
}

// strangers are ConfigMaps that the state describes, but that the members do not have. No rule of the API server can say so: it would
// change the rules of a released field.
func strangers(is *dbv1.EngineState) []string {
	if is == nil {
		return nil
	}
	named := map[string]string{}
	if is.Lock != nil {
		named["spec.state.lock.configMap"] = is.Lock.ConfigMap
	}
	if is.Configuration != nil {
		named["spec.state.configuration.configMap"] = is.Configuration.ConfigMap
	}
	var all []string
	for _, field := range slices.Sorted(maps.Keys(named)) {
		if !slices.Contains(is.ConfigMaps, named[field]) {
			all = append(all, fmt.Sprintf("%s is %q, which is not in spec.state.configMaps", field, named[field]))
		}
	}
	return all
}

// clashes are pairs of parameters with the same environment variable.
func clashes(parameters []dbv1.EngineParameter) []string {
	var all []string
	owners := map[string]string{}
	for _, p := range parameters {
		variable := Variable(p.Name)
		if other, taken := owners[variable]; taken {
			all = append(all, fmt.Sprintf("spec.parameters has %q and %q, which map to the same environment variable %s", other, p.Name, variable))
		}
		owners[variable] = p.Name
	}
	return all
}

// unfitting are defaults that follow the volume, but that no action puts in force: a growth would restart the members.
func unfitting(spec dbv1.DatabaseEngineSpec) []string {
	var all []string
	for _, p := range spec.Parameters {
		if p.Storage != nil && p.Storage.DefaultPercent > 0 && spec.Actions.Configure == nil {
			all = append(all, fmt.Sprintf("spec.parameters[%s].storage.defaultPercent needs the action configure", p.Name))
		}
	}
	return all
}

func patterns(parameters []dbv1.EngineParameter) []string {
	var all []string
	for _, p := range parameters {
		if _, err := whole(p.Pattern); err != nil {
			all = append(all, fmt.Sprintf("spec.parameters[%s].pattern is not a valid regular expression (%v)", p.Name, err))
		}
	}
	return all
}

// whole compiles a pattern that must match the whole value.
func whole(pattern string) (*regexp.Regexp, error) { return regexp.Compile("^(?:" + pattern + ")$") }

// impossibleKeys are keys that a Secret cannot have, so that no cluster could start, or values that are easy to guess.
func impossibleKeys(keys []dbv1.EngineSecretKey) []string {
	var all []string
	for _, key := range keys {
		if problems := validation.IsConfigMapKey(key.Name); len(problems) > 0 {
			all = append(all, fmt.Sprintf("spec.secretKeys has %q, which is not a valid key of a Secret: it %s", key.Name, problems[0]))
		}
		if few := key.Generate != nil && key.Generate.Characters != "" && distinct(key.Generate.Characters) < minCharacters; few {
			all = append(all, fmt.Sprintf("spec.secretKeys[%s].generate.characters has fewer than %d different characters", key.Name, minCharacters))
		}
	}
	return all
}

// minCharacters is the lowest number of different characters of a generated value. With 16 of them, a value has 53 bits.
const minCharacters = 10

func distinct(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

// maxScripts is the limit of Kubernetes for a pod's annotations, in bytes, without 4 KiB for annotations of the
// operator and the cluster. The CRD counts characters, of which one may have four bytes.
const maxScripts = 256<<10 - 4<<10

func tooLarge(scripts map[string]dbv1.EngineScript) []string {
	size := 0
	for name, text := range scripts {
		size += len(dbv1.AnnotationScripts) + len(name) + len(text)
	}
	if size <= maxScripts {
		return nil
	}
	return []string{fmt.Sprintf("spec.scripts has %d bytes, names included, but a pod can have only %d bytes as annotations", size,
		maxScripts)}
}

// ours is the directory of the operator's mounts.
var ours = path.Dir(naming.ScriptsPath)

func reserved(dataPath string) []string {
	clean := path.Clean("/" + dataPath)
	if clean != ours && !strings.HasPrefix(clean, ours+"/") {
		return nil
	}
	return []string{fmt.Sprintf("spec.container.dataPath is %q, but %s is reserved for the operator's scripts and Secrets", dataPath, ours)}
}

// unprobed members look ready as long as they run, so nothing would show that one of them no longer takes part.
func unprobed(spec dbv1.DatabaseEngineSpec) []string {
	if !Related(&dbv1.DatabaseEngine{Spec: spec}) || spec.Container.ReadinessProbe != nil {
		return nil
	}
	return []string{fmt.Sprintf(
		"spec.container.readinessProbe is missing, but with topology %s a member that no longer responds must not be ready", spec.Topology)}
}

var probeNames = []string{"startupProbe", "readinessProbe", "livenessProbe"}

// part is a text of the declaration that may name scripts and parameters.
type part struct {
	field, action, text string
	// program is true for the program, and false for its arguments.
	program bool
}

func parts(spec dbv1.DatabaseEngineSpec) []part {
	all := command("spec.container.command", "", spec.Container.Command)
	for i, text := range spec.Container.Args {
		all = append(all, part{field: fmt.Sprintf("spec.container.args[%d]", i), text: text})
	}
	all = append(all, command("spec.container.versionCommand", "", spec.Container.VersionCommand)...)
	if spec.Metrics != nil && spec.Metrics.Sidecar != nil {
		all = append(all, command("spec.metrics.sidecar.command", "", spec.Metrics.Sidecar.Command)...)
	}
	for _, variable := range spec.Container.Env {
		all = append(all, part{field: fmt.Sprintf("spec.container.env[%s]", variable.Name), text: variable.Value})
	}
	probes := spec.Container.MemberProbes
	for i, probe := range []*corev1.Probe{probes.StartupProbe, probes.ReadinessProbe, probes.LivenessProbe} {
		if probe != nil && probe.Exec != nil {
			all = append(all, command("spec.container."+probeNames[i]+".exec.command", "", probe.Exec.Command)...)
		}
	}
	for name, action := range actionsOf(spec.Actions) {
		if action != nil {
			all = append(all, command("spec.actions."+name+".command", name, action.Command)...)
		}
	}
	return all
}

func command(field, action string, words []string) []part {
	all := make([]part, 0, len(words))
	for i, text := range words {
		all = append(all, part{field: fmt.Sprintf("%s[%d]", field, i), action: action, text: text, program: i == 0})
	}
	return all
}

// script matches a text that is only the path of a script. In a longer text, such as shell code, such a path may
// mean anything.
var script = regexp.MustCompile("^" + regexp.QuoteMeta(naming.ScriptsPath) + "/([-A-Za-z0-9_.]+)$")

// reference matches a reference to a parameter. Kubernetes does not expand it if no such variable exists.
var reference = regexp.MustCompile(`\$\((` + VariablePrefix + `PARAM_[A-Za-z0-9_]*)\)`)

// dangling are references to scripts and parameters that the engine does not have.
func dangling(spec dbv1.DatabaseEngineSpec) []flaw {
	var variables []string
	for _, p := range spec.Parameters {
		variables = append(variables, Variable(p.Name))
	}
	var all []flaw
	for _, p := range parts(spec) {
		at := script.FindStringSubmatch(p.text)
		if at != nil && spec.Scripts[at[1]] == "" {
			all = append(all, flaw{only(p.action), fmt.Sprintf("%s is %.100q, but spec.scripts has no %.48q; it has %s",
				p.field, p.text, at[1], names(maps.Keys(spec.Scripts)))})
		}
		if at != nil && p.action == "" && spec.Scripts[at[1]] != "" && !ofMembers(spec.Container, at[1]) {
			all = append(all,
				flaw{text: fmt.Sprintf("%s is %.100q, but spec.container.scripts does not list %.48q, so members do not have it: add it",
					p.field, p.text, at[1])})
		}
		// "$$" stands for "$".
		for _, at := range reference.FindAllStringSubmatch(strings.ReplaceAll(p.text, "$$", ""), -1) {
			if !slices.Contains(variables, at[1]) {
				all = append(all,
					flaw{only(p.action), fmt.Sprintf("%s refers to $(%.80s), but spec.parameters does not define that variable; it defines %s",
						p.field, at[1], names(slices.Values(variables)))})
			}
		}
	}
	return all
}

func names(all iter.Seq[string]) string {
	return cmp.Or(strings.Join(slices.Sorted(all), ", "), "none")
}
