/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// initialize creates the first data on the volume of member 0. Other members copy it.
const initialize = `case $HOSTNAME in *-0) [ -e "$DBC_DATA_DIR/pgdata" ] || exec /dbc/scripts/initialize ;; esac`

func (b *Bare) statefulSet(parameters map[string]string) (*appsv1.StatefulSet, error) {
	environment, err := b.environment(parameters)
	if err != nil {
		return nil, err
	}
	profile := b.engine.Spec.Container
	first := b.container("initialize", environment)
	first.Command = []string{"sh", "-c", initialize}
	member := b.container(container, environment)
	member.Command = profile.Command
	member.Ports = []corev1.ContainerPort{{Name: "db", ContainerPort: profile.Port}}
	member.StartupProbe, member.ReadinessProbe, member.LivenessProbe = profile.StartupProbe, profile.ReadinessProbe, profile.LivenessProbe
	return &appsv1.StatefulSet{ObjectMeta: b.meta(b.Name), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(3)), ServiceName: b.Name + "-headless", PodManagementPolicy: appsv1.ParallelPodManagement,
		Selector: &metav1.LabelSelector{MatchLabels: b.labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: b.labels}, Spec: corev1.PodSpec{
			ServiceAccountName: b.Name, TerminationGracePeriodSeconds: profile.TerminationGracePeriodSeconds, EnableServiceLinks: new(false),
			SecurityContext: restricted(65532), InitContainers: []corev1.Container{first}, Containers: []corev1.Container{member},
			Volumes: b.volumes(),
		}},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}},
	}}, nil
}

func (b *Bare) container(name string, environment []corev1.EnvVar) corev1.Container {
	return corev1.Container{
		Name: name, Image: b.Image, ImagePullPolicy: corev1.PullNever, Env: slices.Clone(environment), Resources: small(),
		SecurityContext: unprivileged(),
		VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: "/var/lib/database"}, {Name: "scripts", MountPath: "/dbc/scripts"},
			{Name: "secrets", MountPath: "/dbc/secrets"},
		},
	}
}

func (b *Bare) volumes() []corev1.Volume {
	return []corev1.Volume{
		{Name: "scripts", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: b.Name + "-scripts"}, DefaultMode: new(int32(0o555))}}},
		{Name: "secrets",
			VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: b.Secret, DefaultMode: new(int32(0o440))}}},
	}
}
