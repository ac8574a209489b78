/*
SPDX-License-Identifier: Apache-2.0
*/

package bundle

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// offered is a template of schema olm.semver, as opm reads it.
type offered struct {
	Schema                  string `json:"schema"`
	GenerateMajorChannels   bool   `json:"generateMajorChannels"`
	GenerateMinorChannels   bool   `json:"generateMinorChannels"`
	Candidate, Fast, Stable bundles
}

type bundles struct {
	Bundles []struct{ Image string } `json:"bundles"`
}

func (b bundles) images() []string {
	var all []string
	for _, bundle := range b.Bundles {
		all = append(all, bundle.Image)
	}
	return all
}

func catalog(t *testing.T) offered {
	t.Helper()
	var template offered
	if err := yaml.UnmarshalStrict([]byte(text(t, root+"/config/catalog/semver.yaml")), &template); err != nil {
		t.Fatal(err)
	}
	return template
}

func TestTheCatalogOffersThisVersionInEachChannelOfTheBundleAndItsPredecessorInCandidate(t *testing.T) {
	template, bundle := catalog(t), load(t)
	const image = "ghcr.io/dbcluster/databasecluster-operator-bundle:v"
	today := image + bundle.CSV.Spec.Version.String()
	before := image + strings.TrimPrefix(bundle.CSV.Spec.Replaces, "databasecluster-operator.v")
	if template.Schema != "olm.semver" || !template.GenerateMajorChannels || template.GenerateMinorChannels {
		t.Errorf("the channels are not those of the bundle, one a major version: %+v", template)
	}
	for channel, offers := range map[string]bundles{"candidate-v0": template.Candidate, "fast-v0": template.Fast, "stable-v0": template.Stable} {
		if images := offers.images(); slices.Contains(images, today) != strings.Contains(text(t, root+"/bundle/metadata/annotations.yaml"), channel) {
			t.Errorf("channel %s offers %v, but the bundle does not", channel, images)
		}
	}
	if !slices.Contains(template.Candidate.images(), before) {
		t.Errorf("candidate offers %v: without %s, its users get no upgrade", template.Candidate.images(), before)
	}
}

func TestStableVersionsAreFastAndFastVersionsAreCandidates(t *testing.T) {
	template := catalog(t)
	for _, pair := range [][2]bundles{{template.Stable, template.Fast}, {template.Fast, template.Candidate}} {
		for _, image := range pair[0].images() {
			if !slices.Contains(pair[1].images(), image) {
				t.Errorf("%s is not in the channel below its own: users who change to that channel would get no upgrade", image)
			}
		}
	}
}
