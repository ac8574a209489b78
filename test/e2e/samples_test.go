//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
)

const galleryFolder = "../../config/samples/gallery"

// A shown is a file of the gallery and what must be true of it on the real node.
type shown struct {
	file string // without .yaml
	// object must have the condition.
	object, condition string
	// before creates what the comment of the file cannot create literally; nil for nothing.
	before func(w *world)
	// proves looks further than the condition; nil for no further.
	proves func(w *world)
	// stays keeps the objects of the file for those after it.
	stays bool
}

// gallery is every file of the gallery, by the world that it is applied in. Files of one world follow each other, so that
// they can use one S3 server, and restores the backup that was made before them.
var gallery = map[string][]shown{
	"PostgreSQL": {
		{file: "postgresql", object: "databasecluster/orders", condition: "Ready"},
		{file: "postgresql-tuned", object: "databasecluster/reports", condition: "Ready", proves: shows("reports-0", "shared_buffers", "256MB")},
		{file: "configuration-files", object: "databasecluster/maps", condition: "Ready", proves: shows("maps-0", "random_page_cost", "1.1")},
		{file: "metrics-sidecar", object: "databasecluster/stock", condition: "Ready", proves: func(w *world) {
			w.eventually("true", "get", "pod", "stock-0", "-o", `jsonpath={.status.initContainerStatuses[?(@.name=="metrics")].ready}`)
		}},
		{file: "load-balancer", object: "databasecluster/tracking", condition: "Ready", proves: func(w *world) { // no node here gives an address
			w.eventually("LoadBalancer", "get", "service", "tracking", "-o", "jsonpath={.spec.type}")
		}},
		{file: "update-by-hand", object: "databasecluster/billing", condition: "Ready"},
		{file: "hibernated", object: "databasecluster/archive", condition: "Hibernated", proves: func(w *world) {
			w.must(w.do("get", "pods", "-l", "app.kubernetes.io/instance=archive", "-o", "name") == "", "members run")
		}},
	},
	"Bucket": {
		{file: "backup-scheduled", object: "databasecluster/shop", condition: "Ready", before: (*world).startS3, stays: true},
		{file: "backup-now", object: "databasebackup/before-the-migration", condition: "Ready", stays: true},
		{file: "restore-by-name", object: "databasecluster/shop-restored", condition: "Ready"},
		{file: "restore-by-location", object: "databasecluster/shop-recovered", condition: "Ready", before: func(w *world) {
			w.instead = append([]string{"s3://backups/prod/shop/shop/before-the-migration-1c2d3e4f",
				w.of("databasebackup/before-the-migration", "{.status.location}")}, w.instead...)
		}},
		{file: "backup-encrypted", object: "databasecluster/salaries", condition: "Ready", before: (*world).createKey, proves: func(w *world) {
			w.backup("secret", "salaries")
			w.completed("secret")
			files := w.bucket("ls " + folder(w.of("databasebackup/secret", "{.status.location}")) + "/member-0")
			w.must(strings.Contains(files, ".zst.age"), "the backup is not encrypted: %s", files)
		}},
		{file: "final-backup", object: "databasecluster/invoices", condition: "ProtectionEnforced", proves: (*world).deletesInvoices, stays: true},
	},
	"Others": {
		{file: "redis-cache", object: "databasecluster/cache", condition: "Ready"},
		{file: "redis-persistent", object: "databasecluster/sessions", condition: "Ready"},
		{file: "any-image", object: "databasecluster/jobs", condition: "Ready"},
		{file: "zones", object: "databasecluster/shards", condition: "Ready", before: (*world).nameZone},
		{file: "backup-volume", object: "databasecluster/ledger", condition: "Ready", proves: func(w *world) {
			w.backup("now", "ledger")
			w.completed("now")
		}},
		{file: "own-engine", object: "databasecluster/wiki", condition: "Ready", before: func(w *world) {
			w.kubectl("delete", "databaseengine", "mariadb-v1", "--ignore-not-found") // of a run that was cut off: an engine cannot be changed
		}, proves: (*world).backsWikiUp},
	},
}

func TestTheGalleryWorks(t *testing.T) {
	files, err := filepath.Glob(galleryFolder + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for name, all := range gallery {
		for _, s := range all {
			path := filepath.Join(galleryFolder, s.file+".yaml")
			if !slices.Contains(files, path) || rows[path] {
				t.Errorf("a row of %s is for %s, which does not exist or has another row", name, path)
			}
			rows[path] = true
		}
	}
	for _, file := range files {
		if !rows[file] {
			t.Errorf("%s has no row: add one, so that this story applies it", file)
		}
	}
	for name, all := range gallery {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.instead = w.localImages(name)
			for _, s := range all {
				w.shows(s)
			}
		})
	}
}

// localImages are the images of the samples of a world, each followed by the one that the node has. So is the S3 server.
func (w world) localImages(name string) []string {
	w.Helper()
	all := []string{
		"docker.io/library/postgres:17", postgresImage,
		"quay.io/prometheuscommunity/postgres-exporter:v0.17.1", cmp.Or(os.Getenv("PAUSE_IMG"), "localhost/pause:local"),
		"https://s3.example.org", "http://s3:7070",
	}
	if name == "Others" {
		redis := w.needs(redisImage)
		all = append(all, "docker.io/library/redis:7", redis, "docker.io/valkey/valkey:8", redis, "docker.io/library/mariadb:11.4", w.needs(mariaDBImage))
	}
	return all
}

// shows applies a file as its comment says, and waits until what it shows is true.
func (w *world) shows(s shown) {
	w.Helper()
	path := filepath.Join(galleryFolder, s.file+".yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	w.Log("sample", s.file)
	if s.before != nil {
		s.before(w)
	}
	w.createSecrets(string(text))
	w.apply(string(text))
	w.do("wait", "--for=condition="+s.condition, s.object, "--timeout="+patience.String())
	if s.proves != nil {
		s.proves(w)
	}
	if !s.stays {
		w.do("delete", "-f", path, "--ignore-not-found", "--timeout="+patience.String())
	}
}

// createSecrets runs the commands of a comment that create Secrets, but for those with something that only the reader knows.
func (w world) createSecrets(text string) {
	w.Helper()
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n#", "")) {
		command, is := strings.CutPrefix(strings.TrimSpace(line), "#   kubectl create ")
		if !is || strings.Contains(command, "...") || strings.Contains(command, "--from-file") {
			continue
		}
		script := "set -o pipefail; kubectl -n " + w.namespace + " create " + command
		if said, err := exec.CommandContext(w.Context(), "bash", "-ec", script).CombinedOutput(); err != nil {
			w.Fatalf("%s: %v\n%s", script, err, said)
		}
	}
}

// shows is the proof that a server has a setting.
func shows(pod, setting, value string) func(*world) {
	return func(w *world) {
		w.Helper()
		got := w.psql(pod, "SHOW "+setting)
		w.must(got == value, "%s of %s is %q, want %q", setting, pod, got, value)
	}
}

func (w *world) startS3() { w.s3() }

// createKey creates the Secret with a key that age-keygen would print.
func (w *world) createKey() {
	w.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		w.Fatal(err)
	}
	w.do("create", "secret", "generic", "backup-key", "--from-literal=identity="+identity.String())
}

// nameZone gives the node the zone that the sample asks for. Other clusters have zones of their own.
func (w *world) nameZone() {
	w.Helper()
	if onAnotherCluster {
		return
	}
	w.kubectl("label", "nodes", "--all", "topology.kubernetes.io/zone=local", "--overwrite")
	w.Cleanup(func() {
		_, _ = run(context.Background(), "", "label", "nodes", "--all", "topology.kubernetes.io/zone-")
	})
}

// deletesInvoices follows the comment of final-backup: a protected cluster cannot be deleted; then its final backup is all
// that it leaves.
func (w *world) deletesInvoices() {
	w.Helper()
	const off = `{"spec":{"deletion":{"protection":false}}}`
	w.Cleanup(func() {
		_, _ = run(context.Background(), "", "-n", w.namespace, "patch", "databasecluster", "invoices", "--type=merge", "-p", off)
	})
	w.await("invoices", "Ready")
	text, err := run(w.Context(), "", "-n", w.namespace, "delete", "databasecluster", "invoices", "--wait=false")
	w.must(err != nil && strings.Contains(text, "protect"), "the deletion says %q", text)
	uid := w.of("databasecluster/invoices", "{.metadata.uid}")
	w.do("patch", "databasecluster", "invoices", "--type=merge", "-p", off)
	w.do("delete", "databasecluster", "invoices", "--timeout="+patience.String())
	w.completed("invoices-final-" + uid[:8])
	w.must(!strings.Contains(w.do("get", "persistentvolumeclaims", "-o", "name"), "data-invoices-0"), "the volume stays")
}

// backsWikiUp shows that the actions of the engine of one's own do what they are for: with rows, whose number the check
// compares, in a backup whose restored copy answers.
func (w *world) backsWikiUp() {
	w.Helper()
	w.apply(volume)
	w.do("exec", "wiki-0", "-c", "database", "--", "sh", "-ec", `MYSQL_PWD=$(cat /dbc/secrets/password) mariadb --no-defaults --socket=/tmp/mariadb.sock --user=root --execute="
		CREATE DATABASE wiki; CREATE TABLE wiki.page (id int PRIMARY KEY, text varchar(40)); INSERT INTO wiki.page SELECT seq, MD5(seq) FROM seq_1_to_10000;
		SELECT SLEEP(15)"`) // until the server has gathered statistics, which is a write
	w.do("patch", "databasecluster", "wiki", "--type=merge", "-p", `{"spec":{"backup":{"destination":{"url":"file:///wiki","claimName":"backups"}}}}`)
	w.await("wiki", "Ready")
	w.backup("wiki", "wiki")
	w.completed("wiki")
	w.verifies("wiki", "True", "its data agrees with what was recorded")
	got := w.of("databasebackup/wiki", "{.status.verification.streams[0].facts.rows}")
	w.must(got == "10000", "the copy has %q rows: %s", got, w.of("databasebackup/wiki", "{.status}"))
}
