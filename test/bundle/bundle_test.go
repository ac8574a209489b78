/*
SPDX-License-Identifier: Apache-2.0
*/

// Package bundle checks the committed OLM bundle: with the validators of operator-framework/api (newer than those in
// operator-sdk), against the rules of the OperatorHub pipeline, and against its sources.
package bundle

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/dbcluster/databasecluster-operator/config/rbac"
	"github.com/dbcluster/databasecluster-operator/test/bundle/checks"
)

const (
	root    = "../.."
	csvFile = root + "/bundle/manifests/databasecluster-operator.clusterserviceversion.yaml"
)

var whole = sync.OnceValues(func() (*manifests.Bundle, error) {
	return manifests.GetBundleFromDir(root + "/bundle/manifests")
})

// load returns the bundle, as a copy for the caller.
func load(t *testing.T) *manifests.Bundle {
	t.Helper()
	read, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	bundle := *read
	bundle.CSV, bundle.V1CRDs, bundle.Objects = read.CSV.DeepCopy(), nil, nil
	for _, crd := range read.V1CRDs {
		bundle.V1CRDs = append(bundle.V1CRDs, crd.DeepCopy())
	}
	for _, object := range read.Objects {
		bundle.Objects = append(bundle.Objects, object.DeepCopy())
	}
	return &bundle
}

func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// csv returns the CSV as written, including fields that are missing in the OLM types.
func csv(t *testing.T) map[string]any {
	t.Helper()
	var read map[string]any
	if err := yaml.Unmarshal([]byte(text(t, csvFile)), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// Omitted validators: those for other files (package manifests, OperatorGroups), the deprecated community validator,
// and MultipleArchitectures, which pulls the image with Docker.
var validators = map[string]interfaces.Validator{
	"bundle": validation.BundleValidator, "csv": validation.ClusterServiceVersionValidator,
	"crd": validation.CustomResourceDefinitionValidator, "operatorhub": validation.OperatorHubV2Validator,
	"categories": validation.StandardCategoriesValidator, "capabilities": validation.StandardCapabilitiesValidator,
	"object": validation.ObjectValidator, "practices": validation.GoodPracticesValidator,
	"removed APIs": validation.AlphaDeprecatedAPIsValidator,
}

// found returns all findings of a validator for a bundle.
func found(validator interfaces.Validator, bundle *manifests.Bundle) []string {
	objects := append(bundle.ObjectsToValidate(), map[string]string{"k8s-version": bundle.CSV.Spec.MinKubeVersion})
	for _, object := range bundle.Objects {
		objects = append(objects, object)
	}
	var problems []string
	for _, result := range validator.Validate(objects...) {
		for _, problem := range slices.Concat(result.Errors, result.Warnings) {
			problems = append(problems, problem.Error())
		}
	}
	return problems
}

func TestTheBundlePassesTheValidatorsOfOperatorFramework(t *testing.T) {
	bundle := load(t)
	for name, validator := range validators {
		for _, problem := range found(validator, bundle) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// A validator without input has no findings.
func TestEachValidatorSeesTheBundle(t *testing.T) {
	broken := map[string]func(*manifests.Bundle){
		"bundle":      func(b *manifests.Bundle) { b.V1CRDs = nil },
		"csv":         func(b *manifests.Bundle) { b.CSV.Spec.InstallModes = nil },
		"crd":         func(b *manifests.Bundle) { b.V1CRDs[0].Spec.Group = "" },
		"operatorhub": func(b *manifests.Bundle) { b.CSV.Spec.Provider.Name = "" },
		"categories":  func(b *manifests.Bundle) { b.CSV.Annotations["categories"] = "Databases" },
		"capabilities": func(b *manifests.Bundle) {
			b.CSV.Annotations["capabilities"] = "Everything"
		},
		"object": func(b *manifests.Bundle) {
			for _, object := range b.Objects {
				if object.GetKind() == "PodDisruptionBudget" {
					object.Object["spec"] = map[string]any{"maxUnavailable": int64(0)}
				}
			}
		},
		"practices": func(b *manifests.Bundle) {
			b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Resources.Requests = nil
		},
		"removed APIs": func(b *manifests.Bundle) {
			for _, object := range b.Objects {
				if object.GetKind() == "PodDisruptionBudget" {
					object.SetAPIVersion("policy/v1beta1")
				}
			}
		},
	}
	for name, validator := range validators {
		bundle := load(t)
		broken[name](bundle)
		if problems := found(validator, bundle); len(problems) == 0 {
			t.Errorf("%s finds nothing in a bundle that is broken", name)
		}
	}
}

func TestEveryFieldHasADescriptorAndEveryDescriptorAField(t *testing.T) {
	for _, problem := range checks.Descriptors(load(t)) {
		t.Error(problem)
	}
}

func TestTheCSVGivesTheRightsOfConfigRBACAndNoOthers(t *testing.T) {
	objects, err := rbac.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range checks.Permissions(load(t), objects) {
		t.Error(problem)
	}
}

func TestEveryImageOfTheOperatorIsRelated(t *testing.T) {
	for _, problem := range checks.RelatedImages(load(t)) {
		t.Error(problem)
	}
}

func TestNoRightOfTheOperatorIsAWildcard(t *testing.T) {
	strategy := load(t).CSV.Spec.InstallStrategy.StrategySpec
	for _, permissions := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		for _, rule := range permissions.Rules {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.ResourceNames, rule.Verbs, rule.NonResourceURLs) {
				if strings.Contains(word, "*") {
					t.Errorf("a rule has %q: %+v", word, rule)
				}
			}
		}
	}
}

// A Role must not have cluster-scoped permissions, and a ClusterRole must not have namespaced ones.
func TestNamespacedRightsEndInTheNamespacesOfTheOperatorGroup(t *testing.T) {
	everywhere := map[string]bool{
		"databaseengines": true, "databaseengines/status": true, "validatingadmissionpolicies": true, "validatingadmissionpolicybindings": true,
		"tokenreviews": true, "subjectaccessreviews": true, "nodes": true, "nodes/stats": true, "storageclasses": true,
	}
	strategy := load(t).CSV.Spec.InstallStrategy.StrategySpec
	hold := func(where string, permissions []v1alpha1.StrategyDeploymentPermissions, want bool) {
		for _, permission := range permissions {
			for _, rule := range permission.Rules {
				for _, resource := range rule.Resources {
					if everywhere[resource] != want {
						t.Errorf("%s are under %s", resource, where)
					}
				}
			}
		}
	}
	hold("permissions", strategy.Permissions, false)
	hold("clusterPermissions", strategy.ClusterPermissions, true)
}

func TestTheBundleIsOfTheVersionThatTheCSVIsNamedAfter(t *testing.T) {
	csv := load(t).CSV
	if want := "databasecluster-operator.v" + csv.Spec.Version.String(); csv.Name != want {
		t.Errorf("the CSV is called %q, want %q", csv.Name, want)
	}
	if image := csv.Annotations["containerImage"]; !strings.HasSuffix(image, ":v"+csv.Spec.Version.String()) {
		t.Errorf("containerImage is %q, of another version than the CSV (%s)", image, csv.Spec.Version)
	}
}

func TestTransferImageIsTheOperatorImage(t *testing.T) {
	csv := load(t).CSV
	manager := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0]
	variable := slices.IndexFunc(manager.Env, func(v corev1.EnvVar) bool { return v.Name == "TRANSFER_IMAGE" })
	if variable < 0 || manager.Env[variable].Value != manager.Image || manager.Image != csv.Annotations["containerImage"] {
		t.Errorf("the operator runs %q of %q and has the environment %+v", manager.Image, csv.Annotations["containerImage"], manager.Env)
	}
}
