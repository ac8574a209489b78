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

// flaw is something wrong with a declaration itself, whatever the cluster. The CRD refuses what CEL can see; this is the
// rest, and what was stored before a rule was there.
type flaw struct {
	// actions are those that cannot work; nil: no cluster can run.
	actions []string
	text    string
}

// only is the one action that a flaw is of; nil for "".
func only(action string) []string {
	if action == "" {
		return nil
	}
	return []string{action}
}

// concerns tells whether a flaw matters to those who need these actions.
func (f flaw) concerns(actions []string) bool {
	return f.actions == nil || slices.ContainsFunc(f.actions, func(action string) bool { return slices.Contains(actions, action) })
}

// Declared says what is wrong with the declaration of an engine for those who need these actions of it, and what to do;
// "" when all is well. It is what the engine's own status and those of its clusters say.
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
	return fmt.Sprintf("DatabaseEngine %s is declared wrongly: %s; correct that in a new DatabaseEngine, and name it in spec.engine of the clusters",
		declared.Name, strings.Join(texts, "; "))
}

func flaws(spec dbv1.DatabaseEngineSpec) []flaw {
	var all []flaw
	for _, text := range slices.Concat(clashes(spec.Parameters), patterns(spec.Parameters), impossibleKeys(spec.SecretKeys),
		tooLarge(spec.Scripts), reserved(spec.Container.DataPath)) {
		all = append(all, flaw{text: text})
	}
	return slices.Concat(all, dangling(spec), unrestorable(spec.Actions), badScripts(spec))
}

// clashes are two parameters that would be one environment variable.
func clashes(parameters []dbv1.EngineParameter) []string {
	var all []string
	bearers := map[string]string{}
	for _, p := range parameters {
		variable := Variable(p.Name)
		if other, taken := bearers[variable]; taken {
			all = append(all, fmt.Sprintf("spec.parameters has %q and %q, which are both the environment variable %s", other, p.Name, variable))
		}
		bearers[variable] = p.Name
	}
	return all
}

func patterns(parameters []dbv1.EngineParameter) []string {
	var all []string
	for _, p := range parameters {
		if _, err := whole(p.Pattern); err != nil {
			all = append(all, fmt.Sprintf("spec.parameters[%s].pattern is no regular expression (%v)", p.Name, err))
		}
	}
	return all
}

// whole is a pattern that a value must match as a whole.
func whole(pattern string) (*regexp.Regexp, error) { return regexp.Compile("^(?:" + pattern + ")$") }

// impossibleKeys are keys that no Secret can have, so that no cluster could ever start.
func impossibleKeys(names []string) []string {
	var all []string
	for _, name := range names {
		if problems := validation.IsConfigMapKey(name); len(problems) > 0 {
			all = append(all, fmt.Sprintf("spec.secretKeys has %q, which no Secret can have as a key: it %s", name, problems[0]))
		}
	}
	return all
}

// maxScripts is what a pod's annotations may have in all, in bytes, but for 4 KiB that are the operator's and the
// cluster's. The CRD counts characters, of which one may be four bytes.
const maxScripts = 256<<10 - 4<<10

func tooLarge(scripts map[string]dbv1.EngineScript) []string {
	size := 0
	for name, text := range scripts {
		size += len(dbv1.AnnotationScripts) + len(name) + len(text)
	}
	if size <= maxScripts {
		return nil
	}
	return []string{fmt.Sprintf("spec.scripts has %d bytes in all, names included, and a pod can carry %d as annotations", size, maxScripts)}
}

// ours is where the operator puts what is its.
var ours = path.Dir(naming.ScriptsPath)

func reserved(dataPath string) []string {
	clean := path.Clean("/" + dataPath)
	if clean != ours && !strings.HasPrefix(clean, ours+"/") {
		return nil
	}
	return []string{fmt.Sprintf("spec.container.dataPath is %q, and %s is the operator's: scripts and Secrets are there", dataPath, ours)}
}

var probeNames = []string{"startupProbe", "readinessProbe", "livenessProbe"}

// part is a text of the declaration that may name scripts and parameters.
type part struct {
	field, action, text string
	// program tells that it is what is run, and not an argument of it.
	program bool
}

func parts(spec dbv1.DatabaseEngineSpec) []part {
	all := command("spec.container.command", "", spec.Container.Command)
	for i, text := range spec.Container.Args {
		all = append(all, part{field: fmt.Sprintf("spec.container.args[%d]", i), text: text})
	}
	for _, variable := range spec.Container.Env {
		all = append(all, part{field: fmt.Sprintf("spec.container.env[%s]", variable.Name), text: variable.Value})
	}
	probes := spec.Container.Probes
	for i, probe := range []*corev1.Probe{probes.StartupProbe, probes.ReadinessProbe, probes.LivenessProbe} {
		if probe != nil && probe.Exec != nil {
			all = append(all, command("spec.container."+probeNames[i]+".exec.command", "", probe.Exec.Command)...)
		}
	}
	for _, o := range offers {
		if action := o.of(spec.Actions); action != nil {
			all = append(all, command("spec.actions."+o.name+".command", o.name, action.Command)...)
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

// script is a text that is nothing but the path of one; in a longer text, of a shell for example, it may be anything.
var script = regexp.MustCompile("^" + regexp.QuoteMeta(naming.ScriptsPath) + "/([-A-Za-z0-9_.]+)$")

// reference is how a text refers to a parameter. Kubernetes leaves it as it is where there is no such variable.
var reference = regexp.MustCompile(`\$\((` + VariablePrefix + `PARAM_[A-Za-z0-9_]*)\)`)

// dangling are references to scripts and parameters that the engine does not have.
func dangling(spec dbv1.DatabaseEngineSpec) []flaw {
	var variables []string
	for _, p := range spec.Parameters {
		variables = append(variables, Variable(p.Name))
	}
	var all []flaw
	for _, p := range parts(spec) {
		if at := script.FindStringSubmatch(p.text); at != nil && spec.Scripts[at[1]] == "" {
			all = append(all, flaw{only(p.action), fmt.Sprintf("%s is %.100q, and spec.scripts has no %.48q; it has %s",
				p.field, p.text, at[1], names(maps.Keys(spec.Scripts)))})
		}
		// "$$" stands for "$".
		for _, at := range reference.FindAllStringSubmatch(strings.ReplaceAll(p.text, "$$", ""), -1) {
			if !slices.Contains(variables, at[1]) {
				all = append(all, flaw{only(p.action), fmt.Sprintf("%s refers to $(%.80s), and spec.parameters has none of that variable; it has %s",
					p.field, at[1], names(slices.Values(variables)))})
			}
		}
	}
	return all
}

func names(all iter.Seq[string]) string {
	return cmp.Or(strings.Join(slices.Sorted(all), ", "), "none")
}
