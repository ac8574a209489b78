//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// catalogPort is the port of opm. OLM gets the address once; all catalogs of a test use it.
const catalogPort = "50391"

var stopServing = func() {}

// serves replaces the catalog by one with these versions, oldest first.
func (w world) serves(versions ...string) {
	w.Helper()
	folder := w.TempDir()
	catalog := filepath.Join(folder, "catalog")
	if slices.Equal(versions, []string{previous, version}) {
		catalog = "../../dist/catalog-inline" // the catalog of config/catalog, with its channels
	} else {
		w.renders(catalog, versions)
	}
	stopServing()
	began := time.Now().UTC().Truncate(time.Second)
	stop, err := start(folder, "opm", "serve", catalog, "-p", catalogPort, "--pprof-addr", "", "-t", filepath.Join(folder, "termination.log"))
	if err != nil {
		w.Fatal(err)
	}
	stopServing = stop
	w.Cleanup(stopServing)
	w.awaitListening("127.0.0.1:" + catalogPort)
	w.say("the catalog offers %s", strings.Join(versions, ", "))
	w.apply(global, fmt.Sprintf(`
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: databases, namespace: %s}
spec: {sourceType: grpc, address: "127.0.0.1:%s", displayName: Databases}`, global, catalogPort))
	w.awaitConnected(began)
}

// awaitConnected waits until OLM uses this catalog instead of the previous one.
func (w world) awaitConnected(began time.Time) {
	w.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		got = w.do(global, "get", "catalogsource", "databases", "-o", "jsonpath={.status.connectionState.lastObservedState} {.status.connectionState.lastConnect}")
		state, at, _ := strings.Cut(got, " ")
		if connected, err := time.Parse(time.RFC3339, at); err == nil && state == "READY" && !connected.Before(began) {
			return
		}
	}
	w.Fatalf("OLM does not reach the catalog: %s", got)
}

// renders renders a catalog with these versions in all three channels.
func (w world) renders(catalog string, versions []string) {
	w.Helper()
	template, arguments := "schema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: false\n", []string(nil)
	list := ""
	for _, v := range versions {
		list += "    - image: bundle:v" + v + "\n"
		arguments = append(arguments, "bundle:v"+v+"="+w.bundle(v))
	}
	for _, channel := range []string{"candidate", "fast", "stable"} {
		template += channel + ":\n  bundles:\n" + list
	}
	file := filepath.Join(w.TempDir(), "semver.yaml")
	if err := os.WriteFile(file, []byte(template), 0o600); err != nil {
		w.Fatal(err)
	}
	w.run("render", append([]string{"--inline", file, filepath.Join(catalog, "catalog.yaml")}, arguments...)...)
	w.run("opm", "validate", catalog)
}

func (w world) awaitListening(address string) {
	w.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if connection, err := net.Dial("tcp", address); err == nil {
			_ = connection.Close()
			return
		}
	}
	w.Fatalf("no server listens at %s", address)
}

// bundle returns the folder with the bundle of a version. The bundle of next is the current bundle with another version
// number.
func (w world) bundle(v string) string {
	w.Helper()
	switch v {
	case version:
		return "bundle"
	case previous:
		return os.Getenv("DBC_TEST_PREVIOUS_BUNDLE")
	}
	folder := filepath.Join(w.TempDir(), "bundle")
	if err := os.CopyFS(folder, os.DirFS("../../bundle")); err != nil {
		w.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "manifests", "*clusterserviceversion.yaml"))
	if err != nil || len(files) != 1 {
		w.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		w.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "  replaces:") || strings.HasPrefix(line, "    olm.skipRange:")
	})
	changed := strings.NewReplacer(
		"\n  name: "+operator+".v"+version+"\n", "\n  name: "+operator+".v"+v+"\n", "\n  version: "+version+"\n", "\n  version: "+v+"\n",
	).Replace(strings.Join(lines, "\n"))
	if err := os.WriteFile(files[0], []byte(changed), 0o600); err != nil {
		w.Fatal(err)
	}
	return folder
}

// csv returns the name of the ClusterServiceVersion of a version.
func csv(v string) string { return operator + ".v" + v }

// subscribes installs the operator with an OperatorGroup, which selects namespaces or all, and a Subscription.
func (w world) subscribes(namespace, channel string, watched ...string) {
	w.Helper()
	group := "{}"
	if len(watched) > 0 {
		group = "{targetNamespaces: [" + strings.Join(watched, ", ") + "]}"
	}
	w.apply(namespace, fmt.Sprintf(`
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: databases}
spec: %s
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: %s}
spec: {name: %[2]s, channel: %s, source: databases, sourceNamespace: %s}`, group, operator, channel, global))
	w.say("subscribed in %s to %s, watching %s", namespace, channel, group)
}

// installed waits until OLM reports a version as installed, and every replica runs it.
func (w world) installed(namespace, v string) {
	w.Helper()
	w.eventually(namespace, "Succeeded", "get", "csv", csv(v), "-o", "jsonpath={.status.phase}")
	w.do(namespace, "rollout", "status", deployment, "--timeout="+patience.String())
	w.say("%s is installed: %s", csv(v), w.do(namespace, "get", "csv", csv(v), "-o", "jsonpath={.status.phase} ({.status.reason}): {.status.message}"))
}

// unsubscribes removes the operator as documented.
func (w world) unsubscribes(namespace, v string) {
	w.Helper()
	w.do(namespace, "delete", "subscription", operator)
	w.do(namespace, "delete", "csv", csv(v))
	w.do(namespace, "wait", "--for=delete", deployment, "--timeout="+patience.String())
	w.say("Subscription and CSV are deleted, and the operator with them")
}
