/*
SPDX-License-Identifier: Apache-2.0
*/

// Package workflows compares the GitHub workflows with the Makefile and the Dockerfile, because the workflows cannot
// run here.
package workflows

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const root = "../.."

type workflow struct {
	On struct {
		Push struct {
			Tags []string `json:"tags"`
		} `json:"push"`
		Schedule []struct {
			Cron string `json:"cron"`
		} `json:"schedule"`
	} `json:"true"` // YAML reads "on" as true
	Permissions *map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		Permissions map[string]string `json:"permissions"`
		Steps       []struct {
			Uses string         `json:"uses"`
			Run  string         `json:"run"`
			With map[string]any `json:"with"`
		} `json:"steps"`
	} `json:"jobs"`
}

var (
	target  = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
	makes   = regexp.MustCompile(`\bmake((?:\s+[^\s;&|]+)+)`)
	pinned  = regexp.MustCompile(`^actions/(checkout|setup-go)@[0-9a-f]{40}$`)
	version = regexp.MustCompile(`@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

func TestEveryMakeTargetThatAWorkflowRunsExists(t *testing.T) {
	targets := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "make", "*.mk"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, found := range target.FindAllStringSubmatch(read(t, filepath.Join("make", filepath.Base(file))), -1) {
			targets[found[1]] = true
		}
	}
	seen := 0
	for name, workflow := range all(t) {
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				for _, wanted := range targetsOf(step.Run) {
					seen++
					if !targets[wanted] {
						t.Errorf("%s runs make %s, which the Makefiles do not have", name, wanted)
					}
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d targets were found in the workflows", seen)
	}
}

func TestActionsArePinnedAndPermissionsAreMinimal(t *testing.T) {
	for name, workflow := range all(t) {
		if workflow.Permissions == nil {
			t.Errorf("%s has no permissions, so it gets the default permissions of the repository", name)
		} else if access := *workflow.Permissions; len(access) > 1 || access["contents"] == "write" {
			t.Errorf("%s has the permissions %v in every job", name, access)
		}
		for about, job := range workflow.Jobs {
			for scope, access := range job.Permissions {
				if name != "release.yml" || access != "write" || scope != "contents" && scope != "packages" {
					t.Errorf("%s gives the job %s %s: %s", name, about, scope, access)
				}
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s uses %s, which is not pinned by a commit or not known here", name, step.Uses)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s puts an expression into a script, where a name may become a command: %s", name, step.Run)
				}
			}
		}
		for line := range strings.Lines(read(t, ".github/workflows/"+name)) {
			if strings.Contains(line, "uses:") && !version.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s has no version for the commit: %s", name, line)
			}
		}
	}
}

// The name of a tag becomes VERSION, which make passes to a shell unchanged. Git allows the tag v0.2.0;reboot.
func TestATagThatReleasesIsAVersionAndNothingElse(t *testing.T) {
	if tags := all(t)["release.yml"].On.Push.Tags; len(tags) != 1 || tags[0] != "v[0-9]+.[0-9]+.[0-9]+" {
		t.Errorf("release.yml runs for the tags %q", tags)
	}
}

// make test runs only a sample of the campaigns. This workflow must run all of them.
func TestTheCampaignsRunEveryNight(t *testing.T) {
	nightly := all(t)["campaigns.yml"]
	if when := nightly.On.Schedule; len(when) != 1 || !regexp.MustCompile(`^\d+ \d+ \* \* \*$`).MatchString(when[0].Cron) {
		t.Errorf("campaigns.yml runs at %v", when)
	}
	for _, job := range nightly.Jobs {
		for _, step := range job.Steps {
			if slices.Contains(targetsOf(step.Run), "test-campaigns") {
				return
			}
		}
	}
	t.Error("campaigns.yml does not run make test-campaigns")
}

func TestAWorkflowHasTheHistoryAndTheGoThatReleasesAreMadeWith(t *testing.T) {
	compiler := regexp.MustCompile(`golang:(\S+)`).FindStringSubmatch(read(t, "Dockerfile"))
	if compiler == nil {
		t.Fatal("the Dockerfile names no image of Go")
	}
	for name, workflow := range all(t) {
		for job, description := range workflow.Jobs {
			for _, step := range description.Steps {
				switch {
				case strings.HasPrefix(step.Uses, "actions/checkout@"):
					if step.With["fetch-depth"] != float64(0) || step.With["persist-credentials"] != false {
						t.Errorf("%s, job %s checks out with %v", name, job, step.With)
					}
				case strings.HasPrefix(step.Uses, "actions/setup-go@"):
					if step.With["go-version"] != compiler[1] {
						t.Errorf("%s, job %s has Go %v, the Dockerfile %s", name, job, step.With["go-version"], compiler[1])
					}
				}
			}
		}
	}
}

// targetsOf omits settings and the quoted texts after them.
func targetsOf(script string) []string {
	var targets []string
	for _, found := range makes.FindAllStringSubmatch(script, -1) {
		for word := range strings.FieldsSeq(found[1]) {
			if !strings.Contains(word, "=") {
				targets = append(targets, word)
			}
		}
	}
	return targets
}

func all(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("there are %d workflows, want four (%v)", len(files), err)
	}
	found := map[string]workflow{}
	for _, file := range files {
		var parsed workflow
		if err := yaml.UnmarshalStrict([]byte(read(t, ".github/workflows/"+filepath.Base(file))), &map[string]any{}); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := yaml.Unmarshal([]byte(read(t, ".github/workflows/"+filepath.Base(file))), &parsed); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		found[filepath.Base(file)] = parsed
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
