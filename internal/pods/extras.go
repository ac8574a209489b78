/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// volumes are the volumes of both members and Jobs: the files of spec.config, the engine's scripts, the Secret of
// spec.credentials.secretName, and the volumes of spec.pod.
func volumes(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeApplyConfiguration {
	var all []*corev1ac.VolumeApplyConfiguration
	if name := ConfigMapName(cluster); name != "" {
		all = append(all, corev1ac.Volume().
			WithName(naming.ConfigVolume).
			WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(name)))
	}
	all = append(all, EngineVolumes(cluster)...)
	return append(all, objects.AsEach[corev1ac.VolumeApplyConfiguration](cluster.Spec.Pod.Volumes)...)
}

// VolumeMounts mount these volumes into a container that runs the cluster's image.
func VolumeMounts(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeMountApplyConfiguration {
	var all []*corev1ac.VolumeMountApplyConfiguration
	if config := cluster.Spec.Config; config != nil {
		all = append(all, corev1ac.VolumeMount().WithName(naming.ConfigVolume).WithMountPath(config.MountPath).WithReadOnly(true))
	}
	all = append(all, EngineMounts(cluster)...)
	return append(all, objects.AsEach[corev1ac.VolumeMountApplyConfiguration](cluster.Spec.Container.VolumeMounts)...)
}

// initContainers are those of spec.pod. A sidecar is an init container that keeps running.
func initContainers(cluster *dbv1.DatabaseCluster) []*corev1ac.ContainerApplyConfiguration {
	var all []*corev1ac.ContainerApplyConfiguration
	for _, c := range cluster.Spec.Pod.InitContainers {
		all = append(all, extraContainer(cluster, c))
	}
	for _, s := range cluster.Spec.Pod.Sidecars {
		container := WithProbes(extraContainer(cluster, s.ClusterExtraContainer),
			s.MemberProbes).WithRestartPolicy(corev1.ContainerRestartPolicyAlways)
		for _, port := range s.Ports {
			container.WithPorts(corev1ac.ContainerPort().WithName(port.Name).WithContainerPort(port.ContainerPort).WithProtocol(corev1.ProtocolTCP))
		}
		all = append(all, container)
	}
	return all
}

// extraContainer has the security context of the operator. Only its user comes from the spec.
func extraContainer(cluster *dbv1.DatabaseCluster, c dbv1.ClusterExtraContainer) *corev1ac.ContainerApplyConfiguration {
	if c.Image == "" {
		c.Image, c.ImagePullPolicy = cluster.Spec.Image, cluster.Spec.Container.ImagePullPolicy
	}
	security := corev1ac.SecurityContext().
		WithRunAsNonRoot(true).
		WithAllowPrivilegeEscalation(false).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
	if own := c.SecurityContext; own != nil {
		security.RunAsUser = own.RunAsUser
	}
	c.SecurityContext = nil
	return objects.As[corev1ac.ContainerApplyConfiguration](c).WithSecurityContext(security)
}

// WithProbes adds probes to a container.
func WithProbes(container *corev1ac.ContainerApplyConfiguration, probes dbv1.MemberProbes) *corev1ac.ContainerApplyConfiguration {
	if probes.StartupProbe != nil {
		container.WithStartupProbe(objects.As[corev1ac.ProbeApplyConfiguration](probes.StartupProbe))
	}
	if probes.ReadinessProbe != nil {
		container.WithReadinessProbe(objects.As[corev1ac.ProbeApplyConfiguration](probes.ReadinessProbe))
	}
	if probes.LivenessProbe != nil {
		container.WithLivenessProbe(objects.As[corev1ac.ProbeApplyConfiguration](probes.LivenessProbe))
	}
	return container
}

// ConfigMapName is the name of the ConfigMap with the files of spec.config; "" if there are no files.
func ConfigMapName(cluster *dbv1.DatabaseCluster) string {
	if cluster.Spec.Config == nil {
		return ""
	}
	return naming.ConfigMap(cluster.Name, objects.Hash(cluster.Spec.Config.Files)[:8])
}
