/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// report runs a command and makes its output the termination message of the container. A version is never worth a
// database that does not start, so a failure is no failure of the container.
const report = `"$@" >` + corev1.TerminationMessagePathDefault + ` || true`

// versionContainer is the init container that reports the version of the database. The kubelet copies its termination message to the
// status of the pod, which the operator watches: neither a Job nor a request is needed.
func versionContainer(cluster *dbv1.DatabaseCluster) []*corev1ac.ContainerApplyConfiguration {
	command := cluster.Spec.Container.VersionCommand
	if len(command) == 0 {
		return nil
	}
	container := corev1ac.Container().
		WithName(naming.VersionContainer).
		WithImage(cluster.Spec.Image).
		WithCommand("sh", "-c", report, "sh").
		WithCommand(command...).
		WithSecurityContext(ContainerSecurityContext(cluster)).
		WithResources(
			objects.As[corev1ac.ResourceRequirementsApplyConfiguration](Over(smallPart(cluster.Spec.Resources), cluster.Spec.Helpers.Resources)))
	if policy := cluster.Spec.Container.ImagePullPolicy; policy != "" {
		container.WithImagePullPolicy(policy)
	}
	if len(Scripts(cluster)) > 0 {
		container.WithVolumeMounts(scriptsMount())
	}
	return []*corev1ac.ContainerApplyConfiguration{container}
}

// small is what a program that prints its version needs at most, also one in Java. If its memory were too low, the kernel would end
// the shell, too, and the member could not start.
var small = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("500m"),
	corev1.ResourceMemory: resource.MustParse("512Mi"),
}

// smallPart sets the same requests and limits as the database container, so that the quality of service of the pod and the quotas
// of the namespace stay as they are. The values are lower: the kubelet cannot resize an init container, and the scheduler counts
// the highest of both.
func smallPart(of corev1.ResourceRequirements) corev1.ResourceRequirements {
	part := func(of corev1.ResourceList) corev1.ResourceList {
		all := corev1.ResourceList{}
		for name, most := range small {
			if given, set := of[name]; set {
				all[name] = given
				if given.Cmp(most) > 0 {
					all[name] = most
				}
			}
		}
		return all
	}
	return corev1.ResourceRequirements{Requests: part(of.Requests), Limits: part(of.Limits)}
}
