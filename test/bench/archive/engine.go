/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// parameters are those of an engine that a recovery reads.
const parameters = `DBC_PARAMETERS={"ttl":"30","loop_wait":"5","retry_timeout":"10","maximum_lag_on_failover":"1048576",` +
	`"synchronous":"off","shared_buffers":"128MB","max_wal_size":"1GB","wal_keep_size":"512MB"}`

// engine is transfer with the scripts of an engine.
type engine struct {
	*bench

	of    string
	lacks string
}

func (e *engine) name() string        { return e.of }
func (e *engine) missing() string     { return e.lacks }
func (*engine) begin(*trial) error    { return nil }
func (*engine) command(*trial) string { return "" }

// script is the path of an action.
func (e *engine) script(action string) string { return e.path("engines", e.of, "scripts", action) }

// environment is that of an action.
func (e *engine) environment(data, port string) []string {
	return []string{
		"DBC_MEMBERS=127.0.0.1", "DBC_MEMBER=127.0.0.1", "DBC_REPLICAS=1", "DBC_PORT=" + port, "PGPORT=" + port, "DBC_DATA_DIR=" + data,
		"PGDATA=" + filepath.Join(data, "pgdata"), "DBC_SECRETS_DIR=" + e.store.keys, "DBC_DATABASE=app", "DBC_OWNER=app", "DBC_ARCHIVE=true",
		parameters, "PYTHONDONTWRITEBYTECODE=1",
	}
}

// location is the URL of a folder of the bucket.
func location(place string) string { return "s3://" + bucket + "/" + filepath.Base(place) + "/archive" }

func (e *engine) place(t *trial) string { return filepath.Join(e.store.bucket(), t.id) }

func (e *engine) receiver(t *trial) (environment, words []string) {
	call := protocol.Archive{To: location(e.place(t)), ID: t.id, Store: e.store.access(), MaxLag: e.lag, Stalled: 10 * time.Second}
	call.Result, call.Command = os.DevNull, []string{e.script("archive")}
	return e.environment("/none", t.port), append([]string{e.path("transfer")}, protocol.Args(&call)...)
}

func (e *engine) has(t *trial, segment string) (bool, error) {
	found, err := filepath.Glob(filepath.Join(e.place(t), "archive", "*", "*-"+segment+".*"))
	for _, path := range found {
		name := strings.TrimPrefix(path, filepath.Join(e.place(t), "archive")+"/")
		if piece, is := archive.Parse(name); is && piece.End == archive.MaxFileBytes {
			return true, err
		}
	}
	return false, err
}

// start is the file of the archive in which a copy of a server begins.
func (e *engine) start(data string) (string, error) {
	system, err := e.control(data, "Database system identifier")
	if err != nil {
		return "", err
	}
	file, err := e.control(data, "Latest checkpoint's REDO WAL file")
	return system + "-" + file, err
}

func (e *engine) recover(t *trial, place, into string) error {
	start, err := e.start(into)
	if err != nil {
		return err
	}
	_, err = e.do(e.environment(filepath.Dir(into), t.port), e.recovering(location(place), start, "")...)
	return err
}

// recovering is the command of a recovery.
func (e *engine) recovering(from, start, until string) []string {
	call := protocol.Recover{From: from, Start: start, Until: until, Store: e.store.access()}
	call.Result, call.Command = os.DevNull, []string{e.script("recover")}
	return append([]string{e.path("transfer")}, protocol.Args(&call)...)
}

// backUp stores a server, and returns the file of the archive in which the backup begins.
func (e *engine) backUp(t *trial) (start string, err error) {
	if start, err = e.start(t.data()); err != nil {
		return "", err
	}
	call := protocol.Backup{To: backupOf(e.place(t)), ID: t.id, Complete: true, Store: e.store.access()}
	call.Result, call.Command = os.DevNull, []string{e.script("backup")}
	_, err = e.do(e.environment("/none", t.port), append([]string{e.path("transfer")}, protocol.Args(&call)...)...)
	return start, err
}

func backupOf(place string) string {
	return fmt.Sprintf("s3://%s/%s/base", bucket, filepath.Base(place))
}

// restoring is the command that writes the backup into a folder.
func (e *engine) restoring(t *trial, into string) []string {
	call := protocol.Restore{From: backupOf(e.place(t)), ID: filepath.Base(into), Into: into, Store: e.store.access()}
	call.Result, call.Command = os.DevNull, []string{e.script("restore")}
	return append([]string{e.path("transfer")}, protocol.Args(&call)...)
}
