/*
SPDX-License-Identifier: Apache-2.0
*/

// Package archiver keeps a pod running that stores the log of a cluster continuously.
package archiver

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the continuous archive of a cluster.
var Subject = subject.Subject{
	Read: read, Decide: decide, Watches: subject.Watches{Objects: watches, Indexes: indexes},
	Transitions: []operation.Transition{
		operation.Reported(dbv1.ConditionContinuousArchiving, metav1.ConditionFalse, dbv1.ReasonArchiveBehind, corev1.EventTypeWarning),
		operation.Reported(dbv1.ConditionContinuousArchiving, metav1.ConditionTrue, "", corev1.EventTypeNormal),
	},
}

// decide writes the Deployment, or deletes it if the spec asks for no archive. Members never wait for it. A deletion leaves it to the
// garbage collector, which in a foreground deletion stops it before the members.
func decide(s *situation.Situation) subject.Decision {
	found := state.FactsOf[Facts](s.Observed)
	d := subject.Decision{Report: report(s, found)}
	looks, lookAgain := look(s, found)
	d.RequeueAfter = situation.Sooner(found.hearIn(s), lookAgain)
	switch wanted := engine.Archives(s.Cluster.Spec); {
	case s.Deleting() || s.Unusable != nil:
	case wanted && found.Image != "" && (found.Deployment != nil || s.Serves()):
		d.Operations = write(s, found)
		d.Pending = len(d.Operations) > 0
		d.Operations = append(d.Operations, looks...)
	case !wanted && found.Deployment != nil && found.Deployment.DeletionTimestamp == nil:
		kind := appsv1.SchemeGroupVersion.WithKind("Deployment")
		unwanted := operation.TargetOf(kind, found.Deployment).Because("spec.backup.archive is not set")
		work := operation.Work{Is: operation.Aside, Text: "delete "}
		d.Operations = operation.Deletions(work, []operation.Removal{unwanted})
	}
	return d
}

func write(s *situation.Situation, found Facts) operation.List {
	child := Render(s, found)
	apply, needed := operation.ApplyOf(child, found.Deployment)
	if !needed || found.Taken {
		return nil
	}
	apply.Is = operation.Aside
	return operation.List{apply}
}

// image is that of the primary, or of another member that serves. So an image that does not start stops no archive.
func image(s *situation.Situation, live *appsv1.Deployment) string {
	for _, all := range [][]state.Member{s.ReadyPrimaries(), s.Members} {
		if m, found := state.First(all, func(m state.Member) bool { return m.Serving(s.At) }); found {
			return m.Image
		}
	}
	return cmp.Or(imageOf(live), s.Cluster.Spec.Image)
}

func imageOf(live *appsv1.Deployment) string {
	if live == nil || len(live.Spec.Template.Spec.Containers) == 0 {
		return ""
	}
	return live.Spec.Template.Spec.Containers[0].Image
}
