/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

//go:embed writer.py
var writer string

// Writers is a pod with two clients, each in its container: one writes through the Service of the primary, the other
// one knows the hosts of all members.
type Writers struct {
	*Database
	Pod string
}

// Ways are the two containers.
var Ways = []string{"service", "hosts"}

// Write starts a pod of writers, and returns when both have written.
func (d *Database) Write(ctx context.Context, name string) (*Writers, error) {
	script := &corev1.ConfigMap{ObjectMeta: d.meta(name), Data: map[string]string{"writer.py": writer}}
	w := &Writers{Database: d, Pod: name}
	for _, object := range []client.Object{script, w.pod()} {
		if err := d.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("create writers: %w", err)
		}
	}
	return w, w.AwaitProgress(ctx)
}

func (w *Writers) pod() *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: w.meta(w.Pod), Spec: corev1.PodSpec{
		AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(1)), EnableServiceLinks: new(false),
		SecurityContext: restricted(999),
		Volumes: []corev1.Volume{
			{Name: "scripts", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: w.Pod}, DefaultMode: new(int32(0o555))}}},
			{Name: "secrets",
				VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: w.Secret, DefaultMode: new(int32(0o440))}}},
			{Name: "acked", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}}
	for way, hosts := range map[string]string{"service": w.Name, "hosts": w.Hosts()} {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: way, Image: w.Image, ImagePullPolicy: corev1.PullNever, SecurityContext: unprivileged(),
			Command: []string{"/scripts/writer.py", w.writer(way), hosts},
			VolumeMounts: []corev1.VolumeMount{
				{Name: "scripts", MountPath: "/scripts"}, {Name: "secrets", MountPath: "/dbc/secrets"}, {Name: "acked", MountPath: "/acked"},
			},
		})
	}
	return pod
}

// writer is the name of a writer in the table.
func (w *Writers) writer(way string) string { return w.Pod + "-" + way }

// Rows returns the rows that were acknowledged to a writer.
func (w *Writers) Rows(ctx context.Context, way string) ([]Row, error) {
	text, err := w.Exec(ctx, w.Pod, way, "cat", "/acked/"+w.writer(way))
	if err != nil {
		return nil, err
	}
	return parseRows(text + "\n")
}

// AwaitProgress waits until both writers write.
func (w *Writers) AwaitProgress(ctx context.Context) error {
	since := time.Now()
	return Await(ctx, "writes to "+w.Name, func() bool { return w.progress(ctx, since) })
}

func (w *Writers) progress(ctx context.Context, since time.Time) bool {
	for _, way := range Ways {
		text, err := w.Exec(ctx, w.Pod, way, "tail", "-n", "1", "/acked/"+w.writer(way))
		rows, problem := parseRows(text + "\n")
		if err != nil || problem != nil || len(rows) == 0 || !rows[0].At.After(since) {
			return false
		}
	}
	return true
}

// Stop ends the writers and returns their rows by way. The pod stays.
func (w *Writers) Stop(ctx context.Context) (map[string][]Row, error) {
	if _, err := w.Exec(ctx, w.Pod, Ways[0], "touch", "/acked/stop"); err != nil {
		return nil, err
	}
	all := map[string][]Row{}
	for _, way := range Ways {
		rows, err := w.Rows(ctx, way)
		if err != nil {
			return nil, err
		}
		all[way] = rows
	}
	return all, nil
}

// Remove deletes the pod.
func (w *Writers) Remove(ctx context.Context) error {
	return w.Delete(ctx, &corev1.Pod{ObjectMeta: w.meta(w.Pod)})
}

// Stored returns the numbers of a writer that a member has.
func (w *Writers) Stored(ctx context.Context, member, way string) (Spans, error) {
	text, err := w.SQL(ctx, member, `SELECT min(number) || '-' || max(number) FROM (
		SELECT number, number - row_number() OVER (ORDER BY number) AS island FROM written WHERE writer = '`+w.writer(way)+`') AS numbers
		GROUP BY island ORDER BY min(number)`)
	if err != nil {
		return nil, err
	}
	return parseSpans(text)
}

func restricted(group int64) *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), RunAsUser: new(int64(999)), FSGroup: &group,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func unprivileged() *corev1.SecurityContext {
	return &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
}
