/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

const (
	// someImage stands for the image of the operator where no object shows it. Without an image, the operator creates no Jobs, and reports
	// that its flag is missing.
	someImage = "the operator's image"
	// usualDomain is the domain of the DNS names of Services, if no certificate shows another one.
	usualDomain = "cluster.local"
)

// newestFirst are Jobs in the order of their creation, the newest first.
func newestFirst(all []batchv1.Job) []batchv1.Job {
	slices.SortStableFunc(all, func(a, b batchv1.Job) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	return all
}

// transferImage is the image of the first pod with the transfer program.
func transferImage(all []corev1.PodTemplateSpec) string {
	for _, template := range all {
		for _, container := range template.Spec.InitContainers {
			if container.Name == naming.TransferContainer {
				return container.Image
			}
		}
	}
	return someImage
}

// domainOf is the domain of the names that the operator has put into the certificate.
func domainOf(s *situation.Situation) string {
	if s.Cluster.Spec.TLS == nil {
		return usualDomain
	}
	hosts := s.TLS.Certificate.Names
	if live := s.TLS.Issuance.Live; live != nil {
		requested, _, _ := unstructured.NestedStringSlice(live.Object, "spec", "dnsNames") // no names are an answer
		hosts = slices.Concat(requested, hosts)
	}
	before := naming.Service(s.Cluster.Name) + "." + s.Cluster.Namespace + ".svc."
	for _, host := range hosts {
		if domain, qualified := strings.CutPrefix(host, before); qualified {
			return domain
		}
	}
	return usualDomain
}
