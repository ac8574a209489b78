/*
SPDX-License-Identifier: Apache-2.0
*/

package archiver

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete

var (
	watches = []kit.Watch{{Object: &appsv1.Deployment{}, When: kit.Filter(deploymentFacts), Delay: subject.RepairDelay}}
	indexes = []kit.Index{{Kind: &appsv1.Deployment{}, Name: subject.IndexCluster, Value: subject.ClusterName}}
)

// Facts are the state of the archive.
type Facts struct {
	// Deployment is nil if it does not exist.
	Deployment *appsv1.Deployment
	// Pod is the newest pod; nil for none.
	Pod *state.Member
	// Taken is true if another owner has a Deployment of that name.
	Taken bool
	// Image has the transfer program; "" if the operator runs without it.
	Image string
	// Look is the Job that reads what can be recovered. Looked is true if it exists. Occasion is why it ran.
	Look     jobs.Job
	Looked   bool
	Occasion string
}

// read reads the Deployment and its pod. Most clusters have none, so a cluster that asks for no archive is not looked up.
func read(ctx context.Context, o *subject.ClusterReading) {
	facts := Facts{Image: o.TransferImage}
	if engine.Archives(o.Cluster.Spec) {
		// The conflict concerns only the archive.
		others, ref := o.Foreign, state.Ref{Kind: "Deployment", Name: naming.Archive(o.Cluster.Name)}
		facts.Deployment = subject.Child(ctx, o, ref, deploymentFacts)
		facts.Taken, o.Foreign = len(o.Foreign) > len(others), others
	} else {
		facts.Deployment = leftover(ctx, o)
	}
	if facts.Deployment != nil {
		facts.Pod = pod(ctx, o)
	}
	if engine.Archives(o.Cluster.Spec) {
		if job, seen, found := o.JobNamed(ctx, lookAction, naming.RecoveryJob(o.Cluster.Name, o.Cluster.UID)); found {
			facts.Look, facts.Looked, facts.Occasion = seen, true, job.Annotations[dbv1.AnnotationOccasion]
		}
	}
	state.Put(&o.Observed, facts)
}

func labels(o *subject.ClusterReading) map[string]string {
	all := naming.Selector(o.Cluster.Name)
	all[dbv1.LabelComponent], all[dbv1.LabelClusterUID] = dbv1.ComponentArchive, string(o.Cluster.UID)
	return all
}

// leftover is read from the cache only: its deletion has preconditions, and most clusters never had one.
func leftover(ctx context.Context, o *subject.ClusterReading) *appsv1.Deployment {
	found := &appsv1.DeploymentList{}
	if o.Err != nil {
		return nil
	}
	options := append(o.Others.By(o.Cluster.Namespace, subject.IndexCluster, o.Cluster.Name), client.MatchingLabels(labels(o)))
	if err := o.Others.List(ctx, found, options...); err != nil {
		o.Err = fmt.Errorf("list the archives of cluster %s: %w", o.Cluster.Name, err)
	}
	for i := range found.Items {
		if metav1.IsControlledBy(&found.Items[i], o.Cluster) {
			return deploymentFacts(&found.Items[i])
		}
	}
	return nil
}

// pod reads the newest pod.
func pod(ctx context.Context, o *subject.ClusterReading) *state.Member {
	list := &corev1.PodList{}
	o.Labeled(ctx, list, labels(o), client.UnsafeDisableDeepCopy)
	var newest *state.Member
	for i := range list.Items {
		if p := state.MemberOf(&list.Items[i], 0); newest == nil || newest.Created.Before(&p.Created) {
			newest = &p
		}
	}
	if newest == nil {
		return nil
	}
	return new(o.Hear(ctx, *newest))
}

// deploymentFacts are the fields of the Deployment that the operator uses. Its pod shows how it is.
func deploymentFacts(d *appsv1.Deployment) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: state.MetadataFacts(d.ObjectMeta), Spec: d.Spec}
}
