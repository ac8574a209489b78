/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	operator        = "databasecluster-operator"
	csvFile         = "manifests/" + operator + ".clusterserviceversion.yaml"
	iconFile        = "config/manifests/icon.svg"
	previousRelease = "hack/previous-release"
)

// finish completes the CSV of the bundle in a folder: the icon, the replaced release, the related images, and the
// creation time.
func finish(folder, image string, now time.Time) error {
	var csv, before unstructured.Unstructured
	if err := read(filepath.Join(folder, csvFile), &csv.Object); err != nil {
		return err
	}
	if err := read(filepath.Join("bundle", csvFile), &before.Object); err != nil && !os.IsNotExist(err) {
		return err
	}
	icon, err := os.ReadFile(iconFile)
	if err != nil {
		return err
	}
	release, err := os.ReadFile(previousRelease)
	if err != nil {
		return err
	}
	if err := complete(&csv, string(icon), string(release), image); err != nil {
		return err
	}
	if err := describe(&csv, filepath.Join(folder, "manifests")); err != nil {
		return err
	}
	annotate(&csv, "createdAt", createdAt(&before, &csv, now))
	text, err := yaml.Marshal(csv.Object)
	if err != nil {
		return fmt.Errorf("write the CSV: %w", err)
	}
	return os.WriteFile(filepath.Join(folder, csvFile), text, 0o644) //nolint:gosec // it is no secret
}

func read(file string, into any) error {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names it
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// complete sets the values of a CSV that come from other files, so that each has a single source.
func complete(csv *unstructured.Unstructured, icon, release, image string) error {
	previous, _, found := strings.Cut(strings.TrimSpace(release), " ")
	if !found || previous == version(csv) {
		return fmt.Errorf("%s contains %q: want the version before %s and its commit", previousRelease, release, version(csv))
	}
	annotate(csv, "olm.skipRange", fmt.Sprintf(">=%s <%s", previous, version(csv)))
	spec, _ := csv.Object["spec"].(map[string]any)
	if spec == nil {
		return fmt.Errorf("%s has no spec", csvFile)
	}
	spec["replaces"] = operator + ".v" + previous
	spec["icon"] = []any{map[string]any{
		"base64data": base64.StdEncoding.EncodeToString([]byte(icon)), "mediatype": "image/svg+xml",
	}}
	// Jobs for backups also use the operator image. There is no other image.
	spec["relatedImages"] = []any{map[string]any{"name": "manager", "image": image}}
	return nil
}

// createdAt returns the time at which the bundle of a version was first generated. Generating it again keeps the time.
func createdAt(before, csv *unstructured.Unstructured, now time.Time) string {
	if at := before.GetAnnotations()["createdAt"]; at != "" && version(before) == version(csv) {
		return at
	}
	return now.UTC().Format(time.RFC3339)
}

func version(csv *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(csv.Object, "spec", "version")
	return text
}

func annotate(csv *unstructured.Unstructured, key, value string) {
	annotations := csv.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	csv.SetAnnotations(annotations)
}
