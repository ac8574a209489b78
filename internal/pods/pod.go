/*
SPDX-License-Identifier: Apache-2.0
*/

// Package pods renders what the pods of members and Jobs share, and describes why a pod does not run.
package pods

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// defaultFSGroup owns the data volumes. It lets the image write there as any user.
const defaultFSGroup = 65532

// Template is the template of every member's pod.
func Template(cluster *dbv1.DatabaseCluster, references []Reference) *corev1ac.PodTemplateSpecApplyConfiguration {
	cluster = ForMembers(cluster)
	database := DatabaseContainer(cluster)
	spec := spreadMembers(cluster, Spec(cluster)).
		WithInitContainers(versionContainer(cluster)...).
		WithInitContainers(initContainers(cluster)...)
	withToken(spec, database, cluster)
	spec.WithContainers(database)
	spec.TerminationGracePeriodSeconds = cluster.Spec.Pod.TerminationGracePeriodSeconds
	if Ephemeral(cluster) {
		spec.WithVolumes(corev1ac.Volume().
			WithName(naming.DataVolume).
			WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(cluster.Spec.Storage.Size)))
	}
	mountTemplate(spec, naming.ClaimTemplate(cluster))
	return corev1ac.PodTemplateSpec().
		WithLabels(cluster.Spec.Pod.Labels).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithAnnotations(podAnnotations(cluster, references)).
		WithSpec(spec)
}

// mountTemplate mounts the volume of a volumeClaimTemplate as the data volume: Kubernetes gives it the name of the template.
func mountTemplate(spec *corev1ac.PodSpecApplyConfiguration, template string) {
	for _, containers := range [][]corev1ac.ContainerApplyConfiguration{spec.InitContainers, spec.Containers} {
		for _, c := range containers {
			for i := range c.VolumeMounts {
				if m := &c.VolumeMounts[i]; *m.Name == naming.DataVolume {
					m.Name = &template
				}
			}
		}
	}
}

// podAnnotations are the annotations of the spec and, where they are not empty, of the operator. A change of any
// annotation restarts the members.
func podAnnotations(cluster *dbv1.DatabaseCluster, references []Reference) map[string]string {
	all := maps.Clone(cluster.Spec.Pod.Annotations)
	if all == nil {
		all = map[string]string{}
	}
	for key, value := range map[string]string{
		dbv1.AnnotationRestart:    cluster.Annotations[dbv1.AnnotationRestart],
		dbv1.AnnotationReferences: ReferencesHash(cluster, references),
	} {
		if value != "" {
			all[key] = value
		}
	}
	return all
}

// Spec is common to members and Jobs. They get no token for the API server here: see withToken.
func Spec(cluster *dbv1.DatabaseCluster) *corev1ac.PodSpecApplyConfiguration {
	scheduling := cluster.Spec.Scheduling
	spec := withServiceAccount(corev1ac.PodSpec(), cluster).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurityContext(cluster)).
		WithImagePullSecrets(objects.AsEach[corev1ac.LocalObjectReferenceApplyConfiguration](cluster.Spec.Pod.ImagePullSecrets)...).
		WithNodeSelector(scheduling.NodeSelector).
		WithTolerations(objects.AsEach[corev1ac.TolerationApplyConfiguration](scheduling.Tolerations)...).
		WithVolumes(volumes(cluster)...)
	if scheduling.Affinity != nil {
		spec.WithAffinity(objects.As[corev1ac.AffinityApplyConfiguration](scheduling.Affinity))
	}
	if scheduling.PriorityClassName != "" {
		spec.WithPriorityClassName(scheduling.PriorityClassName)
	}
	return spec
}

// DatabaseContainer runs the database of a member.
func DatabaseContainer(cluster *dbv1.DatabaseCluster) *corev1ac.ContainerApplyConfiguration {
	spec := cluster.Spec
	container := BaseContainer(cluster, naming.Container).
		WithArgs(spec.Container.Args...).
		WithCommand(spec.Container.Command...).
		WithResources(objects.As[corev1ac.ResourceRequirementsApplyConfiguration](spec.Resources)).
		WithPorts(corev1ac.ContainerPort().WithName(naming.Port).WithContainerPort(spec.Container.Port).WithProtocol(corev1.ProtocolTCP)).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(naming.DataVolume).WithMountPath(spec.Container.DataPath)).
		WithVolumeMounts(VolumeMounts(cluster)...)
	return WithProbes(container, spec.Container.MemberProbes)
}

// BaseContainer runs the cluster's image with its environment.
func BaseContainer(cluster *dbv1.DatabaseCluster, name string) *corev1ac.ContainerApplyConfiguration {
	spec := cluster.Spec
	container := corev1ac.Container().
		WithName(name).
		WithImage(spec.Image).
		WithEnv(objects.AsEach[corev1ac.EnvVarApplyConfiguration](spec.Container.Env)...).
		WithEnvFrom(objects.AsEach[corev1ac.EnvFromSourceApplyConfiguration](spec.Container.EnvFrom)...).
		WithSecurityContext(ContainerSecurityContext(cluster))
	if spec.Container.ImagePullPolicy != "" {
		container.WithImagePullPolicy(spec.Container.ImagePullPolicy)
	}
	return container
}

// podSecurityContext satisfies the Pod Security Standard "restricted". The spec can override each field.
func podSecurityContext(cluster *dbv1.DatabaseCluster) *corev1ac.PodSecurityContextApplyConfiguration {
	return RestrictedPod(cluster.Spec.Pod.SecurityContext)
}

// RestrictedPod satisfies the Pod Security Standard "restricted", where the given security context does not override it.
func RestrictedPod(given *corev1.PodSecurityContext) *corev1ac.PodSecurityContextApplyConfiguration {
	if given == nil {
		given = &corev1.PodSecurityContext{}
	}
	merged := given.DeepCopy()
	setDefault(&merged.RunAsNonRoot, true)
	setDefault(&merged.FSGroup, defaultFSGroup)
	setDefault(&merged.FSGroupChangePolicy, corev1.FSGroupChangeOnRootMismatch)
	setDefault(&merged.SeccompProfile, corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault})
	return objects.As[corev1ac.PodSecurityContextApplyConfiguration](merged)
}

// ContainerSecurityContext satisfies the Pod Security Standard "restricted". The spec can override each field.
func ContainerSecurityContext(cluster *dbv1.DatabaseCluster) *corev1ac.SecurityContextApplyConfiguration {
	return RestrictedContainer(cluster.Spec.Container.SecurityContext)
}

// RestrictedContainer satisfies the Pod Security Standard "restricted", where the given security context does not override it.
func RestrictedContainer(given *corev1.SecurityContext) *corev1ac.SecurityContextApplyConfiguration {
	if given == nil {
		given = &corev1.SecurityContext{}
	}
	merged := given.DeepCopy()
	setDefault(&merged.AllowPrivilegeEscalation, false)
	setDefault(&merged.Capabilities, corev1.Capabilities{})
	if len(merged.Capabilities.Drop) == 0 {
		merged.Capabilities.Drop = []corev1.Capability{"ALL"}
	}
	return objects.As[corev1ac.SecurityContextApplyConfiguration](merged)
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// Ephemeral reports whether the data of members is deleted with their pods.
func Ephemeral(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Storage.Ephemeral != nil && *cluster.Spec.Storage.Ephemeral
}
