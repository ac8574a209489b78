//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

const (
	// maxLag is that of the archives, in seconds.
	maxLag = 1
	// promised is how old the newest commits of an archive are at most while its condition is True.
	promised = maxLag*time.Second + 2*time.Minute
	// rest is the time in which rows are written before and after a fault.
	rest = 8 * time.Second
)

// archiveFault is one disturbance of a cluster with an archive.
type archiveFault struct {
	fault

	// gap marks faults after which the archive may lack moments, until the next backup. After others, it must have each.
	gap bool
	// check is what a run checks as well; nil for nothing.
	check func(*world, *lab.Restorer, *lab.ArchiveResult)
}

// archived is what a campaign of the archive knows.
type archived struct {
	bucket *lab.Bucket
	// past is what can be recovered after this run. previous is the same of a deleted cluster of the same name, or nil.
	past, previous *past
	// beside is another cluster on the same bucket; nil for none.
	beside *beside
}

// past is a time that an archive covers.
type past struct {
	// url is the place of the archive.
	url   string
	bases []lab.Base
	// before is the archive at the beginning of the fault.
	before lab.Snapshot
	// until is the end of the run.
	until time.Time
	// gapSince and gapUntil bound the moments that may be refused. Zero for none.
	gapSince, gapUntil time.Time
	history            lab.History
}

// configure adds a backup and an archive to a cluster.
func (a *archived) configure(template *dbv1.DatabaseCluster) {
	template.Spec.Parameters["track_commit_timestamp"] = "on"
	template.Spec.Backup = &dbv1.ClusterBackup{
		Destination: a.bucket.Destination(), UnchangedData: dbv1.ReuseUnchanged, Archive: &dbv1.ClusterArchive{MaxLagSeconds: maxLag, WindowHours: 2},
	}
}

func TestEveryMomentCanBeRecoveredAfterAFault(t *testing.T) {
	for _, mode := range synchronous {
		t.Run("synchronous "+mode, func(t *testing.T) {
			w := newWorld(t, mode)
			bucket, err := w.lab.NewBucket(t.Context(), s3Image, growing)
			w.must(err, "create a bucket")
			w.archived = &archived{bucket: bucket}
			for range runs {
				for _, f := range archiveFaults {
					if wanted(f.name) {
						t.Run(f.name, func(t *testing.T) { w.in(t).runArchived(f) })
					}
				}
			}
		})
	}
}

// runArchived disturbs the cluster once, and recovers moments of before, meanwhile and after.
func (w *world) runArchived(f archiveFault) {
	if f.wholeNode && !wholeNode {
		w.Skip("disturbs other users of this node: NODE=mine allows it")
	}
	w.withCluster(f.disk)
	w.archived.previous, w.archived.beside = nil, nil
	w.begin()
	result := w.disturbArchive(f)
	w.finish(f, &result)
}

// begin starts writers and creates a backup.
func (w *world) begin() {
	w.must(w.replaceRestarted(), "the cluster is not ready before the fault")
	w.must(w.operate("on"), "the operator does not run")
	w.number++
	primary, err := w.primary()
	w.must(err, "find the primary")
	_, err = w.SQL(w.Context(), primary.Name, "DROP TABLE IF EXISTS written")
	w.must(err, "remove the rows of the last run")
	w.writers, err = w.Write(w.Context(), fmt.Sprintf("writers%d", w.number))
	w.must(err, "start writers")
	w.archived.past = &past{}
	w.must(w.backUp(), "back up")
}

// backUp creates a backup from which later moments can be recovered.
func (w *world) backUp() error {
	if err := w.AwaitArchiving(w.Context()); err != nil {
		return err
	}
	p, number := w.archived.past, 0
	for _, of := range []*past{p, w.archived.previous} {
		if of != nil {
			number += len(of.bases)
		}
	}
	base, err := w.BackUp(w.Context(), w.archived.bucket, fmt.Sprintf("%s-base%d-%d", w.Cluster.Name, w.number, number))
	if err != nil {
		return err
	}
	p.bases = append(p.bases, base)
	p.url, err = w.ArchiveURL(w.Context(), base)
	return err
}

// disturbArchive executes the fault while rows are written.
func (w *world) disturbArchive(f archiveFault) lab.ArchiveResult {
	p, bucket := w.archived.past, w.archived.bucket
	time.Sleep(rest + w.seconds(3*time.Second))
	var err error
	p.before, err = bucket.Freeze(w.Context(), p.url, fmt.Sprintf("%s-%d", w.Cluster.Name, w.number))
	w.must(err, "copy the archive")
	result := lab.ArchiveResult{MaxLag: maxLag, Result: lab.Result{
		Time: time.Now(), Fault: f.name, Synchronous: w.synchronous, Operator: "on", Seed: seed, Ways: map[string]lab.Seen{},
	}}
	w.disturb(f.fault, &result.Result)
	w.note(&result.Result, w.AwaitReady(w.Context()), "the operator does not report Ready")
	return result
}

// finish waits until the archive has everything, and compares moments.
func (w *world) finish(f archiveFault, result *lab.ArchiveResult) {
	w.note(&result.Result, w.complete(f), "the archive does not have everything")
	w.count(f.fault, &result.Result, w.archived.past.until)
	w.compare(f, result)
	result.Load = lab.Load()
	w.Logf("%+v", *result)
	recordArchive(w.T, *result)
	w.broken = f.gap // then the condition is False for a quarter of an hour
	if len(result.Problems) > 0 {
		w.broken, w.failed = true, true
		w.Errorf("%s\n%s", strings.Join(result.Problems, "\n"), w.Conditions(w.Context()))
	}
}

// complete writes for a while, after another backup if there may be a gap, and waits until the archive has that.
func (w *world) complete(f archiveFault) error {
	p := w.archived.past
	if f.gap {
		if err := w.backUp(); err != nil {
			return err
		}
		if p.gapSince.IsZero() {
			p.gapSince = p.before.Newest
		}
		p.gapUntil = p.bases[len(p.bases)-1].Ended
	}
	time.Sleep(rest)
	p.until = time.Now()
	return w.awaitArchived(p)
}

// awaitArchived waits until the archive has everything until a moment.
func (w *world) awaitArchived(p *past) error {
	return lab.Await(w.Context(), "the archive to reach "+p.until.Format(time.TimeOnly), func() bool {
		listing, err := w.archived.bucket.Listing(w.Context(), p.url)
		return err == nil && listing.Newest().After(p.until)
	})
}
