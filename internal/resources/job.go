/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

const (
	// hookRetries are the tries after the first.
	hookRetries = 2
	// hookKeptSeconds is how long a hook's Job and its logs stay after it ended.
	hookKeptSeconds = 7 * 24 * 60 * 60
)

// HookJob runs a deletion hook. It has no owner: the garbage collector of a foreground deletion would
// take it as soon as it is there. The pods of one try are gone before the next starts.
func HookJob(cluster *dbv1.DatabaseCluster, hook dbv1.DeletionHook) Child {
	labels := naming.HookLabels(cluster)
	return newChild(batchv1ac.Job(naming.HookJob(cluster.Name, hook.Name, cluster.UID), cluster.Namespace).
		WithLabels(labels).
		WithSpec(batchv1ac.JobSpec().
			WithBackoffLimit(hookRetries).
			WithActiveDeadlineSeconds(cluster.Spec.Deletion.DeadlineSeconds).
			WithTTLSecondsAfterFinished(hookKeptSeconds).
			WithPodReplacementPolicy(batchv1.Failed).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(podSpec(cluster).
					WithRestartPolicy(corev1.RestartPolicyNever).
					WithContainers(baseContainer(cluster, naming.HookContainer).
						WithCommand(hook.Command...).
						WithVolumeMounts(withoutData(volumeMounts(cluster))...).
						WithEnv(hookEnvironment(cluster)...))))))
}

// withoutData are the mounts without those of the data volume, which is a member's.
func withoutData(mounts []*corev1ac.VolumeMountApplyConfiguration) []*corev1ac.VolumeMountApplyConfiguration {
	return slices.DeleteFunc(mounts, func(m *corev1ac.VolumeMountApplyConfiguration) bool { return *m.Name == naming.DataVolume })
}

// hookEnvironment tells a hook which cluster it is for and how to reach the members.
func hookEnvironment(cluster *dbv1.DatabaseCluster) []*corev1ac.EnvVarApplyConfiguration {
	hosts := make([]string, 0, cluster.Spec.Replicas)
	for ordinal := range cluster.Spec.Replicas {
		hosts = append(hosts, naming.MemberHost(cluster.Name, ordinal))
	}
	return []*corev1ac.EnvVarApplyConfiguration{
		variable("DBC_CLUSTER", cluster.Name),
		variable("DBC_NAMESPACE", cluster.Namespace),
		variable("DBC_PORT", strconv.Itoa(int(cluster.Spec.Port))),
		variable("DBC_REPLICAS", strconv.Itoa(int(cluster.Spec.Replicas))),
		variable("DBC_MEMBERS", strings.Join(hosts, " ")),
	}
}

func variable(name, value string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValue(value)
}
