//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"syscall"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

var ofBucket = []archiveFault{
	{fault: fault{name: "bucket-away-a-minute", inject: cutBucket, hold: time.Minute}},
	{fault: fault{name: "bucket-away-ten-minutes", inject: cutBucket, hold: 10 * time.Minute}},
	{fault: fault{name: "bucket-away-and-failover", inject: both(cutBucket, deletePod((*world).primary, 1)), hold: 30 * time.Second}},
	{fault: fault{name: "bucket-away-and-hibernated", inject: both(cutBucket, hibernate), hold: 30 * time.Second, needsOperator: true}},
	{fault: fault{name: "bucket-away-until-slot-is-lost", inject: both(cutBucket, loseSlot), hold: 3 * time.Second}, gap: true},
	{fault: fault{name: "bucket-full", inject: fillBucket, hold: time.Minute}},
	{fault: fault{name: "bucket-loses-objects", inject: loseObjects, hold: 3 * time.Second}, gap: true},
	{fault: fault{name: "bucket-loses-objects-and-transfer-killed", hold: 3 * time.Second,
		inject: both(loseObjects, signal((*world).archiver, syscall.SIGKILL, lab.Transfer))}, gap: true},
}

// cutBucket drops the packets of the S3 server.
func cutBucket(w *world) (func() error, error) { return w.archived.bucket.Cut(w.Context()) }

// fillBucket fills the volume of the S3 server.
func fillBucket(w *world) (func() error, error) { return w.archived.bucket.Fill(w.Context()) }

// loseSlot writes log until the server has removed some that the archive needs.
func loseSlot(w *world) (func() error, error) {
	return nil, lab.Await(w.Context(), "the slot of the archive to be lost", func() bool {
		primary, err := w.primary()
		if err != nil {
			return false
		}
		for _, statement := range []string{
			"SELECT count(pg_logical_emit_message(false, 'faults', repeat('x', 1000000))) FROM generate_series(1, 16)",
			"SELECT pg_switch_wal()", "CHECKPOINT",
		} {
			if _, err := w.SQL(w.Context(), primary.Name, statement); err != nil {
				return false
			}
		}
		status, err := w.SQL(w.Context(), primary.Name, "SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'dbc_archive'")
		return err == nil && status == "lost"
	})
}

// lostObjects is how many objects the bucket loses.
const lostObjects = 3

// loseObjects deletes the newest object with log, several times: the bucket has acknowledged it, and does not have it.
func loseObjects(w *world) (func() error, error) {
	var problems error
	for range lostObjects {
		problems = errors.Join(problems, loseObject(w))
		time.Sleep(calm)
	}
	return nil, problems
}

func loseObject(w *world) error {
	p, bucket := w.archived.past, w.archived.bucket
	names, err := bucket.Names(w.Context(), p.url)
	if err != nil {
		return err
	}
	var newest archive.Piece
	for _, name := range names {
		piece, is := archive.Parse(name)
		if is && !piece.Empty() && (piece.Sequence > newest.Sequence || piece.Sequence == newest.Sequence && piece.End > newest.End) {
			newest = piece
		}
	}
	w.Logf("the bucket loses %s", newest.Name())
	// The object has the commits of the lag before its mark, and marks are a second apart.
	if since := newest.Mark.Add(-(maxLag + 2) * time.Second); p.gapSince.IsZero() || since.Before(p.gapSince) {
		p.gapSince = since
	}
	_, err = bucket.Shell(w.Context(), p.url, "rm "+newest.Name())
	return err
}
