/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Certificates is an operation on the certificate of a cluster: IssueCertificate, OwnCertificate or Reload.
//
//sumtype:decl
type Certificates interface {
	OnCluster
	certificates()
}

type ofCertificates struct{}

func (ofCertificates) onCluster()    {}
func (ofCertificates) certificates() {}

// IssueCertificate issues a certificate by the CA of the cluster. It has no keys: they are created when it is executed.
type IssueCertificate struct {
	ofCertificates
	Aside
	// Certificate and Authority are the existing Secrets.
	Certificate, Authority state.Certificate
	// Name and AuthorityName are the names of the Secrets.
	Name, AuthorityName string
	// NewAuthority creates a CA, or the next one.
	NewAuthority bool
	Hosts        []string
	// Renewal is the value of the annotation that requests a renewal.
	Renewal string
	Why     string
}

// OwnCertificate sets the cluster as the owner of the Secret that cert-manager created, so that it is deleted with the cluster.
type OwnCertificate struct {
	ofCertificates
	Aside
	Certificate state.Certificate
}

// Reload starts the Job after which members have loaded the certificate.
type Reload struct {
	ofCertificates
	Aside
	Job objects.Child
}

func (i IssueCertificate) String() string {
	return fmt.Sprintf("issue the certificate in Secret %s: %s", i.Name, i.Why)
}
func (o OwnCertificate) String() string { return "become the owner of Secret " + o.Certificate.Name }
func (r Reload) String() string         { return "load the certificate by " + r.Job.String() }
