/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// heldAgainst is what of an engine's container matters to a cluster: not what its own spec says otherwise, nor what its
// members run with already, whatever that is worth. So a newer operator, which sees more flaws, stops no cluster.
func heldAgainst(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, running *corev1.Container) dbv1.EngineContainer {
	proven, uses := proof(texts(running)), Resolve(cluster, declared).Spec
	container := *declared.Spec.Container.DeepCopy()
	container.Command = proven.takeFrom(container.Command, uses.Command)
	container.Args = proven.takeFrom(container.Args, uses.Args)
	for i, v := range container.Env {
		if !slices.Contains(uses.Env, corev1.EnvVar{Name: v.Name, Value: v.Value}) || slices.Contains(proven, v.Value) {
			container.Env[i].Value = ""
		}
	}
	if container.DataPath != uses.DataPath || slices.Contains(proven, container.DataPath) {
		container.DataPath = ""
	}
	container.Probes = dbv1.Probes{
		Startup:   proven.takeFromProbe(container.Probes.Startup, uses.Probes.Startup),
		Readiness: proven.takeFromProbe(container.Probes.Readiness, uses.Probes.Readiness),
		Liveness:  proven.takeFromProbe(container.Probes.Liveness, uses.Probes.Liveness),
	}
	return container
}

// proof are texts that members run with.
type proof []string

// takeFrom blanks what is proven, so that the others keep their places; nothing matters of what is not used.
func (p proof) takeFrom(all, used []string) []string {
	if !slices.Equal(all, used) {
		return nil
	}
	left := slices.Clone(all)
	for i := range left {
		if slices.Contains(p, left[i]) {
			left[i] = ""
		}
	}
	return left
}

func (p proof) takeFromProbe(probe, used *corev1.Probe) *corev1.Probe {
	left := p.takeFrom(commandOf(probe), commandOf(used))
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: left}}}
}

// texts are all that a container is told.
func texts(container *corev1.Container) []string {
	if container == nil {
		return nil
	}
	all := slices.Concat(container.Command, container.Args, commandOf(container.StartupProbe), commandOf(container.ReadinessProbe), commandOf(container.LivenessProbe))
	for _, v := range container.Env {
		all = append(all, v.Value)
	}
	return all
}

func commandOf(probe *corev1.Probe) []string {
	if probe == nil || probe.Exec == nil {
		return nil
	}
	return probe.Exec.Command
}
