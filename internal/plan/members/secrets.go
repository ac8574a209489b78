/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"maps"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Credentials generates the keys that the Secret of the cluster lacks. The Secret of a previous cluster of the same name has the
// passwords of its retained volumes, so the cluster adopts both.
func Credentials(s *situation.Situation) operation.List {
	if !s.GeneratesCredentials() || s.ForeignCredentials() {
		return nil
	}
	lacking := engine.Lacking(s.Engine, s.Credentials.Keys())
	if len(lacking) == 0 && s.Credentials.Cluster == s.Cluster.UID {
		return nil
	}
	return operation.List{operation.GenerateCredentials{Child: resources.Credentials(s.Cluster), Live: s.Credentials, Keys: lacking}}
}

// Connection writes the connection Secret as soon as the credentials exist. A password that members apply at their next start gets to
// clients after the members have started. The type of a Secret is immutable: one of another engine
// is deleted, and the next pass creates it again.
func Connection(s *situation.Situation) operation.List {
	live, described := s.Connection, s.Engine != nil && s.Engine.Spec.Connection != nil
	switch {
	case s.OwnedByAnother("Secret", naming.Connection(s.Cluster.Name)), !s.EngineKnown():
		return nil
	case live != nil && (!described || live.Type != resources.ConnectionType(s.Engine)):
		return operation.List{operation.Delete{Objects: []operation.Removal{{
			Kind: "Secret", Name: live.Name, UID: live.UID, Version: live.ResourceVersion, Why: "the engine describes another connection",
		}}}}
	case !described || !connectable(s):
		return nil
	}
	data, err := entries(s, s.ClientCA())
	if err != nil { // the flaw of an engine, which its condition Accepted reports
		return nil
	}
	if apply, needed := applyOf(resources.Connection(s.Cluster, s.Engine, data), live); needed {
		apply.Completes = s.RotationInForce()
		return operation.List{apply}
	}
	return nil
}

// connectable reports whether all that clients need exists: the credentials, and the certificate of a cluster with TLS. Clients of a cluster
// that has started need its current passwords, whatever else of the spec is refused or missing: that concerns only members.
func connectable(s *situation.Situation) bool {
	certified := s.Cluster.Spec.TLS == nil || s.TLS.Certificate.Valid()
	if s.NotStarted() {
		return s.Incompatible == nil && certified && !s.CredentialsPending() && len(s.Missing()) == 0
	}
	return (certified || s.ClientCA() != "") && !s.CredentialsPending()
}

// entries are those of the connection Secret. Until members have applied other credentials, only the CA changes: members load a
// certificate without a restart.
func entries(s *situation.Situation, authority string) (map[string][]byte, error) {
	all, err := engine.Connection(s.Cluster, s.Engine, s.ClientCredentials(), authority)
	if err != nil || s.Connection == nil || applied(s) {
		return all, err
	}
	present := maps.Clone(s.Connection.Data)
	if authority != "" && present[engine.EntryCA] != nil {
		present[engine.EntryCA] = []byte(authority)
	}
	return present, nil
}

// applied reports whether the members accept the current credentials: all have started with them, or an action has put them in force.
func applied(s *situation.Situation) bool {
	configured := s.Configuration() != "" && s.StatefulSet != nil && !unconfigured(s)
	return s.RotationInForce() || !s.CredentialsRefused() && (configured || !s.AwaitsReferences())
}
