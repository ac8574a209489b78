/*
SPDX-License-Identifier: Apache-2.0
*/

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	corev1 "k8s.io/api/core/v1"
)

// RelatedImages returns images of the operator's Deployments that are missing in spec.relatedImages. A mirror of the
// bundle would lack them. Users choose the images of databases.
func RelatedImages(bundle *manifests.Bundle) []string {
	var problems []string
	related := map[string]string{}
	for _, image := range bundle.CSV.Spec.RelatedImages {
		if image.Name == "" {
			problems = append(problems, fmt.Sprintf("spec.relatedImages names no purpose for %s", image.Image))
		}
		related[image.Image] = image.Name
	}
	used := map[string]bool{bundle.CSV.Annotations["containerImage"]: true}
	for _, deployment := range bundle.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		pod := deployment.Spec.Template.Spec
		for _, container := range append(pod.InitContainers, pod.Containers...) {
			used[container.Image] = true
			for _, variable := range container.Env {
				if isImage(variable) {
					used[variable.Value] = true
				}
			}
		}
	}
	for _, image := range slices.Sorted(maps.Keys(used)) {
		if _, named := related[image]; !named {
			problems = append(problems,
				fmt.Sprintf("spec.relatedImages lacks %q, which the operator's Deployment or the annotation containerImage names", image))
		}
	}
	return problems
}

func isImage(variable corev1.EnvVar) bool {
	return variable.ValueFrom == nil && (strings.HasPrefix(variable.Name, "RELATED_IMAGE_") || strings.HasSuffix(variable.Name, "_IMAGE"))
}
