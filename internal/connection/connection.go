/*
SPDX-License-Identifier: Apache-2.0
*/

// Package connection writes what clients need to connect: a Secret in the form of the Service Binding specification.
package connection

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the connection Secret.
var Subject = subject.Subject{Read: read, Decide: decide}

func decide(s *situation.Situation) subject.Decision {
	d := subject.Decision{Report: func(o subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		status.Binding = binding(s, o)
		return nil
	}}
	if !s.Deleting() {
		d.Operations = write(s)
	}
	return d
}

// write writes the connection Secret as soon as the credentials exist. A password that members apply at their next start gets to
// clients after the members have started. The type of a Secret is immutable: one of another engine
// is deleted, and the next pass creates it again.
func write(s *situation.Situation) operation.List {
	live, described := s.Connection, s.Engine != nil && s.Engine.Spec.Connection != nil
	switch {
	case s.OwnedByAnother("Secret", naming.Connection(s.Cluster.Name)), !s.EngineKnown():
		return nil
	case live != nil && (!described || live.Type != secretType(s.Engine)):
		return operation.Deletion(operation.TargetOf(operation.Core("Secret"), live).Because("the engine describes another connection"))
	case !described || !connectable(s):
		return nil
	}
	data, err := entries(s, s.ClientCA())
	if err != nil { // the flaw of an engine, which its condition Accepted reports
		return nil
	}
	if apply, needed := operation.ApplyOf(secret(s.Cluster, s.Engine, data), live); needed {
		apply.Is.WhilePaused = s.RotationInForce() // it completes a change that members have in force already
		return operation.List{apply}
	}
	return nil
}

// connectable reports whether all that clients need exists: the credentials, and the certificate of a cluster with TLS. Clients of a
// cluster that has started need its current passwords, whatever else of the spec is refused or missing: that concerns only members.
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
	configured := s.Configuration() != "" && s.StatefulSet != nil && !s.Unconfigured()
	return s.RotationInForce() || !s.CredentialsRefused() && (configured || !s.AwaitsReferences())
}

// binding names the connection Secret, once it exists.
func binding(s *situation.Situation, outcome subject.Executed) *dbv1.ClusterBinding {
	name, exists := naming.Connection(s.Cluster.Name), s.Connection != nil
	for _, o := range outcome.Operations {
		switch o := o.(type) {
		case operation.Apply:
			exists = exists || outcome.Err == nil && o.Kind() == "Secret" && o.Name() == name
		case operation.Delete:
			exists = exists && !removes(o, name)
		}
	}
	if !exists {
		return nil
	}
	bound := &dbv1.ClusterBinding{Name: name}
	if s.Connection != nil {
		bound.ResourceVersion = s.Connection.ResourceVersion
	}
	return bound
}

func removes(o operation.Delete, secret string) bool {
	for _, removal := range o.Objects {
		if removal.Kind.Kind == "Secret" && removal.Name == secret {
			return true
		}
	}
	return false
}
