/*
SPDX-License-Identifier: Apache-2.0
*/

// Package companions gives the companions of a cluster that can pause their clients a name, by which actions find them.
package companions

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the headless Service of the companions that can pause.
var Subject = subject.Subject{Read: read, Decide: decide, Watches: subject.Watches{Objects: watches, Indexes: indexes}}

// Facts are what only this subject reads.
type Facts struct {
	// Pausing is true if a companion of the cluster can pause.
	Pausing bool
}

// decide writes the Service while a companion needs it. A change of the primary never waits for it: clients of a companion that is not
// found see what clients without one see.
func decide(s *situation.Situation) subject.Decision {
	pausing := state.FactsOf[Facts](s.Observed).Pausing
	switch {
	case s.Deleting() || s.OwnedByAnother("Service", naming.Companions(s.Cluster.Name)):
	case pausing && s.Engine != nil:
		if apply, needed := operation.ApplyOf(render(s.Cluster), s.Companions); needed {
			apply.Is = operation.Aside
			return subject.Decision{Operations: operation.List{apply}}
		}
	case !pausing && s.Companions != nil && s.Companions.DeletionTimestamp == nil:
		unwanted := operation.TargetOf(operation.Core("Service"), s.Companions).Because("no companion can pause")
		work := operation.Work{Is: operation.Aside, Text: "delete "}
		return subject.Decision{Operations: operation.Deletions(work, []operation.Removal{unwanted})}
	}
	return subject.Decision{}
}

// render has no port: scripts know the one on which their companion listens. No client connects here, so the Service includes pods that are
// not ready: one that terminates still has clients to pause.
func render(cluster *dbv1.DatabaseCluster) objects.Child {
	selector := naming.Selector(cluster.Name)
	selector[dbv1.LabelComponent], selector[dbv1.LabelPauses] = dbv1.ComponentCompanion, "true"
	return objects.New(corev1ac.Service(naming.Companions(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentCompanion)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(selector)),
		[]string{"spec", "selector"}, []string{"spec", "ports"}, []string{"spec", "type"}, []string{"spec", "clusterIP"})
}
