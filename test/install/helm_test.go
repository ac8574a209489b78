//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	chart   = "charts/databasecluster-operator"
	release = "databasecluster-operator"
	// aSecret is the maximum size of a Secret: 1 MiB. Helm stores the whole release in one Secret. The chart grows with
	// the CRDs.
	aSecret = 1 << 20
)

// The story of a Helm user of the previous release, who applied the CRDs with kubectl.
func TestHelmAdoptsUpgradesAndKeepsRetainedObjects(t *testing.T) {
	w := newWorld(t, "charted")
	w.run("kubectl", "apply", "--server-side", "-f", previousCRDs)
	// At least one field must be new since the previous release.
	w.run("kubectl", "patch", "crd", "databaseclusters.database.dbcluster.io", "--type=json", "-p",
		`[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/hibernated"}]`)
	if w.definitionsAreCurrent() {
		t.Fatal("the CRDs have not changed since the previous release: the test shows nothing")
	}
	w.refused([]string{"cannot be imported into the current release"}, "helm", w.arguments("install")...)
	w.shell(w.documented("docs/install.md", "--take-ownership"))
	if !w.definitionsAreCurrent() {
		t.Error("the CRDs are not those of the chart")
	}
	w.highlyAvailable()
	w.fitsASecret()
	w.cluster("orders", 2)
	w.await("orders", "Available")
	databases, volumes := w.databases(), w.volumes()

	w.then("an upgrade with other values", func(w world) {
		before := w.operators()
		w.run("helm", w.arguments("upgrade", "--set", "extraArgs={--zap-log-level=debug}", "--set", "crds.install=false")...)
		w.highlyAvailable()
		if now := w.operators(); before == now {
			w.Errorf("the operator's pods are the same as before: %s", now)
		}
		w.protected()
		w.run("helm", w.arguments("upgrade", "--set", "admissionPolicies.install=false", "--set", "crds.install=true")...)
		w.protected()
		w.highlyAvailable()
		w.reconciled("orders")
		w.same(databases, w.databases(), "the databases")
	})
	w.then("standalone", func(w world) {
		w.run("helm", w.arguments("upgrade", "--set", "replicas=1")...)
		w.eventually(func(pods string) bool { return len(strings.Fields(pods)) == 1 }, "want one pod",
			"-n", operatorNamespace, "get", "pods", "-l", "control-plane=controller-manager", "-o", "name")
		w.led()
		w.refused([]string{"not found"}, "kubectl", "-n", operatorNamespace, "get", "poddisruptionbudget", "databasecluster-operator-controller-manager")
		w.reconciled("orders")
		w.same(databases, w.databases(), "the databases")
	})
	w.then("an uninstall before the clusters", func(w world) {
		w.uninstall()
		w.protected()
		w.same(databases, w.databases(), "the databases")
		w.same(volumes, w.volumes(), "the volumes")
		w.refused([]string{"DatabaseCluster", "orders"}, "hack/uninstall.sh")
		w.run("kubectl", "delete", "databasecluster", "orders", "--wait=false")
		w.refused([]string{"timed out"}, "kubectl", "wait", "--for=delete", "databasecluster/orders", "--timeout=5s")
		w.same(databases, w.databases(), "the databases")
	})
	w.then("a later install continues", func(w world) {
		w.shell(w.documented("README.md", "helm install"))
		w.run("kubectl", "wait", "--for=delete", "databasecluster/orders", "--timeout="+patience.String())
		w.same(volumes, w.volumes(), "the volumes")
		w.cluster("orders", 2)
		w.await("orders", "Available")
		w.same(volumes, w.volumes(), "the volumes")
	})
	w.then("the operator's namespace, with the release in it", func(w world) {
		databases := w.databases()
		w.run("kubectl", "delete", "namespace", operatorNamespace, "--timeout="+patience.String())
		w.protected()
		w.run("helm", w.arguments("install")...)
		w.highlyAvailable()
		w.reconciled("orders")
		w.same(databases, w.databases(), "the databases")
	})
	w.then("a release of another name", func(w world) {
		databases := w.databases()
		w.uninstall()
		w.shell(strings.ReplaceAll(w.documented("docs/install.md", "--take-ownership"), "--install "+release, "--install other --set fullnameOverride="+release))
		w.highlyAvailable()
		w.reconciled("orders")
		w.same(databases, w.databases(), "the databases")
		w.run("helm", "uninstall", "other", "--namespace", operatorNamespace, "--wait")
	})
	w.then("the end", func(w world) {
		w.freed("databasecluster", "orders")
		w.same(volumes, w.volumes(), "the volumes")
		w.run("hack/uninstall.sh")
		w.nothingLeft()
		w.same(volumes, w.volumes(), "the volumes")
	})
}

// The operator works only in the watched namespaces and has no permissions elsewhere.
func TestHelmWatchesOnlyTheGivenNamespaces(t *testing.T) {
	out, in := newWorld(t, "unwatched"), newWorld(t, "watched")
	in.run("helm", in.arguments("install", "--set", "watchNamespaces={watched}")...)
	in.highlyAvailable()
	out.cluster("orders", 1)
	in.cluster("orders", 1)
	in.await("orders", "Available")
	if seen := in.get("databasecluster", "orders", "-n", "unwatched", "-o", "jsonpath={.metadata.finalizers}{.status.conditions}"); seen != "" {
		t.Errorf("the operator worked in a namespace that it does not watch: %s", seen)
	}
	for namespace, want := range map[string]string{"watched": "yes", "unwatched": "no"} {
		can, _ := said(t.Context(), "", "kubectl", "auth", "can-i", "delete", "pods", "-n", namespace,
			"--as=system:serviceaccount:"+operatorNamespace+":databasecluster-operator-controller-manager")
		in.same(want, can, "whether the operator may delete pods in "+namespace)
	}
	in.run("helm", in.arguments("upgrade", "--set-json", `watchNamespaces=["watched","unwatched"]`)...)
	out.await("orders", "Available")
	in.run("kubectl", "delete", "databaseclusters", "--all", "--all-namespaces", "--timeout="+patience.String())
	in.uninstall()
	in.shell(in.documented("docs/install.md", "kubectl delete crd"))
	in.nothingLeft()
}

// arguments returns the arguments for an install or upgrade with the local image.
func (w world) arguments(verb string, more ...string) []string {
	repository, tag, _ := strings.Cut(image, ":")
	all := []string{verb, release, chart, "--namespace", operatorNamespace, "--wait", "--timeout", patience.String()}
	if verb == "install" {
		all = append(all, "--create-namespace", "--set", "image.repository="+repository+",image.tag="+tag)
	} else {
		all = append(all, "--reset-then-reuse-values")
	}
	return append(all, more...)
}

// documented returns a command from a document, with the local image.
func (w world) documented(file, words string) string {
	w.Helper()
	repository, tag, _ := strings.Cut(image, ":")
	return strings.ReplaceAll(documented(w.T, file, words), "image.repository=registry.example.com/databasecluster-operator",
		"image.repository="+repository+",image.tag="+tag)
}

func (w world) uninstall() {
	w.Helper()
	w.run("helm", "uninstall", release, "--namespace", operatorNamespace, "--wait", "--timeout", patience.String())
}

// definitionsAreCurrent reports whether the CRDs of the API server have the schemas of the chart.
func (w world) definitionsAreCurrent() bool {
	w.Helper()
	for _, definition := range w.definitions() {
		plural, _, _ := strings.Cut(definition, ".")
		text, err := os.ReadFile("../../" + chart + "/files/crds/" + plural + ".yaml")
		if err != nil {
			w.Fatal(err)
		}
		installed := w.get("crd", definition, "--ignore-not-found", "-o", "json")
		if installed == "" || !reflect.DeepEqual(w.schemas(string(text)), w.schemas(installed)) {
			return false
		}
	}
	return true
}

func (w world) schemas(definition string) any {
	w.Helper()
	var crd struct {
		Spec struct {
			Versions []struct{ Schema any }
		}
	}
	if err := yaml.Unmarshal([]byte(definition), &crd); err != nil || len(crd.Spec.Versions) == 0 {
		w.Fatalf("cannot decode a CRD: %v", err)
	}
	return crd.Spec.Versions
}

// fitsASecret limits the release to three quarters of the maximum, as an early warning.
func (w world) fitsASecret() {
	w.Helper()
	var secrets struct {
		Items []struct{ Data map[string]string }
	}
	if err := json.Unmarshal([]byte(w.get("secrets", "-n", operatorNamespace, "-l", "owner=helm", "-o", "json")), &secrets); err != nil || len(secrets.Items) == 0 {
		w.Fatalf("Helm has no release: %v", err)
	}
	for _, secret := range secrets.Items {
		text, err := base64.StdEncoding.DecodeString(secret.Data["release"])
		w.Logf("the release takes %d bytes of the %d of a Secret", len(text), aSecret)
		if err != nil || len(text) > aSecret*3/4 {
			w.Errorf("the release takes %d bytes of the %d of a Secret (%v): make the CRDs smaller", len(text), aSecret, err)
		}
	}
}
