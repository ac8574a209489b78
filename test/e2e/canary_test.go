//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// canaries maps values in Secrets that must not occur anywhere else to their descriptions.
type canaries map[string]string

func (c canaries) value(of string) string {
	value := "canary" + strings.ToLower(rand.Text())[:20]
	c.note(value, of)
	return value
}

// note adds a value that exists already.
func (c canaries) note(value, of string) {
	c[value] = of
	c[base64.StdEncoding.EncodeToString([]byte(value))] = of + " in base64"
	c[hex.EncodeToString([]byte(value))] = of + " in hexadecimal"
}

// in returns the canaries that a text reveals.
func (c canaries) in(text string) []string {
	var found []string
	for value, of := range c {
		if strings.Contains(text, value) {
			found = append(found, of)
		}
	}
	return found
}

// texts are the collected texts, by source.
type texts struct {
	mutex sync.Mutex
	of    map[string]string
}

func (l *texts) add(where, text string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.of[where] = text
}

// follow reads the logs of all containers in the namespace repeatedly, because some pods are deleted after they end.
func (w world) follow(logs *texts) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // it ends before the deletion of the namespace
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			const each = `{range .items[*]}{.metadata.name}{range .spec['initContainers','containers'][*]} {.name}{end}{"\n"}{end}`
			pods, _ := run(ctx, "", "-n", w.namespace, "get", "pods", "-o", "jsonpath="+each)
			for line := range strings.Lines(pods) {
				for _, container := range strings.Fields(line)[1:] {
					pod := strings.Fields(line)[0]
					if text, err := run(ctx, "", "-n", w.namespace, "logs", pod, "-c", container); err == nil && text != "" {
						logs.add("the log of "+pod+"/"+container, text)
					}
				}
			}
			time.Sleep(time.Second)
		}
	})
	w.Cleanup(func() { cancel(); done.Wait() })
}

// everything adds all objects of the API server except Secrets, and the operator's logs and metrics.
func (w world) everything(all *texts, when string) {
	w.Helper()
	kinds := strings.Fields(w.kubectl("api-resources", "--verbs=list", "-o", "name"))
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "secrets" })
	w.must(len(kinds) > 30, "only %d kinds: %v", len(kinds), kinds)
	for _, kind := range kinds {
		text, _ := run(w.Context(), "", "get", kind, "-A", "-o", "json", "--show-managed-fields") // some kinds have no objects
		all.add(kind+" "+when, text)
	}
	all.add("the operator's log "+when, w.kubectl("-n", operatorNamespace, "logs", "-l", "control-plane=controller-manager", "--prefix", "--tail=-1"))
}

// The content of a Secret stays in it, with real databases and a real bucket. The test runs a rollout, backups, a
// restore, a verification, a deletion with a hook, and failures of these.
func TestTheContentOfASecretIsNowhereElse(t *testing.T) {
	onLocalNode(t, "it reads all objects of the cluster, and metrics by the addresses of pods")
	w, c, seen := newWorld(t), canaries{}, &texts{of: map[string]string{}}
	key := c.value("the access key's id")
	w.replacements = []string{
		"AWS_ACCESS_KEY_ID: test", "AWS_ACCESS_KEY_ID: " + key, "AWS_SECRET_ACCESS_KEY: test-secret", "AWS_SECRET_ACCESS_KEY: " + c.value("the access key"),
		"{password: secret, owner-password: owner, pooler-password: pooler}", "{password: " + c.value("the password") + ", owner-password: " + c.value("the password of the owner") +
			", pooler-password: " + c.value("the password of poolers") + "}",
	}
	w.manifest("v1", "Secret", "wrong", "stringData: {AWS_ACCESS_KEY_ID: "+key+", AWS_SECRET_ACCESS_KEY: "+c.value("the wrong access key")+"}")
	w.manifest("v1", "Secret", "nobodys", "stringData: {AWS_ACCESS_KEY_ID: "+c.value("a wrong id")+", AWS_SECRET_ACCESS_KEY: "+c.value("a wrong key")+"}")
	w.manifest("v1", "Secret", "more", "stringData: {TOKEN: "+c.value("the token")+"}")
	w.follow(seen)
	const more = `
container:
  env: [{name: OTHER_TOKEN, valueFrom: {secretKeyRef: {name: more, key: TOKEN}}}]
  envFrom: [{secretRef: {name: more}}]
  volumeMounts: [{name: more, mountPath: /more}]
pod: {volumes: [{name: more, secret: {secretName: more}}]}
deletion: {hooks: [{name: notify, type: Command, command: [sh, -ec, 'test -n "$TOKEN"; ls -l /dbc/secrets/ /more/']}]}`
	want := w.filled("backup: {deadlineSeconds: 60, destination: "+toS3+`, verification: {schedule: "@yearly"}}`, more)
	w.backup("good", "orders")
	w.completed("good")
	w.do("annotate", "databasebackup", "good", "database.dbcluster.io/verify=1")
	w.awaitReported("databasebackup/good", "Verified", "True")
	for _, name := range []string{"wrong", "nobodys"} {
		w.backup(name, "orders", `destination: {url: "s3://backups/x", endpoint: "http://s3:7070", credentialsSecretName: `+name+"}")
		w.eventually("Failed", "get", "databasebackup", name, "-o", "jsonpath={.status.phase}")
		w.awaitReported("databasebackup/"+name, "Stalled", "True")
	}
	w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/restart=1")
	w.await("orders", "Ready")
	w.restored("again", "{name: good}", want)
	w.everything(seen, "before the deletion")
	seen.add("what ps shows of the database", w.do("exec", "orders-0", "-c", "database", "--", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))
	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	_, figures := w.metrics(w.do("create", "token", w.reader()), `name="again"`)
	seen.add("the metrics", figures)
	w.everything(seen, "after the deletion")
	w.mustNotLeak(c, seen, "orders-0/database", "-backup-", "-verify-", "-restore-", "-notify-")
}

// Generated passwords and private keys stay in their Secrets, also during a rotation and a renewal.
func TestTheContentOfAGeneratedSecretIsNowhereElse(t *testing.T) {
	onLocalNode(t, "it reads all objects of the cluster")
	w, c, seen := newWorld(t), canaries{}, &texts{of: map[string]string{}}
	w.follow(seen)
	w.apply(w.sample("postgresql"))
	w.await("orders", "Ready")
	note := func(secret string, keys ...string) {
		for _, key := range keys {
			value := w.secret(secret, key)
			if lines := strings.Split(value, "\n"); len(lines) > 2 { // a line of a private key
				value = lines[1]
			}
			c.note(value, key+" of "+secret)
		}
	}
	note("orders-credentials", "password", "owner-password", "pooler-password")
	note("orders-tls", "tls.key")
	note("orders-ca", "tls.key")
	w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/rotate-credentials=1", "database.dbcluster.io/renew-certificate=1")
	w.do("wait", "--for=condition=CredentialsRotated", "databasecluster/orders", "--timeout="+patience.String())
	note("orders-credentials", "password", "owner-password", "pooler-password")
	note("orders-tls", "tls.key")
	w.everything(seen, "after a rotation")
	seen.add("what ps shows of the database", w.do("exec", "orders-0", "-c", "database", "--", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))
	w.mustNotLeak(c, seen, "orders-0/database") // a successful rotation prints nothing
}

// mustNotLeak searches the collected texts for canaries, and checks that the collection was large enough.
func (w world) mustNotLeak(c canaries, seen *texts, logs ...string) {
	w.Helper()
	seen.mutex.Lock()
	defer seen.mutex.Unlock()
	all := slices.Sorted(maps.Keys(seen.of))
	for _, log := range logs {
		w.must(slices.ContainsFunc(all, func(where string) bool {
			return strings.HasPrefix(where, "the log of ") && strings.Contains(where, log)
		}),
			"no log of %s was seen: %v", log, all)
	}
	for _, where := range all {
		if found := c.in(seen.of[where]); len(found) > 0 && !strings.HasPrefix(where, "the log of s3/") { // the server is not ours
			w.Errorf("found %s in %s", found, where)
		}
	}
	for value := range c { // otherwise the search would find nothing
		w.must(len(c.in(fmt.Sprintf("before %s after", value))) == 1, "the search does not find %s", value)
	}
}
