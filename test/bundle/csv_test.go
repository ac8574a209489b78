/*
SPDX-License-Identifier: Apache-2.0
*/

package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The requirements of the community catalog pipeline for the texts of a CSV. OperatorHub shows up to 135 characters of
// the short description.
var required = map[string]string{
	"metadata.annotations.capabilities":   `^(Basic Install|Seamless Upgrades|Full Lifecycle|Deep Insights|Auto Pilot)$`,
	"metadata.annotations.categories":     `^Database$`,
	"metadata.annotations.containerImage": `^[^/]+/[^/]+/[^/:]+:.+$`,
	"metadata.annotations.repository":     `^https?://.+$`,
	"metadata.annotations.support":        `^.{3,}$`,
	"metadata.annotations.alm-examples":   `^(?s).{30,}$`,
	"metadata.annotations.description":    `^.{10,135}$`,
	"spec.displayName":                    `^.{3,50}$`,
	"spec.description":                    `^(?s).{20,}$`,
	"spec.version":                        `^[0-9]+\.[0-9]+\.[0-9]+$`,
	"spec.minKubeVersion":                 `^[0-9]+\.[0-9]+\.[0-9]+$`,
	"spec.maturity":                       `^(planning|pre-alpha|alpha|beta|stable|mature|inactive|deprecated)$`,
	"spec.provider.name":                  `^.{3,}$`,
	"spec.provider.url":                   `^https://.+$`,
}

func TestTheCSVHasTheTextsThatOperatorHubRequires(t *testing.T) {
	written := csv(t)
	for field, pattern := range required {
		path := strings.Split(field, ".")
		if value, _, err := unstructured.NestedString(written, path...); err != nil || !regexp.MustCompile(pattern).MatchString(value) {
			t.Errorf("%s is %q, want %s (%v)", field, value, pattern, err)
		}
	}
}

func TestTheCSVNamesWhoToAskAndWhereToRead(t *testing.T) {
	spec := load(t).CSV.Spec
	if len(spec.Maintainers) == 0 || len(spec.Links) == 0 || len(spec.Keywords) == 0 {
		t.Errorf("maintainers %v, links %v and keywords %v must not be empty", spec.Maintainers, spec.Links, spec.Keywords)
	}
	for _, maintainer := range spec.Maintainers {
		if _, err := mail.ParseAddress(maintainer.Email); err != nil || maintainer.Name == "" {
			t.Errorf("maintainer %+v: %v", maintainer, err)
		}
	}
	for _, link := range spec.Links {
		if at, err := url.Parse(link.URL); err != nil || at.Scheme != "https" || link.Name == "" {
			t.Errorf("link %+v: %v", link, err)
		}
	}
}

func TestTheDescriptionHasFeaturesPrerequisitesAndLimits(t *testing.T) {
	for _, heading := range []string{"Features", "Prerequisites", "Install modes", "Limits"} {
		if !strings.Contains(load(t).CSV.Spec.Description, "\n## "+heading+"\n") {
			t.Errorf("the description has no heading %q", heading)
		}
	}
}

func TestTheIconIsTheOneOfConfigManifests(t *testing.T) {
	icons := load(t).CSV.Spec.Icon
	if len(icons) != 1 || icons[0].MediaType != "image/svg+xml" {
		t.Fatalf("want one icon, an SVG: %+v", icons)
	}
	svg, err := base64.StdEncoding.DecodeString(icons[0].Data)
	if err != nil || string(svg) != text(t, root+"/config/manifests/icon.svg") {
		t.Errorf("the CSV has another icon than config/manifests/icon.svg: run `make bundle` (%v)", err)
	}
}

func TestTheCSVReplacesTheReleaseBeforeIt(t *testing.T) {
	previous, _, _ := strings.Cut(text(t, root+"/hack/previous-release"), " ")
	csv := load(t).CSV
	if want := "databasecluster-operator.v" + previous; csv.Spec.Replaces != want {
		t.Errorf("spec.replaces is %q, want %q", csv.Spec.Replaces, want)
	}
	if is, want := csv.Annotations["olm.skipRange"], fmt.Sprintf(">=%s <%s", previous, csv.Spec.Version); is != want {
		t.Errorf("olm.skipRange is %q, want %q", is, want)
	}
}

func TestTheCSVWasCreatedAtATime(t *testing.T) {
	if _, err := time.Parse(time.RFC3339, load(t).CSV.Annotations["createdAt"]); err != nil {
		t.Error(err)
	}
}

func TestEveryInstallModeIsSupported(t *testing.T) {
	modes := map[v1alpha1.InstallModeType]bool{}
	for _, mode := range load(t).CSV.Spec.InstallModes {
		modes[mode.Type] = mode.Supported
	}
	for _, mode := range []v1alpha1.InstallModeType{
		v1alpha1.InstallModeTypeOwnNamespace, v1alpha1.InstallModeTypeSingleNamespace,
		v1alpha1.InstallModeTypeMultiNamespace, v1alpha1.InstallModeTypeAllNamespaces,
	} {
		if !modes[mode] {
			t.Errorf("%s is not supported", mode)
		}
	}
}

// A feature requires a test. None of these has one.
func TestNoFeatureOfOpenShiftIsClaimed(t *testing.T) {
	const prefix = "features.operators.openshift.io/"
	annotations := load(t).CSV.Annotations
	for _, feature := range []string{
		"cnf", "cni", "csi", "disconnected", "fips-compliant", "proxy-aware", "tls-profiles",
		"token-auth-aws", "token-auth-azure", "token-auth-gcp",
	} {
		if annotations[prefix+feature] != "false" {
			t.Errorf("%s%s is %q", prefix, feature, annotations[prefix+feature])
		}
	}
}

func TestTheSuggestedNamespaceEnforcesPodSecurity(t *testing.T) {
	annotations := load(t).CSV.Annotations
	var namespace unstructured.Unstructured
	if err := json.Unmarshal([]byte(annotations["operatorframework.io/suggested-namespace-template"]), &namespace.Object); err != nil {
		t.Fatal(err)
	}
	if namespace.GetKind() != "Namespace" || namespace.GetName() != annotations["operatorframework.io/suggested-namespace"] {
		t.Errorf("the template is of %s %s", namespace.GetKind(), namespace.GetName())
	}
	if namespace.GetLabels()["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Errorf("its labels are %v", namespace.GetLabels())
	}
}

func TestEveryOwnedKindIsDescribedAndHasAnExample(t *testing.T) {
	bundle := load(t)
	var examples []unstructured.Unstructured
	if err := json.Unmarshal([]byte(bundle.CSV.Annotations["alm-examples"]), &examples); err != nil {
		t.Fatal(err)
	}
	for _, kind := range bundle.CSV.Spec.CustomResourceDefinitions.Owned {
		if kind.DisplayName == "" || kind.Description == "" || len(kind.Resources) == 0 {
			t.Errorf("%s has the display name %q, the description %q and the resources %v", kind.Kind, kind.DisplayName, kind.Description, kind.Resources)
		}
		at := slices.IndexFunc(examples, func(e unstructured.Unstructured) bool { return e.GetKind() == kind.Kind })
		if at < 0 {
			t.Errorf("%s has no example", kind.Kind)
			continue
		}
		conditions, _, _ := unstructured.NestedSlice(examples[at].Object, "status", "conditions")
		if len(kind.StatusDescriptors) == 0 || len(conditions) == 0 {
			t.Errorf("%s has %d descriptors of its status, and its example %d conditions", kind.Kind, len(kind.StatusDescriptors), len(conditions))
		}
	}
}
