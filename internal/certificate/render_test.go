/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

// reloads is an engine that reloads certificates.
func reloads() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Spec.TLS = &dbv1.EngineTLS{Preamble: &dbv1.EngineTLSPreamble{Request: "0000000804d2162f", Response: "53"}}
	declared.Spec.Actions.Reload = &dbv1.EngineAction{Command: []string{"/dbc/scripts/reload"}}
	return declared
}

func TestTheObjectsOfACertificateMatchTheGoldenFiles(t *testing.T) {
	everything := golden.Input(t, "full")
	for name, child := range map[string]objects.Child{
		"full.reload-job":         reloadJob(everything, reloads(), "example.test/operator:1", "certificate"),
		"full.certificate":        CertManagerCertificate(everything, []string{"everything.shop.svc", "everything-0.everything-headless"}),
		"full.certificate-secret": certificateSecret(everything, "everything-tls", pki.Files{"tls.crt": []byte("public")}, "now"),
	} {
		t.Run(name, func(t *testing.T) { golden.Compare(t, name, child) })
	}
}
