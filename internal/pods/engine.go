/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

const (
	// scriptMode lets all users read and run a script.
	scriptMode = 0o555
	// secretMode lets the group of the volumes read a key. The database is in that group, whatever its user.
	secretMode = 0o440
)

// EngineVolumes are the scripts of the cluster's engine, which are annotations of the pod, the keys of the Secret of
// spec.credentials.secretName, and the certificate.
func EngineVolumes(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeApplyConfiguration {
	var all []*corev1ac.VolumeApplyConfiguration
	if keys := slices.Sorted(maps.Keys(Scripts(cluster))); len(keys) > 0 {
		all = append(all, ScriptsVolume(keys))
	}
	if name := cluster.Spec.Credentials.SecretName; name != "" {
		all = append(all, corev1ac.Volume().
			WithName(naming.SecretsVolume).
			WithSecret(corev1ac.SecretVolumeSource().WithSecretName(name).WithDefaultMode(secretMode)))
	}
	return append(all, certificateVolume(cluster)...)
}

// ScriptsVolume has the scripts in these annotations of the pod as files.
func ScriptsVolume(keys []string) *corev1ac.VolumeApplyConfiguration {
	files := corev1ac.DownwardAPIVolumeSource().WithDefaultMode(scriptMode)
	for _, key := range keys {
		files.WithItems(corev1ac.DownwardAPIVolumeFile().
			WithPath(strings.TrimPrefix(key, dbv1.AnnotationScripts)).
			WithFieldRef(corev1ac.ObjectFieldSelector().
				WithAPIVersion("v1").
				WithFieldPath(fmt.Sprintf("metadata.annotations['%s']", key))))
	}
	return corev1ac.Volume().WithName(naming.ScriptsVolume).WithDownwardAPI(files)
}

// SecretVolume has keys of a Secret as files. The group of the volumes may read them.
func SecretVolume(volume, secret string, keys []string) *corev1ac.VolumeApplyConfiguration {
	source := corev1ac.SecretVolumeSource().WithSecretName(secret).WithDefaultMode(secretMode)
	for _, key := range keys {
		source.WithItems(corev1ac.KeyToPath().WithKey(key).WithPath(key))
	}
	return corev1ac.Volume().WithName(volume).WithSecret(source)
}

// ForMembers is the cluster with only the scripts that members need.
func ForMembers(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	return withJobScripts(cluster, func(map[string]string, string, string) {})
}

// ForJobs is the cluster with all scripts of its engine, and without the volume of the exporter: a Job has no exporter.
func ForJobs(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	changed := withJobScripts(cluster, func(all map[string]string, name, text string) { all[dbv1.AnnotationScripts+name] = text })
	changed.Spec.Pod.Volumes = slices.DeleteFunc(slices.Clone(changed.Spec.Pod.Volumes),
		func(v dbv1.ClusterVolume) bool { return v.Name == naming.ExporterVolume })
	return changed
}

// withJobScripts removes the scripts that members do not need, and calls add for each. It copies what it changes.
func withJobScripts(cluster *dbv1.DatabaseCluster, add func(all map[string]string, name, text string)) *dbv1.DatabaseCluster {
	changed, all := *cluster, map[string]string{}
	for key, text := range cluster.Spec.Pod.Annotations {
		if name, found := strings.CutPrefix(key, engine.JobScripts); found {
			add(all, name, text)
		} else {
			all[key] = text
		}
	}
	changed.Spec.Pod.Annotations = all
	return &changed
}

// EngineMounts mount these volumes into a container that runs the cluster's image.
func EngineMounts(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeMountApplyConfiguration {
	var all []*corev1ac.VolumeMountApplyConfiguration
	if len(Scripts(cluster)) > 0 {
		all = append(all, scriptsMount())
	}
	if cluster.Spec.Credentials.SecretName != "" {
		all = append(all, Mount(naming.SecretsVolume, naming.SecretsPath))
	}
	return append(all, certificateMount(cluster)...)
}

// Mount mounts a volume read-only.
func Mount(volume, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(path).WithReadOnly(true)
}

func scriptsMount() *corev1ac.VolumeMountApplyConfiguration {
	return Mount(naming.ScriptsVolume, naming.ScriptsPath)
}

// Scripts returns the annotations from which a pod mounts its engine's scripts as files.
func Scripts(cluster *dbv1.DatabaseCluster) map[string]string {
	all := map[string]string{}
	for key, text := range cluster.Spec.Pod.Annotations {
		if strings.HasPrefix(key, dbv1.AnnotationScripts) {
			all[key] = text
		}
	}
	return all
}
