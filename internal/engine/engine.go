/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engine fills unset fields of a cluster from its DatabaseEngine, or from defaults, and reports which
// requests of the cluster the engine does not support.
package engine

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Defaults of fields that neither the cluster nor its engine sets.
const (
	DefaultPort                          int32 = 9000
	DefaultDataPath                            = "/var/lib/database"
	DefaultTerminationGracePeriodSeconds int64 = 120

	// MaxReplicas is the highest number of members, the maximum of spec.replicas.
	MaxReplicas int32 = 9
)

// Resolve returns the effective cluster: the cluster, with the fields of its engine where its own spec sets none.
//
// All parameters have values, the environment is that of members and actions, and the scripts are annotations of
// the pods. The engine is nil if the cluster names none, or one that does not exist.
//
// Neither argument is changed, and resolving an effective cluster again changes nothing.
func Resolve(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) *dbv1.DatabaseCluster {
	resolved := cluster.DeepCopy()
	spec := &resolved.Spec
	if declared != nil {
		fill(spec, declared.Spec.DeepCopy())
	}
	if Generates(cluster, declared) {
		spec.Credentials.SecretName = naming.Credentials(cluster.Name)
	}
	grace := DefaultTerminationGracePeriodSeconds
	setDefault(&spec.Container.Port, DefaultPort)
	setDefault(&spec.Container.DataPath, DefaultDataPath)
	setDefault(&spec.Pod.TerminationGracePeriodSeconds, &grace)
	fillTLS(resolved)
	identify(resolved, declared)
	fillMonitoring(resolved, declared)
	if declared != nil {
		spec.Container.Env = environment(*spec, declared)
	}
	return resolved
}

func fill(spec *dbv1.DatabaseClusterSpec, declared *dbv1.DatabaseEngineSpec) {
	container := declared.Container
	setDefault(&spec.Container.Port, container.Port)
	setDefault(&spec.Container.DataPath, container.DataPath)
	setDefault(&spec.Pod.TerminationGracePeriodSeconds, container.TerminationGracePeriodSeconds)
	fillCommand(spec, container)
	if len(spec.Container.VersionCommand) == 0 {
		spec.Container.VersionCommand = container.VersionCommand
	}
	setDefault(&spec.Container.StartupProbe, container.StartupProbe)
	setDefault(&spec.Container.ReadinessProbe, container.ReadinessProbe)
	setDefault(&spec.Container.LivenessProbe, container.LivenessProbe)
	if container.RunAsUser != nil {
		setDefault(&spec.Pod.SecurityContext, &corev1.PodSecurityContext{})
		setDefault(&spec.Pod.SecurityContext.RunAsUser, container.RunAsUser)
	}
	fillBootstrap(spec, declared.Bootstrap)
	spec.Parameters = parameters(spec.Parameters, declared, spec.Storage.Size.Value())
	fillSharedMemory(spec, container.SharedMemory)
	spec.Pod.Annotations = withScripts(spec.Pod.Annotations, declared)
	spec.Pod.Annotations = withRole(spec.Pod.Annotations, declared.Roles)
}

// fillCommand ignores the engine's arguments if the cluster sets a command, as Kubernetes does with the arguments
// of the image.
func fillCommand(spec *dbv1.DatabaseClusterSpec, container dbv1.EngineContainer) {
	if len(spec.Container.Command) > 0 {
		return
	}
	spec.Container.Command = container.Command
	if len(spec.Container.Args) == 0 {
		spec.Container.Args = container.Args
	}
}

func fillBootstrap(spec *dbv1.DatabaseClusterSpec, declared dbv1.EngineBootstrap) {
	if declared == (dbv1.EngineBootstrap{}) {
		return
	}
	setDefault(&spec.Bootstrap, &dbv1.ClusterBootstrap{})
	setDefault(&spec.Bootstrap.Database, declared.Database)
	setDefault(&spec.Bootstrap.Owner, declared.Owner)
}

// sharedMemory is where the database finds its shared memory, and the name of the volume.
const (
	sharedMemoryPath   = "/dev/shm"
	sharedMemoryVolume = "shared-memory"
)

// fillSharedMemory mounts memory at /dev/shm, unless the cluster mounts a volume there. Without a limit of its own, the kubelet bounds
// the volume by the memory limits of the pod.
func fillSharedMemory(spec *dbv1.DatabaseClusterSpec, wanted bool) {
	mounted := slices.ContainsFunc(spec.Container.VolumeMounts,
		func(m dbv1.ClusterVolumeMount) bool { return m.MountPath == sharedMemoryPath })
	named := slices.ContainsFunc(spec.Pod.Volumes, func(v dbv1.ClusterVolume) bool { return v.Name == sharedMemoryVolume })
	if !wanted || mounted || named {
		return
	}
	spec.Pod.Volumes = append(slices.Clone(spec.Pod.Volumes), dbv1.ClusterVolume{
		Name: sharedMemoryVolume, EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory},
	})
	spec.Container.VolumeMounts = append(slices.Clone(spec.Container.VolumeMounts),
		dbv1.ClusterVolumeMount{Name: sharedMemoryVolume, MountPath: sharedMemoryPath})
}

// parameters are the values of the cluster, and the defaults of parameters that it does not set. They are nil if there are none, except
// for an engine with the action configure: its Jobs get an empty object.
func parameters(given map[string]string, declared *dbv1.DatabaseEngineSpec, storage int64) map[string]string {
	if len(given)+len(declared.Parameters) == 0 && declared.Actions.Configure == nil {
		return nil
	}
	all := make(map[string]string, len(declared.Parameters))
	for _, parameter := range declared.Parameters {
		all[parameter.Name] = defaultOf(parameter, storage)
	}
	maps.Copy(all, given)
	return all
}

// JobScripts and a name are keys in the annotations of an effective cluster: the scripts that members do not need. Pods of Jobs have
// them under dbv1.AnnotationScripts, and members do not have them.
const JobScripts = "jobs." + dbv1.AnnotationScripts

// withScripts adds the scripts to the annotations of the pods, which mount them as files: see
// dbv1.AnnotationScripts.
func withScripts(annotations map[string]string, declared *dbv1.DatabaseEngineSpec) map[string]string {
	if len(declared.Scripts) == 0 {
		return annotations
	}
	all := make(map[string]string, len(annotations)+len(declared.Scripts))
	maps.Copy(all, annotations)
	for name, text := range declared.Scripts {
		prefix := JobScripts
		if ofMembers(declared.Container, name) {
			prefix = dbv1.AnnotationScripts
		}
		all[prefix+name] = string(text)
	}
	return all
}

// hasScripts reports whether members have scripts.
func hasScripts(annotations map[string]string) bool {
	for key := range annotations {
		if strings.HasPrefix(key, dbv1.AnnotationScripts) {
			return true
		}
	}
	return false
}

// ofMembers reports whether members have a script.
func ofMembers(container dbv1.EngineContainer, name string) bool {
	return len(container.Scripts) == 0 || slices.Contains(container.Scripts, name)
}

func setDefault[T comparable](field *T, value T) {
	var unset T
	if *field == unset {
		*field = value
	}
}
