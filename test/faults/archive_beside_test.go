//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

var besideOthers = []archiveFault{
	{fault: fault{name: "restored-beside-its-source", inject: restoreBeside, hold: rest, needsOperator: true}, check: checkBeside},
	{fault: fault{name: "recreated-under-its-name", inject: recreateArchived, hold: rest, needsOperator: true, deletesData: true},
		check: checkPrevious},
}

// beside is a cluster that the operator restored while its source wrote.
type beside struct {
	// world has the cluster, with writers and an archive of its own in the bucket of its source.
	world *world
	// moment is that of the restore, and rows what the cluster had then.
	moment time.Time
	rows   map[string]lab.Spans
	result lab.ArchiveResult
}

// restoreBeside lets the operator restore a moment into another cluster while rows are written, and writes to that one as well.
func restoreBeside(w *world) (func() error, error) {
	p := w.archived.past
	p.until = time.Now().UTC().Truncate(time.Microsecond)
	if err := w.awaitArchived(p); err != nil {
		return nil, err
	}
	b := &beside{moment: p.until}
	template := w.lab.Template(w.Cluster.Name+"-restored", w.disk, parameters(w.synchronous))
	w.archived.configure(template)
	template.Spec.Replicas = 1
	template.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{
		Name: p.bases[0].Name, RecoveryTarget: &dbv1.RecoveryTarget{Time: b.moment.Format(time.RFC3339Nano)},
	}}
	cluster, err := w.lab.Run(w.Context(), template)
	if err != nil {
		return nil, err
	}
	commits, err := cluster.Commits(w.Context(), cluster.Member(0))
	if err != nil {
		return nil, err
	}
	b.rows = map[string]lab.Spans{}
	for _, commit := range commits {
		b.rows[commit.Writer] = append(b.rows[commit.Writer], [2]int{commit.Number, commit.Number})
	}
	other := *w
	other.Cluster, other.archived = cluster, &archived{bucket: w.archived.bucket}
	b.world, w.archived.beside = &other, b
	other.begin()
	w.number = other.number // the names of both are in one namespace
	b.result = other.disturbArchive(archiveFault{fault: fault{name: "of-the-restored-cluster", inject: nothing}})
	return nothing(w)
}

// checkBeside compares the rows of the restored cluster with those of the moment, and moments of its own archive.
func checkBeside(w *world, _ *lab.Restorer, result *lab.ArchiveResult) {
	b := w.archived.beside
	if b == nil {
		return // the fault did not happen, which is a problem already
	}
	result.Moments.Add(w.judge(w.archived.past, b.moment, b.rows, &result.Result))
	b.world.T = w.T
	b.world.finish(archiveFault{}, &b.result)
	w.failed = w.failed || b.world.failed
	object, err := b.world.Object(w.Context())
	w.must(errors.Join(err, w.lab.DeleteCluster(w.Context(), object)), "delete the restored cluster")
}

// recreateArchived deletes the cluster with its volumes, and creates it again under its name, with the same place in the bucket.
func recreateArchived(w *world) (func() error, error) {
	p := w.archived.past
	p.until = time.Now()
	if err := w.awaitArchived(p); err != nil {
		return nil, err
	}
	rows := map[string][]lab.Row{}
	for _, way := range lab.Ways {
		var err error
		if rows[way], err = w.writers.Rows(w.Context(), way); err != nil {
			return nil, err
		}
	}
	var err error
	if p.history, err = w.history(rows); err != nil {
		return nil, err
	}
	if err := w.Recreate(w.Context(), "Delete"); err != nil {
		return nil, err
	}
	w.archived.previous, w.archived.past = p, &past{before: p.before}
	return nil, errors.Join(w.writers.AwaitProgress(w.Context()), w.backUp())
}

// checkPrevious recovers moments of the deleted cluster.
func checkPrevious(w *world, r *lab.Restorer, result *lab.ArchiveResult) {
	if w.archived.previous != nil {
		w.recoverMoments(r, w.archived.previous, result)
	}
}
