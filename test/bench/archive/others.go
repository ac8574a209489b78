/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// receivewal is pg_receivewal with a slot, into a folder.
type receivewal struct{ *bench }

func (*receivewal) name() string           { return "pg_receivewal" }
func (*receivewal) missing() string        { return "" }
func (*receivewal) command(*trial) string  { return "" }
func (*receivewal) place(t *trial) string  { return filepath.Join(t.folder, "received") }
func (r *receivewal) begin(t *trial) error { return os.Mkdir(r.place(t), 0o700) }

func (r *receivewal) receiver(t *trial) (environment, words []string) {
	return nil, []string{"pg_receivewal", "-h", "127.0.0.1", "-p", t.port, "-U", "replicator", "-D", r.place(t), "--slot=receivewal"}
}

func (r *receivewal) has(t *trial, segment string) (bool, error) {
	return exists(filepath.Join(r.place(t), segment))
}

func (r *receivewal) recover(_ *trial, place, into string) error {
	return r.replay(into, fmt.Sprintf("cp %[1]s/%%f %%p 2>/dev/null || cp %[1]s/%%f.partial %%p 2>/dev/null", place))
}

// pusher is archive_command with zstd and an uploader.
type pusher struct{ *bench }

func (*pusher) name() string                                  { return "archive_command" }
func (p *pusher) missing() string                             { return p.absent["zstd"] }
func (*pusher) begin(*trial) error                            { return nil }
func (*pusher) receiver(*trial) (environment, words []string) { return nil, nil }
func (p *pusher) place(t *trial) string                       { return filepath.Join(p.store.bucket(), t.id) }

// self is this program with the place of the store.
func (p *pusher) self(verb string) string {
	return fmt.Sprintf("%s %s %s %s", p.path("bench"), verb, p.store.endpoint(), filepath.Join(p.store.keys, "ca.crt"))
}

func (p *pusher) command(t *trial) string {
	packed := filepath.Join(t.folder, "%f.zst")
	return fmt.Sprintf("zstd -q -f %%p -o %[1]s && %[2]s %[1]s %[3]s/%%f.zst && rm %[1]s", packed, p.self("put"), t.id)
}

func (p *pusher) has(t *trial, segment string) (bool, error) {
	return exists(filepath.Join(p.place(t), segment+".zst"))
}

func (p *pusher) recover(t *trial, place, into string) error {
	packed := filepath.Join(t.folder, "fetched.zst")
	return p.replay(into,
		fmt.Sprintf("%s %s/%%f.zst 2>/dev/null >%[3]s && zstd -q -d -f %[3]s -o %%p", p.self("get"), filepath.Base(place), packed))
}

// backrest is pgBackRest with its asynchronous archive.
type backrest struct{ *bench }

func (*backrest) name() string                                  { return "pgBackRest" }
func (r *backrest) missing() string                             { return r.absent["pgbackrest"] }
func (*backrest) receiver(*trial) (environment, words []string) { return nil, nil }
func (r *backrest) place(t *trial) string                       { return filepath.Join(r.store.bucket(), t.id) }

// begin writes the configuration. The compression is as that of transfer.
func (r *backrest) begin(t *trial) error {
	text := fmt.Sprintf(`[global]
repo1-type=s3
repo1-path=/%s
repo1-s3-bucket=%s
repo1-s3-endpoint=localhost
repo1-s3-region=us-east-1
repo1-s3-uri-style=path
repo1-s3-key=%s
repo1-s3-key-secret=%s
repo1-storage-port=%s
repo1-storage-ca-file=%s
repo1-bundle=y
repo1-retention-full=1
compress-type=zst
compress-level=3
process-max=2
archive-async=y
start-fast=y
spool-path=%[7]s/spool
lock-path=%[7]s/lock
log-path=%[7]s
log-level-console=warn
log-level-file=off
[main]
pg1-path=%[7]s/data
pg1-port=%[8]s
pg1-user=postgres
pg1-socket-path=%[9]s
`, t.id, bucket, accessKey, secretKey, r.store.port, filepath.Join(r.store.keys, "ca.crt"), t.folder, t.port, r.folder)
	for _, folder := range []string{"spool", "lock"} {
		if err := os.MkdirAll(filepath.Join(t.folder, folder), 0o700); err != nil {
			return fmt.Errorf("create a folder: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(t.folder, "pgbackrest.conf"), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	_, err := r.do(nil, append(r.words(t), "--no-online", "stanza-create")...)
	return err
}

func (r *backrest) words(t *trial) []string {
	return []string{"pgbackrest", "--config=" + filepath.Join(t.folder, "pgbackrest.conf"), "--stanza=main"}
}

func (r *backrest) command(t *trial) string {
	return strings.Join(append(r.words(t), "archive-push %p"), " ")
}

func (r *backrest) has(t *trial, segment string) (bool, error) {
	found, err := filepath.Glob(filepath.Join(r.place(t), "archive", "main", "*", "*", segment+"-*.zst"))
	return len(found) > 0, err
}

func (r *backrest) recover(t *trial, _, into string) error {
	return r.replay(into, strings.Join(append(r.words(t), "--pg1-path="+into, `archive-get %f "%p"`), " "))
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
