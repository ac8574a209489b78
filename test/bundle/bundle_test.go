/*
SPDX-License-Identifier: Apache-2.0
*/

// Package bundle checks the OLM bundle with the validators of operator-framework/api, which are newer
// than those in operator-sdk.
package bundle

import (
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	corev1 "k8s.io/api/core/v1"
)

func load(t *testing.T) *manifests.Bundle {
	t.Helper()
	bundle, err := manifests.GetBundleFromDir("../../bundle/manifests")
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

func TestTheBundlePassesTheValidatorsOfOperatorFramework(t *testing.T) {
	bundle := load(t)
	objects := bundle.ObjectsToValidate()
	for _, object := range bundle.Objects {
		objects = append(objects, object)
	}
	all := map[string]interfaces.Validator{
		"bundle": validation.BundleValidator, "csv": validation.ClusterServiceVersionValidator,
		"crd": validation.CustomResourceDefinitionValidator, "operatorhub": validation.OperatorHubV2Validator,
		"categories": validation.StandardCategoriesValidator, "capabilities": validation.StandardCapabilitiesValidator,
		"object": validation.ObjectValidator, "practices": validation.GoodPracticesValidator,
	}
	for name, validator := range all {
		t.Run(name, func(t *testing.T) {
			for _, result := range validator.Validate(objects...) {
				for _, problem := range slices.Concat(result.Errors, result.Warnings) {
					t.Error(problem)
				}
			}
		})
	}
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

func TestTheOperatorIsToldItsOwnImageToTakeTransferFrom(t *testing.T) {
	csv := load(t).CSV
	manager := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0]
	told := slices.IndexFunc(manager.Env, func(v corev1.EnvVar) bool { return v.Name == "TRANSFER_IMAGE" })
	if told < 0 || manager.Env[told].Value != manager.Image || manager.Image != csv.Annotations["containerImage"] {
		t.Errorf("the operator runs %q of %q and is told %+v", manager.Image, csv.Annotations["containerImage"], manager.Env)
	}
}
