//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// search looks for the newest backup in the folder with the backup of this world.
func (w *world) search() outcome {
	w.t.Helper()
	return w.run(protocol.Args(&protocol.Search{At: w.location[:strings.LastIndex(w.location, "/")], ID: "uid-new", Store: w.store()})...)
}

func TestASearchOfABucketDistinguishesNothingFromUnknown(t *testing.T) {
	t.Parallel()
	closed, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	if o := w.must(w.search()); o.Found == nil || *o.Found != (protocol.Found{}) {
		t.Errorf("an empty bucket: %+v", o.Found)
	}
	for name, c := range map[string]struct {
		change func(*world)
		code   protocol.ExitCode
		reason protocol.Reason
	}{
		"a missing bucket":          {func(w *world) { w.location = "s3://missing/shop/orders" }, protocol.ExitPrecondition, protocol.DestinationMissing},
		"a wrong key":               {func(w *world) { w.key(protocol.SecretKeyFile, "guessed") }, protocol.ExitPrecondition, protocol.CredentialsRefused},
		"no server":                 {func(w *world) { w.endpoint = "http://" + closed }, protocol.ExitTransient, protocol.DestinationUnreachable},
		"an incomplete one":         {func(w *world) { w.must(w.backup("echo rows", "--complete=false")) }, protocol.ExitPrecondition, protocol.BackupUnclear},
		"an upload that was killed": {func(w *world) { w.killed() }, protocol.ExitPrecondition, protocol.BackupUnclear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.change(w)
			if o := w.fails(w.search(), c.code, c.reason); o.Found != nil {
				t.Errorf("it found %+v", o.Found)
			}
		})
	}
	// A health page, a console or an ingress without a backend is no empty bucket.
	for n, page := range []string{"", "ok", "{}", "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><body/></html>"} {
		t.Run(fmt.Sprint("another service ", n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.endpoint = answering(t, func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte(page)) })
			if o := w.search(); o.code == protocol.ExitDone || o.Found != nil {
				t.Errorf("it ends with %d and finds %+v", o.code, o.Found)
			}
		})
	}
	w.must(w.backup("echo rows"))
	if o := w.must(w.search()); o.Found == nil || o.Found.Location != w.location {
		t.Errorf("it found %+v", o.Found)
	}
}

// killed leaves the unfinished upload of a backup.
func (w *world) killed() {
	w.t.Helper()
	started := filepath.Join(w.t.TempDir(), "started")
	cmd, _ := w.command(w.t.Context(), w.backupArguments("head -c 50000000 /dev/urandom; touch "+started+"; sleep 3")...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	wait(w.t, started)
	if err := cmd.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}
