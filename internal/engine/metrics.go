/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Monitored reports whether a cluster asks for metrics of the database.
func Monitored(cluster *dbv1.DatabaseCluster) bool {
	monitoring := cluster.Spec.Monitoring
	return monitoring != nil && monitoring.Mode != "" && monitoring.Mode != dbv1.MonitoringNone
}

// Metrics are those that an engine declares; nil for none.
func Metrics(declared *dbv1.DatabaseEngine) *dbv1.EngineMetrics {
	if declared == nil {
		return nil
	}
	return declared.Spec.Metrics
}

// fillMonitoring adds the port of the metrics and, if the engine needs one, the exporter. Without metrics, no port is open.
func fillMonitoring(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) {
	if cluster.Spec.Monitoring == nil {
		return
	}
	monitoring, metrics := cluster.Spec.Monitoring, Metrics(declared)
	switch {
	case metrics == nil || !Monitored(cluster):
		monitoring.Port = 0
	case metrics.Sidecar == nil:
		monitoring.Port = metrics.Port
	default:
		setDefault(&monitoring.Port, metrics.Sidecar.Port)
		setDefault(&monitoring.Exporter.Image, metrics.Sidecar.Image)
		addExporter(&cluster.Spec, metrics.Sidecar, TLSSecret(cluster))
	}
}

// Exports reports whether a resolved cluster has an exporter.
func Exports(cluster *dbv1.DatabaseCluster) bool {
	return slices.ContainsFunc(cluster.Spec.Pod.Sidecars, func(s dbv1.Sidecar) bool { return s.Name == naming.ExporterContainer })
}

// addExporter adds the exporter to the sidecars. They start before the database, so the exporter shows a member that recovers, and stop
// after it. Without an image there is no exporter, which the condition MonitoringConfigured reports.
func addExporter(spec *dbv1.DatabaseClusterSpec, exporter *dbv1.EngineExporter, certificate string) {
	own := spec.Monitoring.Exporter
	if own.Image == "" || Exports(&dbv1.DatabaseCluster{Spec: *spec}) {
		return
	}
	var sidecar dbv1.Sidecar
	sidecar.Name, sidecar.Image, sidecar.ImagePullPolicy = naming.ExporterContainer, own.Image, own.ImagePullPolicy
	sidecar.Command = slices.Concat(supervised, exporter.Command)
	sidecar.Env = exporterVariables(spec, exporter)
	sidecar.Resources = own.Resources
	if len(own.Resources.Requests)+len(own.Resources.Limits) == 0 {
		sidecar.Resources = smallExporter()
	}
	sidecar.Ports = []dbv1.SidecarPort{{Name: naming.MetricsPort, ContainerPort: spec.Monitoring.Port}}
	if volume := exporterVolume(spec.Credentials.SecretName, exporter.SecretKeys, certificate); volume != nil {
		spec.Pod.Volumes = append(slices.Clone(spec.Pod.Volumes), *volume)
		sidecar.VolumeMounts = append(sidecar.VolumeMounts,
			dbv1.ClusterVolumeMount{Name: volume.Name, MountPath: naming.SecretsPath, ReadOnly: true})
	}
	if hasScripts(spec.Pod.Annotations) {
		sidecar.VolumeMounts = append(sidecar.VolumeMounts,
			dbv1.ClusterVolumeMount{Name: naming.ScriptsVolume, MountPath: naming.ScriptsPath, ReadOnly: true})
	}
	spec.Pod.Sidecars = append(slices.Clone(spec.Pod.Sidecars), sidecar)
}

// TakeExporter removes the exporter from a resolved spec, and returns what the user and the engine have declared of it; nil if there is
// none. The rest is of the operator, and may change between versions.
func TakeExporter(spec *dbv1.DatabaseClusterSpec) any {
	at := slices.IndexFunc(spec.Pod.Sidecars, func(s dbv1.Sidecar) bool { return s.Name == naming.ExporterContainer })
	if at < 0 {
		return nil
	}
	exporter := spec.Pod.Sidecars[at]
	var secrets []string
	for _, v := range spec.Pod.Volumes {
		if v.Name == naming.ExporterVolume && v.Projected != nil {
			for _, source := range v.Projected.Sources {
				secrets = append(secrets, source.Secret.Name)
				for _, item := range source.Secret.Items {
					secrets = append(secrets, item.Key)
				}
			}
		}
	}
	declared := slices.DeleteFunc(slices.Clone(exporter.Env), func(v corev1.EnvVar) bool { return strings.HasPrefix(v.Name, VariablePrefix) })
	inputs := []any{exporter.Image, exporter.ImagePullPolicy, exporter.Command[len(supervised):], declared, exporter.Ports, secrets}
	spec.Pod.Sidecars = slices.Delete(slices.Clone(spec.Pod.Sidecars), at, at+1)
	ofExporter := func(v dbv1.ClusterVolume) bool { return v.Name == naming.ExporterVolume }
	spec.Pod.Volumes = slices.DeleteFunc(slices.Clone(spec.Pod.Volumes), ofExporter)
	if len(spec.Pod.Sidecars) == 0 {
		spec.Pod.Sidecars = nil
	}
	if len(spec.Pod.Volumes) == 0 {
		spec.Pod.Volumes = nil
	}
	return inputs
}

// supervised begins the command of an exporter.
var supervised = []string{"sh", "-c", supervise, "sh"}

// supervise runs a command again when it ends, and when a file of its Secret changes: exporters read a password only at their start. So
// the container itself never ends. Otherwise clients would lose a healthy member with a broken exporter: a pod is ready only if all of
// its containers are. At the memory limit, the kernel ends all processes of the container, so programs in Go get a limit below that.
// Kubernetes replaces $(NAME) in a command, but no name with a space.
var supervise = strings.Join([]string{
	`child=`,
	`trap '[ -z "$child" ] || kill "$child" 2> /dev/null; exit 0' TERM INT`,
	`keys() { cat "$DBC_SECRETS_DIR"/* 2> /dev/null | cksum; }`,
	`limit=$( cat /sys/fs/cgroup/memory.max 2> /dev/null )`,
	`case $limit in '' | *[!0-9]*) ;; *) export GOMEMLIMIT="${GOMEMLIMIT:-$(( limit / 5 * 4 ))}" ;; esac`,
	`while :; do`,
	`    before=$( keys )`,
	`    "$@" &`,
	`    child=$!`,
	`    while sleep 5 & wait "$!"; kill -0 "$child" 2> /dev/null; do`,
	`        [ "$before" = "$( keys )" ] || kill "$child" 2> /dev/null`,
	`    done`,
	`    wait "$child"`,
	`    echo "the exporter ended with code $?: starting it again" >&2`,
	`done`,
}, "\n")

// exporterVariables are the variables of the exporter. The CA is in the folder of the keys, and no key of the server is.
func exporterVariables(spec *dbv1.DatabaseClusterSpec, exporter *dbv1.EngineExporter) []corev1.EnvVar {
	all := []corev1.EnvVar{
		{Name: "DBC_PORT", Value: strconv.Itoa(int(spec.Container.Port))},
		{Name: "DBC_METRICS_PORT", Value: strconv.Itoa(int(spec.Monitoring.Port))},
		{Name: "DBC_SECRETS_DIR", Value: naming.SecretsPath},
	}
	if spec.TLS != nil {
		all = append(all, corev1.EnvVar{Name: "DBC_TLS_DIR", Value: naming.SecretsPath},
			corev1.EnvVar{Name: "DBC_TLS_MODE", Value: string(spec.TLS.Mode)})
	}
	for _, variable := range exporter.Env {
		all = append(all, corev1.EnvVar{Name: variable.Name, Value: variable.Value})
	}
	return all
}

// smallExporter has equal requests and limits, so that it does not change the quality of service of the pod.
func smallExporter() corev1.ResourceRequirements {
	few := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
	return corev1.ResourceRequirements{Requests: few, Limits: few.DeepCopy()}
}

// exporterMode lets the group of the volumes read a key.
const exporterMode int32 = 0o440

// exporterVolume has the keys of the exporter, and the CA by which it knows the server; nil if it needs none.
func exporterVolume(credentials string, keys []string, certificate string) *dbv1.ClusterVolume {
	var sources []dbv1.ClusterVolumeProjection
	add := func(secret string, names ...string) {
		projection := &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}
		for _, name := range names {
			projection.Items = append(projection.Items, corev1.KeyToPath{Key: name, Path: name})
		}
		sources = append(sources, dbv1.ClusterVolumeProjection{Secret: projection})
	}
	if credentials != "" && len(keys) > 0 {
		add(credentials, keys...)
	}
	if certificate != "" {
		add(certificate, "ca.crt")
	}
	if len(sources) == 0 {
		return nil
	}
	mode := exporterMode
	return &dbv1.ClusterVolume{Name: naming.ExporterVolume, Projected: &dbv1.ClusterProjectedVolume{Sources: sources, DefaultMode: &mode}}
}

// neededKeys are the keys that the Secret of a cluster must have: all but those that only companions need, or an exporter which the cluster
// does not have.
func neededKeys(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) []string {
	all := keyNames(declared.Spec.SecretKeys)
	for _, key := range declared.Spec.SecretKeys {
		if key.UsedBy == dbv1.UsedByCompanions {
			all = except(all, []string{key.Name})
		}
	}
	if metrics := Metrics(declared); metrics != nil && metrics.Sidecar != nil && !Monitored(cluster) {
		return except(all, metrics.Sidecar.SecretKeys)
	}
	return all
}

// metricsPortProblem reports a port of the exporter that the database uses: the exporter starts first and would take it.
func metricsPortProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	metrics := Metrics(declared)
	if metrics == nil || metrics.Sidecar == nil || !Monitored(cluster) {
		return ""
	}
	port := cluster.Spec.Monitoring.Port
	if port == 0 {
		port = metrics.Sidecar.Port
	}
	if port != cluster.Spec.Container.Port && !slices.Contains(declared.Spec.Container.OtherPorts, port) {
		return ""
	}
	return fmt.Sprintf("spec.monitoring.port is %d, which the database uses: set another port", port)
}
