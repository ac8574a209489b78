/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// GeneratesCredentials reports whether the operator generates the credentials of the cluster.
func (s *Situation) GeneratesCredentials() bool { return engine.Generates(s.Declared, s.Engine) }

// ForeignCredentials reports whether another owner has the Secret with the name of the generated credentials.
func (s *Situation) ForeignCredentials() bool {
	return s.OwnedByAnother("Secret", naming.Credentials(s.Cluster.Name))
}

// ClientCredentials are the values that clients use. Once the members accept those of a rotation, clients get them.
func (s *Situation) ClientCredentials() state.Values {
	c := s.Credentials
	if s.RotationInForce() {
		return c.Rotated()
	}
	return state.Current(c.Values, c.Rotation)
}

// RotationInForce reports whether the Job of the rotation in progress has succeeded for all members that are ready. A member that has
// become ready after the Job was created may have applied files of the Secret that were not current. No clocks are compared: nodes have
// their own.
func (s *Situation) RotationInForce() bool {
	if s.Credentials.Rotation == "" || !s.RotationStarted || !s.Rotation.Succeeded || s.Rotation.Ending {
		return false
	}
	return !slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Ready && !slices.Contains(s.RotatedMembers, m.Readiness()) })
}

// UserRestarts reports whether the operator leaves the restart of outdated members to the user.
func (s *Situation) UserRestarts() bool {
	update := s.Cluster.Spec.UpdateStrategy
	return update.Paused || update.Type == dbv1.UpdateOnDelete
}

// AwaitsReferences reports whether a member runs with other contents of the Secrets and ConfigMaps that the spec names. It applies
// them at its next start.
func (s *Situation) AwaitsReferences() bool {
	now := pods.ReferencesHash(s.Cluster, s.References)
	return slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.References != now })
}

// ClientCA is the CA by which clients verify the members; "" while they connect without TLS. Members without a certificate get one
// by a restart, so clients wait until the members serve it. While the certificate is missing or invalid, members serve the previous one.
func (s *Situation) ClientCA() string {
	served, present := s.Cluster.Status.TLS != nil && s.Cluster.Status.TLS.Served != "", ""
	if s.Connection != nil {
		present = string(s.Connection.Data[engine.EntryCA])
	}
	switch {
	case s.Cluster.Spec.TLS == nil, !s.NotStarted() && !served && present == "":
		return ""
	case !s.TLS.Certificate.Valid():
		return present
	default:
		return s.TLS.Certificate.CA
	}
}

// CredentialsRefused reports whether the Secret with the credentials lacks values that the engine needs, or has unusable ones.
func (s *Situation) CredentialsRefused() bool {
	return s.Incompatible != nil && s.Incompatible.Reason == dbv1.ReasonSecretIncomplete
}

// CredentialsPending reports whether members have to wait for generated credentials.
func (s *Situation) CredentialsPending() bool {
	return s.GeneratesCredentials() && (s.ForeignCredentials() || len(engine.Lacking(s.Engine, s.Credentials.Keys())) > 0)
}
