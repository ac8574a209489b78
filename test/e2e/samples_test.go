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

// A shown is a file of the gallery with the expected result on the real node.
type shown struct {
	file string // without .yaml
	// object must have the condition.
	object, condition string
	// before creates objects that the comment of the file cannot create literally; nil for none.
	before func(w *world)
	// check tests more than the condition; nil for none.
	check func(w *world)
	// stays keeps the objects of the file for the files after it.
	keep bool
}

// gallery is every file of the gallery, by its world. Files of one world are applied in order, so they can share an
// S3 server, and a restore can use a backup from a file before it.
var gallery = map[string][]shown{
	"PostgreSQL": {
		{file: "postgresql", object: "databasecluster/orders", condition: "Ready", keep: true},
		{file: "application", object: "deployment/web", condition: "Available"},
		{file: "web-application", object: "databasecompanion/shop", condition: "Ready", check: (*world).servesPage},
		{file: "growing-volumes", object: "databasecluster/events", condition: "Ready"},
		{file: "postgresql-tuned", object: "databasecluster/reports", condition: "Ready", check: shows("reports-0", "shared_buffers", "256MB")},
		{file: "configuration-files", object: "databasecluster/maps", condition: "Ready", check: shows("maps-0", "random_page_cost", "1.1")},
		{file: "metrics-sidecar", object: "databasecluster/stock", condition: "Ready", check: func(w *world) {
			w.eventually("true", "get", "pod", "stock-0", "-o", `jsonpath={.status.initContainerStatuses[?(@.name=="metrics")].ready}`)
		}},
		{file: "load-balancer", object: "databasecluster/tracking", condition: "Ready", check: func(w *world) { // the local node provides no address
			w.eventually("LoadBalancer", "get", "service", "tracking", "-o", "jsonpath={.spec.type}")
		}},
		{file: "network-policy", object: "databasecluster/accounts", condition: "Ready", check: (*world).refusesOthers},
		{file: "update-by-hand", object: "databasecluster/billing", condition: "Ready"},
		{file: "hibernated", object: "databasecluster/archive", condition: "Hibernated", check: func(w *world) {
			w.must(w.do("get", "pods", "-l", "app.kubernetes.io/instance=archive", "-o", "name") == "", "members run")
		}},
	},
	"Bucket": {
		{file: "backup-scheduled", object: "databasecluster/shop", condition: "Ready", before: (*world).startS3, keep: true},
		{file: "backup-now", object: "databasebackup/before-the-migration", condition: "Ready", keep: true},
		{file: "restore-by-name", object: "databasecluster/shop-restored", condition: "Ready"},
		{file: "restore-by-location", object: "databasecluster/shop-recovered", condition: "Ready", before: func(w *world) {
			w.replacements = append([]string{"s3://backups/prod/shop/shop/before-the-migration-1c2d3e4f",
				w.of("databasebackup/before-the-migration", "{.status.location}")}, w.replacements...)
		}},
		{file: "backup-encrypted", object: "databasecluster/salaries", condition: "Ready", before: (*world).createKey, check: func(w *world) {
			w.backup("secret", "salaries")
			w.completed("secret")
			files := w.bucket("ls " + folder(w.of("databasebackup/secret", "{.status.location}")) + "/member-0")
			w.must(strings.Contains(files, ".zst.age"), "the backup is not encrypted: %s", files)
		}},
		{file: "final-backup", object: "databasecluster/invoices", condition: "ProtectionEnforced", check: (*world).deletesInvoices, keep: true},
	},
	"Archive": {
		{file: "archive", object: "databasecluster/bookings", condition: "ContinuousArchiving", before: (*world).startS3, check: archivesBookings, keep: true},
		{file: "restore-to-a-moment", object: "databasecluster/bookings-then", condition: "Ready", check: hasBookings("bookings-then")},
		{file: "restore-in-place", object: "databaserestore/before-the-mistake", condition: "Ready", check: replacesBookings},
		{file: "restore-or-create", object: "databasecluster/tickets", condition: "Ready", check: func(w *world) {
			w.eventually("Create", "get", "databasecluster", "tickets", "-o", "jsonpath={.status.bootstrap}")
		}},
	},
	"Others": {
		{file: "redis-cache", object: "databasecluster/cache", condition: "Ready"},
		{file: "redis-persistent", object: "databasecluster/sessions", condition: "Ready"},
		{file: "postgresql-replicas", object: "databasecluster/payments", condition: "Ready", check: shows("payments-0", "work_mem", "16MB"), keep: true},
		{file: "pooler", object: "databasecompanion/payments-pool", condition: "Ready"},
		{file: "database-metrics", object: "databasecluster/locks", condition: "MonitoringConfigured"},
		{file: "autoscaled-replicas", object: "databasecluster/catalog", condition: "Ready", keep: true, check: func(w *world) {
			w.eventually("3 3", "get", "databasecluster", "catalog", "-o", "jsonpath={.spec.replicas} {.status.readyReplicas}")
		}},
		{file: "autoscaled-pooler", object: "databasecompanion/catalog-pool", condition: "Ready"},
		{file: "etcd", object: "databasecluster/registry", condition: "Ready"},
		{file: "memcached", object: "databasecluster/pages", condition: "Ready"},
		{file: "any-image", object: "databasecluster/jobs", condition: "Ready"},
		{file: "zones", object: "databasecluster/shards", condition: "Ready", before: (*world).nameZone},
		// The pod of the backup still uses the claim, so a deletion of the claim would wait.
		{file: "backup-volume", object: "databasecluster/ledger", condition: "Ready", keep: true, check: func(w *world) {
			w.backup("now", "ledger")
			w.completed("now")
		}},
		{file: "own-engine", object: "databasecluster/wiki", condition: "Ready", before: func(w *world) {
			w.kubectl("delete", "databaseengine", "mariadb-v1", "--ignore-not-found") // from an interrupted run: an engine is immutable
		}, check: (*world).backUpWiki},
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
				t.Errorf("a row of %s names %s, which does not exist or has another row", name, path)
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
			w.replacements = w.localImages(name)
			for _, s := range all {
				show(&w, s)
			}
		})
	}
}

// localImages returns the images of the samples of a world and of the S3 server, each followed by the local one.
func (w world) localImages(name string) []string {
	w.Helper()
	all := []string{
		"docker.io/library/postgres:17", postgresImage,
		"quay.io/prometheuscommunity/postgres-exporter:v0.17.1", cmp.Or(os.Getenv("PAUSE_IMG"), "localhost/pause:local"),
		"https://s3.example.org", "http://s3:7070",
	}
	if name == "PostgreSQL" {
		all = append(all, "docker.io/library/python:3-alpine", w.needs(patroniImage)) // it has Python
	}
	if name == "Others" {
		redis := w.needs(redisImage)
		all = append(all, "docker.io/library/redis:7", redis, "docker.io/valkey/valkey:8", redis, "docker.io/library/mariadb:11.4", w.needs(mariaDBImage),
			patroniImage.name, w.needs(patroniImage), poolerImage.name, w.needs(poolerImage), etcdImage.name, w.needs(etcdImage), cacheImage.name, w.needs(cacheImage))
	}
	return all
}

// show applies a file as its comment instructs, and waits for the expected result.
func show(w *world, s shown) {
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
	if s.check != nil {
		s.check(w)
	}
	if !s.keep {
		w.do("delete", "-f", path, "--ignore-not-found", "--timeout="+patience.String())
	}
}

// createSecrets runs the commands of a comment that create Secrets, except those with values that only the reader
// knows.
func (w world) createSecrets(text string) {
	w.Helper()
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n#", "")) {
		command, is := strings.CutPrefix(strings.TrimSpace(line), "#   kubectl create ")
		if !is || strings.Contains(command, "...") || strings.Contains(command, "--from-file") {
			continue
		}
		script := "set -o pipefail; kubectl -n " + w.namespace + " create " + command
		if output, err := exec.CommandContext(w.Context(), "bash", "-ec", script).CombinedOutput(); err != nil {
			w.Fatalf("%s: %v\n%s", script, err, output)
		}
	}
}

// shows returns a check that a server has a setting.
func shows(pod, setting, value string) func(*world) {
	return func(w *world) {
		w.Helper()
		got := w.psql(pod, "SHOW "+setting)
		w.must(got == value, "%s of %s is %q, want %q", setting, pod, got, value)
	}
}

// servesPage asks the web application by its Service.
func (w world) servesPage() {
	w.Helper()
	w.eventually("the database is orders", "exec", "deployment/shop", "--", "python3", "-c",
		`import urllib.request; print(urllib.request.urlopen("http://shop:8080").read().decode())`)
}

func (w world) startS3() { w.s3() }

// createKey creates the Secret with a key that age-keygen would print.
func (w world) createKey() {
	w.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		w.Fatal(err)
	}
	w.do("create", "secret", "generic", "backup-key", "--from-literal=identity="+identity.String())
}

// nameZone labels the node with the zone of the sample. Other clusters have their own zones.
func (w world) nameZone() {
	w.Helper()
	if onAnotherCluster {
		return
	}
	w.kubectl("label", "nodes", "--all", "topology.kubernetes.io/zone=local", "--overwrite")
	w.Cleanup(func() {
		_, _ = run(context.Background(), "", "label", "nodes", "--all", "topology.kubernetes.io/zone-")
	})
}

// deletesInvoices follows the comment of final-backup. A protected cluster cannot be deleted. Without protection, the
// deletion leaves only a final backup.
func (w world) deletesInvoices() {
	w.Helper()
	const off = `{"spec":{"deletion":{"protection":false}}}`
	w.Cleanup(func() {
		_, _ = run(context.Background(), "", "-n", w.namespace, "patch", "databasecluster", "invoices", "--type=merge", "-p", off)
	})
	w.await("invoices", "Ready")
	text, err := run(w.Context(), "", "-n", w.namespace, "delete", "databasecluster", "invoices", "--wait=false")
	w.must(err != nil && strings.Contains(text, "protect"), "the output of the deletion is %q", text)
	w.do("patch", "databasecluster", "invoices", "--type=merge", "-p", off)
	w.do("delete", "databasecluster", "invoices", "--timeout="+patience.String())
	w.completed(w.do("get", "databasebackups", "-o", `jsonpath={.items[?(@.spec.cluster=="invoices")].metadata.name}`))
	w.must(!strings.Contains(w.do("get", "persistentvolumeclaims", "-o", "name"), "data-invoices-0"), "the volume still exists")
}

// backUpWiki tests the actions of a custom engine. The check counts rows in the backup, and the restored copy must
// answer.
func (w world) backUpWiki() {
	w.Helper()
	w.apply(volume)
	w.do("exec", "wiki-0", "-c", "database", "--", "sh", "-ec", `MYSQL_PWD=$(cat /dbc/secrets/password) mariadb --no-defaults --socket=/tmp/mariadb.sock --user=root --execute="
		CREATE DATABASE wiki; USE wiki; CREATE TABLE wiki.page (id int PRIMARY KEY, text varchar(40)); INSERT INTO wiki.page SELECT seq, MD5(seq) FROM seq_1_to_10000;
		SELECT SLEEP(15)"`) // wait until the server has gathered statistics, which is a write
	w.do("patch", "databasecluster", "wiki", "--type=merge", "-p", `{"spec":{"backup":{"destination":{"url":"file:///wiki","claimName":"backups"}}}}`)
	w.await("wiki", "Ready")
	w.backup("wiki", "wiki")
	w.completed("wiki")
	w.verifies("wiki", "True", "its data matches the recorded facts")
	got := w.of("databasebackup/wiki", "{.status.verification.streams[0].facts.rows}")
	w.must(got == "10000", "the copy has %q rows: %s", got, w.of("databasebackup/wiki", "{.status}"))
}
