//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A notRun is a block of a page that the stories do not run, by words that only this block has.
type notRun struct{ words, because string }

var (
	quickstartNotRun = []notRun{
		{"kind create cluster", "kind needs Docker, which the machine of the tests does not have"},
		{"minikube start", "minikube needs Docker or a virtual machine"},
		{"docker-build docker-push", "make e2e builds the image without Docker; test/install runs helm install, as README.md has it"},
	}
	tourNotRun = []notRun{
		{"export KUBECONFIG=", "the story has a kubeconfig of its own, because the tour changes the namespace of the current context"},
		{"export IMAGE=docker.io", "the story sets IMAGE to the image that the node has"},
	}
)

func TestEveryCommandOfTheQuickstartWorks(t *testing.T) {
	w := onPage(t, "quickstart")
	w.replacements = []string{"docker.io/library/postgres:17", postgresImage}
	w.follows(quickstartNotRun)
}

func TestEveryCommandOfTheTourWorks(t *testing.T) {
	onLocalNode(t, "its StorageClass is called growing")
	onPage(t, "tour").follows(tourNotRun)
}

// onPage returns the world of a page, which creates its namespace itself: it has the name of the page.
func onPage(t *testing.T, page string) world {
	t.Helper()
	t.Parallel()
	w := world{T: t, namespace: page}
	if w.kubectl("get", "namespace", page, "--ignore-not-found", "-o", "name") != "" {
		if onAnotherCluster {
			t.Fatalf("namespace %s exists, and docs/%s.md creates it: delete it first", page, page)
		}
		w.clean() // after a run that was aborted
	}
	t.Cleanup(w.clean)
	return w
}

// follows runs the commands of the world's page in one shell, and compares the output with the page.
func (w world) follows(skipped []notRun) {
	w.Helper()
	text, err := os.ReadFile("../../docs/" + w.namespace + ".md")
	if err != nil {
		w.Fatal(err)
	}
	steps := w.without(skipped, stepsOf(string(text)))
	if len(steps) < 5 {
		w.Fatalf("docs/%s.md has only %d blocks of commands", w.namespace, len(steps))
	}
	printed, err := w.shell(steps)
	for i, s := range steps {
		if i == len(printed) {
			break // the shell ended before this step
		}
		w.Logf("%s\n%s", s.commands, printed[i])
		if line, missing := missingLine(s.output, printed[i]); missing && (err == nil || i < len(printed)-1) {
			w.Errorf("docs/%s.md shows %q, which these commands did not print:\n%s\n%s", w.namespace, line, s.commands, printed[i])
		}
	}
	if err != nil {
		w.Fatalf("docs/%s.md: %v at:\n%s", w.namespace, err, steps[max(0, len(printed)-1)].commands)
	}
}

// without returns the steps that are not skipped. A skipped block that the page does not have is an error.
func (w world) without(skipped []notRun, all []step) []step {
	w.Helper()
	used := make([]int, len(skipped))
	var steps []step
	for _, s := range all {
		skip := false
		for i, n := range skipped {
			if strings.Contains(s.commands, n.words) {
				w.Logf("not run, because %s:\n%s", n.because, s.commands)
				used[i], skip = used[i]+1, true
			}
		}
		if !skip {
			steps = append(steps, s)
		}
	}
	for i, n := range skipped {
		if used[i] != 1 {
			w.Errorf("%d blocks of docs/%s.md have %q, want 1", used[i], w.namespace, n.words)
		}
	}
	return steps
}

// shell runs the steps from the root of the repository, and returns the output of those that it started.
func (w world) shell(steps []step) ([]string, error) {
	w.Helper()
	const mark = "=== step ==="
	script := "set -euo pipefail\n"
	for _, s := range steps {
		// A reader is slower than a script: a Service needs a moment until it routes to a new member.
		script += "sleep 3\necho '" + mark + "'\n" + s.commands
	}
	config := filepath.Join(w.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, []byte(w.kubectl("config", "view", "--minify", "--flatten", "--raw")), 0o600); err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.Context(), 4*patience)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", strings.NewReplacer(w.replacements...).Replace(script))
	command.Dir = "../.."
	command.Env = append(os.Environ(), "KUBECONFIG="+config, "IMAGE="+postgresImage)
	text, err := command.CombinedOutput()
	before, after, _ := strings.Cut(string(text), mark+"\n")
	if before != "" {
		return nil, fmt.Errorf("the shell printed %q", before)
	}
	return strings.Split(after, mark+"\n"), err
}

// A step is a block of commands, and the output that the page shows for it.
type step struct{ commands, output string }

var fence = regexp.MustCompile("(?ms)^( *)```([a-z]*)\n(.*?)^ *```$")

// stepsOf returns the blocks of commands of a page: those without a language. A block `text` is the output of the block
// before it.
func stepsOf(page string) []step {
	var steps []step
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		switch block[2] {
		case "":
			steps = append(steps, step{commands: strings.ReplaceAll("\n"+block[3], "\n"+block[1], "\n")[1:]})
		case "text":
			steps[len(steps)-1].output = block[3]
		}
	}
	return steps
}

var (
	duration = regexp.MustCompile(`^([0-9]+[smhd])+$`)
	number   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	unit     = regexp.MustCompile(`^([KMG]i)?B$`)
)

// missingLine returns the first line of the documented output that the commands did not print after the lines before it.
// In a documented line, `...` stands for any text.
func missingLine(documented, printed string) (line string, missing bool) {
	lines := strings.Split(printed, "\n")
	for line := range strings.Lines(documented) {
		line = strings.TrimSpace(line)
		if line == "" || line == "..." {
			continue
		}
		pattern := pattern(line)
		for len(lines) > 0 && !pattern.MatchString(strings.TrimSpace(lines[0])) {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			return line, true
		}
		lines = lines[1:]
	}
	return "", false
}

// pattern returns a pattern for a documented line, in which ages, durations and sizes may differ.
func pattern(line string) *regexp.Regexp {
	words := strings.Fields(line)
	var patterns []string
	for i, word := range words {
		size := i+1 < len(words) && number.MatchString(word) && unit.MatchString(words[i+1])
		if size || duration.MatchString(word) || unit.MatchString(word) {
			patterns = append(patterns, `\S+`)
			continue
		}
		patterns = append(patterns, strings.ReplaceAll(regexp.QuoteMeta(word), `\.\.\.`, ".*"))
	}
	return regexp.MustCompile("^" + strings.Join(patterns, `\s+`) + "$")
}
