/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// Deployment is an action that never ends: one pod runs it. Two pods never run at the same time, unless a node does not respond.
type Deployment struct {
	Spec
	// Stopped is true if no pod should run.
	Stopped bool
	// Ready and Alive are calls of transfer by which the kubelet judges the pod.
	Ready, Alive *Transfer
}

const (
	// probeSeconds is the interval of both probes, probeTimeoutSeconds their time limit, and aliveFailures how often the second fails
	// until the kubelet restarts the pod.
	probeSeconds        = 10
	probeTimeoutSeconds = 5
	aliveFailures       = 6
)

// BuildDeployment builds the Deployment of an action, for an effective cluster.
func BuildDeployment(cluster *dbv1.DatabaseCluster, s Deployment) objects.Child {
	cluster = pods.ForJobs(cluster)
	s.Resources = s.Kind.Resources(cluster)
	labels, spec := s.labels(cluster), s.pod(cluster)
	spec.Containers[0].
		WithReadinessProbe(probe(s.Ready)).
		WithLivenessProbe(probe(s.Alive).WithFailureThreshold(aliveFailures))
	deployment := appsv1ac.Deployment(s.Name, cluster.Namespace).
		WithLabels(labels).
		WithOwnerReferences(s.Owner).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(replicas(s.Stopped)).
			WithStrategy(appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector(labels))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithLabels(s.Kind.access()).
				WithAnnotations(pods.Scripts(cluster)).
				WithSpec(spec)))
	if pods.GeneratesServiceAccount(cluster) {
		deployment.WithAnnotations(map[string]string{dbv1.AnnotationServiceAccount: naming.ServiceAccount(cluster.Name)})
	}
	return objects.New(deployment)
}

func replicas(stopped bool) int32 {
	if stopped {
		return 0
	}
	return 1
}

// selector has the UID of the cluster, so a Deployment never adopts the pods of a previous cluster of the same name.
func selector(labels map[string]string) map[string]string {
	return map[string]string{
		dbv1.LabelInstance: labels[dbv1.LabelInstance], dbv1.LabelComponent: labels[dbv1.LabelComponent],
		dbv1.LabelClusterUID: labels[dbv1.LabelClusterUID],
	}
}

func probe(t *Transfer) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithExec(corev1ac.ExecAction().WithCommand(t.command()...)).
		WithPeriodSeconds(probeSeconds).
		WithTimeoutSeconds(probeTimeoutSeconds)
}
