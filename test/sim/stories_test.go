/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dbcluster/databasecluster-operator/test/world"
)

// subject is what some stories are about.
type subject struct {
	name string
	// shared is true if the members of the cluster have one database.
	shared  bool
	stories []world.Story
}

// subjects are all stories. A story of a new subject of the operator is a row here.
var subjects = []subject{
	{"Objects, members and volumes of a cluster", false, clusterSequences},
	{"Metrics of the database", false, monitoringSequences},
	{"Backups on demand and by schedule, and their verification", false, backupSequences},
	{"Clusters that start with a backup", false, restoreSequences},
	{"Clusters that start with the newest backup, or empty", false, newestSequences},
	{"Deletion of a cluster", false, deletionSequences},
	{"Retention, and backups of deleted clusters", false, expirySequences},
	{"Clusters that lose volumes with data", false, lossSequences},
	{"Another topology for a cluster with data", false, topologySequences},
	{"Members of which one is the primary", true, pairSequences},
	{"Nodes that are drained", true, drainSequences},
	{"Members that decide by a majority", true, voterSequences},
	{"Continuous archives", true, archiveSequences},
	{"Databases and users", false, accountSequences},
	{"Replaced data", true, replacementSequences},
	{"Planned operations while a member is down or fails", true, troubledSequences},
	{"Another number of members while the voters stay", true, listSequences},
	{"Actions that must not disturb members at the same time", true, disturbanceSequences},
	{"Backups of members that have one database", true, saveSequences},
	{"The member that continues, and the copy that is the last one", true, copySequences},
	{"Records of how a member stopped", true, stopSequences},
	{"A database that no longer responds", true, silenceSequences},
	{"Growth and protection of volumes that fill", true, spaceSequences},
	{"Members without space to write", true, fullSequences},
	{"The cause of a volume that fills", false, causeSequences},
	{"The moment at which a configuration counts as in force", true, keptSequences},
	{"Records that outlive what is created again", true, recordSequences},
}

var (
	sequences       = storiesOf(func(subject) bool { return true })
	sharedSequences = storiesOf(func(s subject) bool { return s.shared })
)

func storiesOf(selects func(subject) bool) []world.Story {
	var all []world.Story
	for _, s := range subjects {
		if selects(s) {
			all = append(all, s.stories...)
		}
	}
	return all
}

// isShared reports whether a story is one of members that have one database.
func isShared(story string) bool {
	return slices.ContainsFunc(sharedSequences, func(s world.Story) bool { return s.Name == story })
}

func TestTheIndexHasEveryStoryUnderItsSubject(t *testing.T) {
	index := strings.Builder{}
	index.WriteString("# Stories\n\nEach story links to what the operator does in it. `go test ./test/sim -update` writes this page and the stories.\n")
	for _, s := range subjects {
		fmt.Fprintf(&index, "\n## %s\n\n", s.name)
		for _, story := range s.stories {
			steps := make([]string, 0, len(story.Steps))
			for _, step := range story.Steps {
				steps = append(steps, step.What)
			}
			fmt.Fprintf(&index, "- [%s](%s): %s\n", story.Name, story.Name+".golden", strings.Join(steps, "; "))
		}
	}
	compare(t, filepath.Join("testdata", "README.md"), index.String())
}

func TestEachStoryHasOneSubject(t *testing.T) {
	seen := map[string]string{}
	for _, s := range subjects {
		for _, story := range s.stories {
			if before, twice := seen[story.Name]; twice {
				t.Errorf("story %s stands under %q and %q", story.Name, before, s.name)
			}
			seen[story.Name] = s.name
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.golden"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d golden files: %v", len(files), err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".golden"); seen[name] == "" {
			t.Errorf("%s belongs to no story: delete it", file)
		}
	}
}
