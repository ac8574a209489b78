//go:build helm

/*
SPDX-License-Identifier: Apache-2.0
*/

package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The operator's namespace may contain databases. They would be deleted with the namespace.
func TestUndeployRemovesTheOperatorAndNothingThatDatabasesNeed(t *testing.T) {
	deleted := filepath.Join(t.TempDir(), "deleted.yaml")
	kubectl := filepath.Join(t.TempDir(), "kubectl")
	script := "#!/bin/sh\nfor file; do :; done\ncp \"$file\" " + deleted + "\n"
	if err := os.WriteFile(kubectl, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	before := listing(t)
	if said, err := exec.Command("env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "-u", "MAKEOVERRIDES", "make", "-C", "../..", "undeploy", "KUBECTL="+kubectl).CombinedOutput(); err != nil {
		t.Fatalf("make undeploy: %v\n%s", err, said)
	}
	text, err := os.ReadFile(deleted)
	if err != nil {
		t.Fatal(err)
	}
	deployments := 0
	for name, object := range decode(t, string(text)) {
		switch kind := object.GetKind(); {
		case kind == "Deployment":
			deployments++
		case kind == "Namespace", kind == "CustomResourceDefinition", strings.Contains(name, "-protected-"):
			t.Errorf("%s would be deleted", name)
		}
	}
	if deployments != 1 {
		t.Errorf("%d Deployments would be deleted", deployments)
	}
	if after := listing(t); after != before {
		t.Errorf("the output of make build-installer was overwritten with another image:\nbefore\n%s\nafter\n%s", before, after)
	}
}

// listing returns the files in dist with their times.
func listing(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../dist/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, file := range files {
		about, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(file + " " + about.ModTime().String() + "\n")
	}
	return all.String()
}
