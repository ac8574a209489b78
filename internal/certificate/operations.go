/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// IssueCertificate issues a certificate by the CA of the cluster. It has no keys: they are created when it is executed.
type IssueCertificate struct {
	// Certificate and Authority are the existing Secrets.
	Certificate, Authority state.Certificate
	// Name and AuthorityName are the names of the Secrets.
	Name, AuthorityName string
	// NewAuthority creates a CA, or the next one.
	NewAuthority bool
	Hosts        []string
	// Clients adds the CAs by which members know clients.
	Clients bool
	// Renewal is the value of the annotation that requests a renewal.
	Renewal string
	Why     string
}

// Properties of IssueCertificate.
func (IssueCertificate) Properties() operation.Properties { return operation.Aside }

func (i IssueCertificate) String() string {
	return fmt.Sprintf("issue the certificate in Secret %s: %s", i.Name, i.Why)
}
