/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// defaultFSGroup owns the data volumes. It lets the image write there as any user.
const defaultFSGroup = 65532

// podTemplate is the template of every member's pod.
func podTemplate(cluster *dbv1.DatabaseCluster, references []state.Reference) *corev1ac.PodTemplateSpecApplyConfiguration {
	database := databaseContainer(cluster)
	spec := spreadMembers(cluster, podSpec(cluster)).
		WithInitContainers(versionContainer(cluster)...).
		WithInitContainers(initContainers(cluster)...)
	withToken(spec, database, cluster)
	spec.WithContainers(database)
	spec.TerminationGracePeriodSeconds = cluster.Spec.Pod.TerminationGracePeriodSeconds
	if ephemeral(cluster) {
		spec.WithVolumes(corev1ac.Volume().
			WithName(naming.DataVolume).
			WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(cluster.Spec.Storage.Size)))
	}
	return corev1ac.PodTemplateSpec().
		WithLabels(cluster.Spec.Pod.Labels).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithAnnotations(podAnnotations(cluster, references)).
		WithSpec(spec)
}

// podAnnotations are the annotations of the spec and, where they are not empty, of the operator. A change of any
// annotation restarts the members.
func podAnnotations(cluster *dbv1.DatabaseCluster, references []state.Reference) map[string]string {
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

// podSpec is common to members and Jobs. They get no token for the API server here: see withToken.
func podSpec(cluster *dbv1.DatabaseCluster) *corev1ac.PodSpecApplyConfiguration {
	scheduling := cluster.Spec.Scheduling
	spec := withServiceAccount(corev1ac.PodSpec(), cluster).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurityContext(cluster)).
		WithImagePullSecrets(asEach[corev1ac.LocalObjectReferenceApplyConfiguration](cluster.Spec.Pod.ImagePullSecrets)...).
		WithNodeSelector(scheduling.NodeSelector).
		WithTolerations(asEach[corev1ac.TolerationApplyConfiguration](scheduling.Tolerations)...).
		WithVolumes(volumes(cluster)...)
	if scheduling.Affinity != nil {
		spec.WithAffinity(as[corev1ac.AffinityApplyConfiguration](scheduling.Affinity))
	}
	if scheduling.PriorityClassName != "" {
		spec.WithPriorityClassName(scheduling.PriorityClassName)
	}
	return spec
}

func databaseContainer(cluster *dbv1.DatabaseCluster) *corev1ac.ContainerApplyConfiguration {
	spec := cluster.Spec
	container := baseContainer(cluster, naming.Container).
		WithArgs(spec.Container.Args...).
		WithCommand(spec.Container.Command...).
		WithResources(as[corev1ac.ResourceRequirementsApplyConfiguration](spec.Resources)).
		WithPorts(corev1ac.ContainerPort().WithName(naming.Port).WithContainerPort(spec.Container.Port).WithProtocol(corev1.ProtocolTCP)).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(naming.DataVolume).WithMountPath(spec.Container.DataPath)).
		WithVolumeMounts(volumeMounts(cluster)...)
	return withProbes(container, spec.Container.MemberProbes)
}

// baseContainer runs the cluster's image with its environment.
func baseContainer(cluster *dbv1.DatabaseCluster, name string) *corev1ac.ContainerApplyConfiguration {
	spec := cluster.Spec
	container := corev1ac.Container().
		WithName(name).
		WithImage(spec.Image).
		WithEnv(asEach[corev1ac.EnvVarApplyConfiguration](spec.Container.Env)...).
		WithEnvFrom(asEach[corev1ac.EnvFromSourceApplyConfiguration](spec.Container.EnvFrom)...).
		WithSecurityContext(containerSecurityContext(cluster))
	if spec.Container.ImagePullPolicy != "" {
		container.WithImagePullPolicy(spec.Container.ImagePullPolicy)
	}
	return container
}

// podSecurityContext and containerSecurityContext satisfy the Pod Security Standard "restricted". The spec can
// override each field.
func podSecurityContext(cluster *dbv1.DatabaseCluster) *corev1ac.PodSecurityContextApplyConfiguration {
	given := cluster.Spec.Pod.SecurityContext
	if given == nil {
		given = &corev1.PodSecurityContext{}
	}
	merged := given.DeepCopy()
	setDefault(&merged.RunAsNonRoot, true)
	setDefault(&merged.FSGroup, defaultFSGroup)
	setDefault(&merged.FSGroupChangePolicy, corev1.FSGroupChangeOnRootMismatch)
	setDefault(&merged.SeccompProfile, corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault})
	return as[corev1ac.PodSecurityContextApplyConfiguration](merged)
}

func containerSecurityContext(cluster *dbv1.DatabaseCluster) *corev1ac.SecurityContextApplyConfiguration {
	given := cluster.Spec.Container.SecurityContext
	if given == nil {
		given = &corev1.SecurityContext{}
	}
	merged := given.DeepCopy()
	setDefault(&merged.AllowPrivilegeEscalation, false)
	setDefault(&merged.Capabilities, corev1.Capabilities{})
	if len(merged.Capabilities.Drop) == 0 {
		merged.Capabilities.Drop = []corev1.Capability{"ALL"}
	}
	return as[corev1ac.SecurityContextApplyConfiguration](merged)
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func ephemeral(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Storage.Ephemeral != nil && *cluster.Spec.Storage.Ephemeral
}
