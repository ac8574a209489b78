/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// rival is a backup in a world where passes overlap: the observation may be stale when a pass acts on it.
type rival struct {
	backup  dbv1.DatabaseBackup
	lacks   bool        // a Secret
	job     bool        // there is one
	ended   bool        // it has
	planned *BackupPlan // by a pass that has read, and not yet written
}

// rivals3 are three backups of one cluster, created one second apart; the first lacks a Secret.
func rivals3() []rival {
	var all []rival
	for i, name := range []string{"a", "b", "c"} {
		b := asked()
		b.Name, b.UID = name, types.UID(name)
		b.CreationTimestamp = metav1.NewTime(b.CreationTimestamp.Add(time.Duration(i) * time.Minute))
		all = append(all, rival{backup: *b, lacks: i == 0})
	}
	return all
}

// read is the first half of a pass.
func read(all []rival, i int) *BackupPlan {
	mine, observed := all[i], idleWorld()
	observed.Cluster.Spec.Replicas = 1
	if mine.lacks {
		observed.Missing = "Secret bucket does not exist"
	}
	if name := naming.BackupJob("orders", mine.backup.UID, 0); mine.job {
		observed.Jobs = []jobs.Job{jobOf(name, dbv1.ComponentBackup, func(t *jobs.Job) { t.Active, t.Succeeded = !mine.ended, mine.ended })}
	} else {
		var others []dbv1.DatabaseBackup
		for _, other := range all {
			others = append(others, other.backup)
		}
		observed.Queue = QueueOf(&mine.backup, others)
	}
	todo := For(&mine.backup, observed)
	return &todo
}

// write is the second half of a pass.
func write(r *rival) {
	if does[operation.Create](*r.planned) != nil {
		r.job = true
	}
	r.backup.Status = StatusOf(&r.backup, *r.planned, nil, metav1.NewTime(moment))
	r.planned = nil
}

// next are the worlds that may follow: by one half of a pass, the end of a Job, or the creation of the Secret.
func (r rival) next(all []rival, i int) [][]rival {
	var worlds [][]rival
	follow := func(change func(*rival)) {
		world := slices.Clone(all)
		change(&world[i])
		worlds = append(worlds, world)
	}
	if r.planned != nil {
		follow(write)
	} else if !r.backup.Status.Phase.Finished() {
		follow(func(r *rival) { r.planned = read(all, i) })
	}
	if r.job && !r.ended {
		follow(func(r *rival) { r.ended = true })
	}
	if r.lacks {
		follow(func(r *rival) { r.lacks = false })
	}
	return worlds
}

// key is the part of a world that determines its future.
func key(all []rival) string {
	text := ""
	for _, r := range all {
		text += fmt.Sprint(r.backup.Status.Phase, r.backup.Status.StartTime != nil, len(r.backup.Status.Streams), Stuck(&r.backup), r.lacks, r.job, r.ended)
		if p := r.planned; p != nil {
			text += fmt.Sprint(p.Status.Phase, len(p.Operations) > 0, p.Stalled, len(p.Status.Streams), p.Status.StartTime != nil)
		}
		text += "\n"
	}
	return text
}

func TestOverlappingPassesRunOneBackupOfAClusterAtATimeAndCompleteAll(t *testing.T) {
	seen, todo := map[string][]string{}, [][]rival{rivals3()}
	var done []string
	passed := false
	for len(todo) > 0 {
		all := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		at := key(all)
		if _, known := seen[at]; known {
			continue
		}
		running, completed := 0, 0
		for _, r := range all {
			if r.job && !r.ended {
				running++
			}
			if r.backup.Status.Phase == dbv1.BackupCompleted {
				completed++
			}
		}
		if running > 1 {
			t.Fatalf("two run at one time:\n%s", at)
		}
		passed = passed || all[0].lacks && completed == 2
		if completed == len(all) {
			done = append(done, at)
		}
		seen[at] = []string{}
		for i, r := range all {
			for _, world := range r.next(all, i) {
				seen[at] = append(seen[at], key(world))
				todo = append(todo, world)
			}
		}
	}
	if !passed {
		t.Error("the others never pass the one that lacks its Secret")
	}
	t.Logf("%d worlds", len(seen))
	good := leadingTo(seen, done)
	for world := range seen {
		if !good[world] {
			t.Fatalf("from here they never all complete:\n%s", world)
		}
	}
}

// leadingTo are the worlds from which there is a path to one of the worlds in done.
func leadingTo(next map[string][]string, done []string) map[string]bool {
	before := map[string][]string{}
	for world, after := range next {
		for _, n := range after {
			before[n] = append(before[n], world)
		}
	}
	good := map[string]bool{}
	for len(done) > 0 {
		world := done[len(done)-1]
		done = done[:len(done)-1]
		if !good[world] {
			good[world] = true
			done = append(done, before[world]...)
		}
	}
	return good
}
