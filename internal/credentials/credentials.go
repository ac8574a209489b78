/*
SPDX-License-Identifier: Apache-2.0
*/

// Package credentials generates the credentials of a cluster. A rotation, which replaces them, is a subject of its own.
package credentials

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the Secret with generated credentials.
var Subject = subject.Subject{Decide: func(s *situation.Situation) subject.Decision {
	if s.Deleting() {
		return subject.Decision{Leftovers: unused(s)}
	}
	return subject.Decision{Operations: generate(s)}
}}

// generate generates the keys that the Secret of the cluster lacks. The Secret of a previous cluster of the same name has the
// passwords of its retained volumes, so the cluster adopts both.
func generate(s *situation.Situation) operation.List {
	if !s.GeneratesCredentials() || s.ForeignCredentials() {
		return nil
	}
	lacking := engine.Lacking(s.Engine, s.Credentials.Keys())
	if len(lacking) == 0 && s.Credentials.Cluster == s.Cluster.UID {
		return nil
	}
	return operation.List{Generate{Child: secret(s.Cluster), Live: s.Credentials, Keys: lacking}}
}

// secret is the Secret with generated credentials, without its values, which are random. It has no owner reference:
// retained volumes are lost without their password, and in a foreground deletion the hooks need it.
func secret(cluster *dbv1.DatabaseCluster) objects.Child {
	desired := corev1ac.Secret(naming.Credentials(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentCredentials)).
		WithType(corev1.SecretTypeOpaque)
	if request := cluster.Annotations[dbv1.AnnotationRotateCredentials]; request != "" { // new passwords need no rotation
		desired.WithAnnotations(map[string]string{dbv1.AnnotationRotationRequest: request})
	}
	return objects.New(desired)
}

// Generate creates the Secret with generated credentials. If it exists, it gets the keys that it lacks, and the label of
// this cluster. Existing values never change.
type Generate struct {
	objects.Child
	// Live is the existing Secret. Keys are generated.
	Live state.Credentials
	Keys []engine.GeneratedKey
}

// Properties of Generate. Pods must not start without their Secret.
func (Generate) Properties() operation.Properties {
	return operation.Properties{First: true, LiveRead: true, Applies: true}
}

func (g Generate) String() string {
	names := make([]string, 0, len(g.Keys))
	for _, key := range g.Keys {
		names = append(names, key.Name)
	}
	switch {
	case !g.Live.Found():
		return fmt.Sprintf("create %s with generated %s", g.Child, strings.Join(names, ", "))
	case len(names) > 0:
		return fmt.Sprintf("add generated %s to %s", strings.Join(names, ", "), g.Child)
	default:
		return fmt.Sprintf("adopt %s of the previous cluster of the same name", g.Child)
	}
}

// unused is the generated Secret of a cluster that is being deleted, unless a volume remains: its data is lost without its password. A
// Secret of the user always stays.
func unused(s *situation.Situation) []operation.Removal {
	secret := s.Credentials
	if !secret.GeneratedFor(s.Cluster.UID) || len(situation.Staying(s.Volumes)) > 0 {
		return nil
	}
	target := operation.Target{Kind: operation.Core("Secret"), Name: secret.Name, UID: secret.UID, Version: secret.Version}
	return []operation.Removal{target.Because("no volume remains")}
}
