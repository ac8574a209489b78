/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// defaultGrace is how long a pod has to stop, in seconds.
const defaultGrace = 30

// podTemplate renders the pods. They get no token for the API server: no ServiceAccount of others runs code of a user who may only write
// DatabaseCompanions.
func podTemplate(companion *dbv1.DatabaseCompanion, a application) *corev1ac.PodTemplateSpecApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(pods.RestrictedPod(a.Pod.SecurityContext)).
		WithImagePullSecrets(objects.AsEach[corev1ac.LocalObjectReferenceApplyConfiguration](a.Pod.ImagePullSecrets)...).
		WithTerminationGracePeriodSeconds(defaultGrace).
		WithContainers(container(companion, a)).
		WithVolumes(volumes(companion, a)...)
	if given := a.Pod.TerminationGracePeriodSeconds; given != nil {
		spec.WithTerminationGracePeriodSeconds(*given)
	}
	schedule(companion, a.Scheduling, spec)
	return corev1ac.PodTemplateSpec().
		WithLabels(a.Pod.Labels).
		WithLabels(podLabels(companion, a)).
		WithAnnotations(a.Pod.Annotations).
		WithAnnotations(podAnnotations(companion, a)).
		WithSpec(spec)
}

func podLabels(companion *dbv1.DatabaseCompanion, a application) map[string]string {
	all := labels(companion)
	all[dbv1.LabelCompanionUID] = string(companion.UID)
	if a.Pauses {
		all[dbv1.LabelPauses] = "true"
	}
	return all
}

// podAnnotations are the scripts, which the pods mount as files, and what restarts the pods.
func podAnnotations(companion *dbv1.DatabaseCompanion, a application) map[string]string {
	all := map[string]string{}
	for name, text := range a.Scripts {
		all[dbv1.AnnotationScripts+name] = text
	}
	for key, value := range map[string]string{
		dbv1.AnnotationRestart: companion.Annotations[dbv1.AnnotationRestart], dbv1.AnnotationReferences: a.BindingContent,
	} {
		if value != "" {
			all[key] = value
		}
	}
	return all
}

func schedule(companion *dbv1.DatabaseCompanion, given dbv1.CompanionScheduling, spec *corev1ac.PodSpecApplyConfiguration) {
	spec.WithNodeSelector(given.NodeSelector).
		WithTolerations(objects.AsEach[corev1ac.TolerationApplyConfiguration](given.Tolerations)...)
	if given.Affinity != nil {
		spec.WithAffinity(objects.As[corev1ac.AffinityApplyConfiguration](given.Affinity))
	}
	if given.PriorityClassName != "" {
		spec.WithPriorityClassName(given.PriorityClassName)
	}
	if own := given.TopologySpreadConstraints; len(own) > 0 {
		spec.WithTopologySpreadConstraints(objects.AsEach[corev1ac.TopologySpreadConstraintApplyConfiguration](own)...)
		return
	}
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		spec.WithTopologySpreadConstraints(corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).WithTopologyKey(key).WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(selector(companion))))
	}
}

func container(companion *dbv1.DatabaseCompanion, a application) *corev1ac.ContainerApplyConfiguration {
	given := a.Container
	c := corev1ac.Container().
		WithName(naming.CompanionContainer).
		WithImage(a.Image).
		WithCommand(given.Command...).
		WithArgs(given.Args...).
		WithEnv(objects.AsEach[corev1ac.EnvVarApplyConfiguration](a.Environment)...).
		WithEnv(connectionVariables(companion, a)...).
		WithEnv(objects.AsEach[corev1ac.EnvVarApplyConfiguration](given.Env)...).
		WithEnvFrom(objects.AsEach[corev1ac.EnvFromSourceApplyConfiguration](given.EnvFrom)...).
		WithResources(objects.As[corev1ac.ResourceRequirementsApplyConfiguration](a.Resources)).
		WithPorts(corev1ac.ContainerPort().WithName(naming.CompanionPort).WithContainerPort(a.Port).WithProtocol(corev1.ProtocolTCP)).
		WithVolumeMounts(mounts(companion, a)...).
		WithSecurityContext(securityContext(companion, given.SecurityContext))
	if given.ImagePullPolicy != "" {
		c.WithImagePullPolicy(given.ImagePullPolicy)
	}
	probes := given.MemberProbes
	if probes.ReadinessProbe == nil { // a new pod gets no connections before it listens
		probes.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(naming.CompanionPort)},
		}, PeriodSeconds: 3}
	}
	return pods.WithProbes(c, probes)
}

// securityContext is stricter for companions of engines: they write only to /tmp.
func securityContext(companion *dbv1.DatabaseCompanion, given *corev1.SecurityContext) *corev1ac.SecurityContextApplyConfiguration {
	c := pods.RestrictedContainer(given)
	if companion.Spec.Companion != "" && c.ReadOnlyRootFilesystem == nil {
		c.WithReadOnlyRootFilesystem(true)
	}
	return c
}

// connectionVariables are those by which an application finds the database.
func connectionVariables(companion *dbv1.DatabaseCompanion, a application) []*corev1ac.EnvVarApplyConfiguration {
	switch a.Form {
	case dbv1.ConnectionFiles:
		all := []*corev1ac.EnvVarApplyConfiguration{pods.Variable(bindingRoot, naming.BindingsPath)}
		for _, name := range slices.Sorted(maps.Keys(a.Files)) {
			all = append(all, pods.Variable(name, a.Files[name]))
		}
		return all
	case dbv1.ConnectionEnvironment:
		prefix := companion.Spec.Connection.EnvironmentPrefix
		if prefix == "" {
			prefix = defaultPrefix
		}
		all := make([]*corev1ac.EnvVarApplyConfiguration, 0, len(a.BindingKeys))
		for _, key := range a.BindingKeys {
			all = append(all, corev1ac.EnvVar().WithName(prefix+variable(key)).WithValueFrom(corev1ac.EnvVarSource().
				WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(a.BindingName).WithKey(key))))
		}
		return all
	case dbv1.ConnectionNone:
	}
	return nil
}

// bindingPath is the folder with the files of the connection Secret.
func bindingPath(companion *dbv1.DatabaseCompanion) string {
	return naming.BindingsPath + "/" + companion.Spec.ClusterRef.Name
}

// variable is the end of the name of a variable with a key of the connection Secret.
func variable(key string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key))
}

func volumes(companion *dbv1.DatabaseCompanion, a application) []*corev1ac.VolumeApplyConfiguration {
	var all []*corev1ac.VolumeApplyConfiguration
	if companion.Spec.Companion != "" {
		all = append(all, corev1ac.Volume().WithName(naming.TemporaryVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	}
	if len(a.Scripts) > 0 {
		keys := make([]string, 0, len(a.Scripts))
		for _, name := range slices.Sorted(maps.Keys(a.Scripts)) {
			keys = append(keys, dbv1.AnnotationScripts+name)
		}
		all = append(all, pods.ScriptsVolume(keys))
	}
	if a.SecretName != "" {
		all = append(all, pods.SecretVolume(naming.SecretsVolume, a.SecretName, a.SecretKeys))
	}
	if a.CertificateName != "" {
		all = append(all, pods.SecretVolume(naming.TLSVolume, a.CertificateName,
			[]string{pki.CertificateKey, pki.PrivateKeyKey, pki.AuthorityKey}))
	}
	if a.Form == dbv1.ConnectionFiles {
		all = append(all, pods.SecretVolume(naming.BindingVolume, a.BindingName, nil))
	}
	return all
}

func mounts(companion *dbv1.DatabaseCompanion, a application) []*corev1ac.VolumeMountApplyConfiguration {
	var all []*corev1ac.VolumeMountApplyConfiguration
	if companion.Spec.Companion != "" {
		all = append(all, corev1ac.VolumeMount().WithName(naming.TemporaryVolume).WithMountPath("/tmp"))
	}
	for _, m := range []struct {
		is           bool
		volume, path string
	}{
		{len(a.Scripts) > 0, naming.ScriptsVolume, naming.ScriptsPath},
		{a.SecretName != "", naming.SecretsVolume, naming.SecretsPath},
		{a.CertificateName != "", naming.TLSVolume, naming.TLSPath},
		{a.Form == dbv1.ConnectionFiles, naming.BindingVolume, bindingPath(companion)},
	} {
		if m.is {
			all = append(all, pods.Mount(m.volume, m.path))
		}
	}
	return all
}
