/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// stalledRequeue is the interval for checking a companion for which the user must act: objects of others, and engines, are not watched.
const stalledRequeue = time.Minute

// CompanionPlan is what a pass does for a DatabaseCompanion.
type CompanionPlan struct {
	operation.Agenda
	verdict
	// image is that of the pods; "" if it is not known now.
	image string
}

// For decides what to do for a companion. A deletion leaves its objects to the garbage collector.
func For(companion *dbv1.DatabaseCompanion, seen CompanionFacts) CompanionPlan {
	if companion.DeletionTimestamp != nil {
		return CompanionPlan{verdict: verdict{reason: dbv1.ReasonDeleting, message: "the companion is being deleted"}}
	}
	if o := obstacleOf(companion, seen); o != nil {
		return blocked(companion, *o, seen)
	}
	p := CompanionPlan{}
	if why := due(companion, seen); why != "" {
		p.Operations = operation.List{CertifyCompanion{companion, seen, why}}
		if !seen.Certificate.Found() { // the next pass creates the pods with it
			p.verdict = verdict{reason: dbv1.ReasonObjectPending, message: "the certificate of the companion is being issued"}
			p.Why = p.message
			return p
		}
	}
	p.RequeueAfter = renewal(seen)
	a := applicationOf(companion, seen)
	p.Operations = append(p.Operations, writes(companion, a, seen)...)
	p.image, p.verdict = a.Image, verdictOf(companion, seen, p.Operations)
	p.Why = p.message
	return p
}

// writes are those of the objects that differ from the desired ones. The Service exists before the first pod.
func writes(companion *dbv1.DatabaseCompanion, a application, seen CompanionFacts) operation.List {
	return append(beside(companion, a.Port, seen), needed(deployment(companion, a, seen.Deployment), seen.Deployment, seen)...)
}

// beside are the writes of the objects without which the pods run, too.
func beside(companion *dbv1.DatabaseCompanion, port int32, seen CompanionFacts) operation.List {
	all := append(needed(service(companion, port), seen.Service, seen), needed(budget(companion), seen.Budget, seen)...)
	return append(admits(companion, seen), all...)
}

// needed is the write of an object, if it differs and has no other owner.
func needed(child objects.Child, live metav1.Object, seen CompanionFacts) operation.List {
	apply, differs := operation.ApplyOf(child, live)
	if !differs || seen.foreign(child.Kind()) {
		return nil
	}
	return operation.List{apply}
}

// verdict is what a pass reports.
type verdict struct {
	ready, available, stalled bool
	reason, message           string
}

// verdictOf is the state of the pods, as the Deployment and the pods themselves show it.
func verdictOf(companion *dbv1.DatabaseCompanion, seen CompanionFacts, todo operation.List) verdict {
	want, v := replicas(companion), verdict{available: serves(seen), reason: dbv1.ReasonRollingOut}
	d := seen.Deployment
	switch {
	case len(todo) > 0:
		v.reason, v.message = dbv1.ReasonApplying, "the operator applies the spec"
	case d == nil || d.Status.ObservedGeneration < d.Generation:
		v.message = "Kubernetes has not started the pods yet"
	case d.Status.UpdatedReplicas < want || d.Status.Replicas > want || d.Status.ReadyReplicas < want:
		v.message = fmt.Sprintf("%d of %d pods run the current spec, and %d are ready%s", min(d.Status.UpdatedReplicas, want), want,
			d.Status.ReadyReplicas, problem(seen))
	default:
		v.ready, v.reason, v.message = true, dbv1.ReasonReady, fmt.Sprintf("%d of %d pods are ready", want, want)
	}
	return v
}

// serves reports whether a client can connect to a pod.
func serves(seen CompanionFacts) bool {
	return seen.Deployment != nil && seen.Deployment.Status.ReadyReplicas > 0
}

// problem names the first pod that cannot run.
func problem(seen CompanionFacts) string {
	for _, pod := range seen.Pods {
		switch {
		case pod.Ready || pod.Terminating:
		case pod.Problem != "":
			return fmt.Sprintf(". Pod %s: %s%s", pod.Name, pod.Problem, remedy(pod.Remedy))
		case pod.Probe != "":
			return fmt.Sprintf(". Pod %s is not ready: %s", pod.Name, pod.Probe)
		}
	}
	return ""
}

func remedy(text string) string {
	if text == "" {
		return ""
	}
	return ". " + text
}
