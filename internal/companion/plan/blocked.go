/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// blocked starts no rollout: the pods keep their template. Scaling, repairs and the renewal of the certificate continue. The pods may be
// ready all the same.
func blocked(companion *dbv1.DatabaseCompanion, o obstacle, seen CompanionFacts) CompanionPlan {
	p := CompanionPlan{verdict: verdict{reason: o.reason, message: o.message, stalled: o.stalled, available: serves(seen)}}
	p.Why, p.RequeueAfter = o.message, situation.Sooner(seen.Period, renewal(seen))
	if o.stalled {
		p.RequeueAfter = stalledRequeue
	}
	switch {
	case seen.Deployment != nil:
		p.Operations = append(renew(companion, seen), keep(companion, seen)...)
	case restorable(companion, seen):
		a := applicationOf(companion, seen)
		p.image, p.Operations = a.Image, append(renew(companion, seen), writes(companion, a, seen)...)
	}
	return p
}

// renew issues the certificate that is due, if the operator can issue one.
func renew(companion *dbv1.DatabaseCompanion, seen CompanionFacts) operation.List {
	why := due(companion, seen)
	if why == "" || seen.foreign("Secret") || uncertified(companion, seen) != nil {
		return nil
	}
	return operation.List{CertifyCompanion{companion, seen, why}}
}

// keep are the writes for the pods that exist. The Service has the port of their template, which the spec may no longer have.
func keep(companion *dbv1.DatabaseCompanion, seen CompanionFacts) (all operation.List) {
	if port := portOf(seen.Deployment); port != 0 {
		all = beside(companion, port, seen)
	}
	return append(all, scale(companion, seen.Deployment)...)
}

// scale changes only the number of pods. It waits if the record of the Deployment is of its next generation, which the change would get:
// see objects.RecordsNext.
func scale(companion *dbv1.DatabaseCompanion, live *appsv1.Deployment) operation.List {
	want := replicas(companion)
	if live.Spec.Replicas != nil && *live.Spec.Replicas == want || objects.RecordsNext(live) {
		return nil
	}
	scaled := live.DeepCopy()
	scaled.Spec.Replicas = &want
	text := fmt.Sprintf("scale Deployment %s to %d", live.Name, want)
	return operation.List{operation.Change{Work: operation.Work{Is: operation.Properties{LiveRead: true, Applies: true}, Text: text},
		Patches: []operation.Patch{{Before: live, After: scaled, Text: text}}}}
}

// restorable reports whether the Deployment existed before, and everything is known of which its pods are rendered.
func restorable(companion *dbv1.DatabaseCompanion, seen CompanionFacts) bool {
	return companion.Status.Deployment != nil && !seen.foreign("Deployment") && !seen.foreign("Secret") && missing(companion, seen) == nil &&
		(!ServesTLS(companion, seen.Cluster) || seen.Certificate.Found())
}

// portOf is the port of the pods of a Deployment; 0 without one.
func portOf(live *appsv1.Deployment) int32 {
	for _, c := range live.Spec.Template.Spec.Containers {
		for _, port := range c.Ports {
			if c.Name == naming.CompanionContainer && port.Name == naming.CompanionPort {
				return port.ContainerPort
			}
		}
	}
	return 0
}
