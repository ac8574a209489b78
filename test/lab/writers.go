/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

//go:embed writer.py
var writer string

// Writers is a pod with several clients, each in its container.
type Writers struct {
	*Database
	Pod string
	Clients
}

// Clients are the clients of a pod of writers.
type Clients struct {
	Ways []Way
	// Pace is the time between two rows of a client.
	Pace time.Duration
	// Connect is the timeout of a connection and of the acknowledgment of a packet. libpq accepts no less than two seconds. Patience is
	// the timeout of an answer.
	Connect, Patience time.Duration
	// SSLMode is that of libpq.
	SSLMode string
}

// Way is how a client connects.
type Way struct {
	// Name is that of the container. If several clients connect in the same way, "-" and something else follow the name of the way.
	Name string
	// Hosts is a list for libpq.
	Hosts string
}

// Ways are the two clients of Write: one writes through the Service of the primary, the other one knows the hosts of all members.
var Ways = []string{"service", "hosts"}

// Write starts a pod with the clients of Ways, and returns when both have written.
func (d *Database) Write(ctx context.Context, name string) (*Writers, error) {
	return d.WriteBy(ctx, name, Clients{
		Ways: []Way{{Ways[0], d.Name}, {Ways[1], d.Hosts()}},
		Pace: 20 * time.Millisecond, Connect: 2 * time.Second, Patience: 2 * time.Second, SSLMode: "prefer",
	})
}

// WriteBy starts a pod of writers, and returns when all have written.
func (d *Database) WriteBy(ctx context.Context, name string, clients Clients) (*Writers, error) {
	script := &corev1.ConfigMap{ObjectMeta: d.meta(name), Data: map[string]string{"writer.py": writer}}
	w := &Writers{Database: d, Pod: name, Clients: clients}
	for _, object := range []client.Object{script, w.pod()} {
		if err := d.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("create writers: %w", err)
		}
	}
	return w, w.AwaitProgress(ctx)
}

func (w *Writers) pod() *corev1.Pod {
	password := []corev1.KeyToPath{{Key: cmp.Or(w.passwordKey, ownerPassword), Path: ownerPassword}}
	pod := &corev1.Pod{ObjectMeta: w.meta(w.Pod), Spec: corev1.PodSpec{
		AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(1)), EnableServiceLinks: new(false),
		SecurityContext: restricted(999),
		Volumes: []corev1.Volume{
			{Name: "scripts", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: w.Pod}, DefaultMode: new(int32(0o555))}}},
			{Name: "secrets", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: w.Secret, Items: password, DefaultMode: new(int32(0o440))}}},
			{Name: "acked", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}}
	for _, way := range w.Ways {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: way.Name, Image: w.Image, ImagePullPolicy: corev1.PullNever, SecurityContext: unprivileged(),
			Command: append([]string{"/scripts/writer.py", w.writer(way.Name), way.Hosts}, arguments(w.Pace, w.Connect, w.Patience)...),
			Env:     []corev1.EnvVar{{Name: "PGSSLMODE", Value: w.SSLMode}},
			VolumeMounts: []corev1.VolumeMount{
				{Name: "scripts", MountPath: "/scripts"}, {Name: "secrets", MountPath: "/dbc/secrets"}, {Name: "acked", MountPath: "/acked"},
			},
		})
	}
	return pod
}

// arguments are durations in seconds.
func arguments(durations ...time.Duration) []string {
	var all []string
	for _, duration := range durations {
		all = append(all, strconv.FormatFloat(duration.Seconds(), 'f', -1, 64))
	}
	return all
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

// Errors returns the times at which a writer saw an error.
func (w *Writers) Errors(ctx context.Context, way string) ([]time.Time, error) {
	text, err := w.Exec(ctx, w.Pod, way, "cat", "/acked/"+w.writer(way)+"-errors")
	if err != nil {
		return nil, err
	}
	var times []time.Time
	for line := range strings.Lines(text) {
		first, _, _ := strings.Cut(line, " ")
		at, err := seconds(first)
		if err != nil {
			return nil, fmt.Errorf("the writer recorded the error %q: %w", line, err)
		}
		times = append(times, at)
	}
	return times, nil
}

// See returns what the clients saw between two times, by the name of the way. The primary must have all rows.
func (w *Writers) See(ctx context.Context, start, end time.Time) (map[string]Seen, error) {
	primary, err := w.Primary(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]Seen{}
	for _, client := range w.Ways {
		rows, err := w.Rows(ctx, client.Name)
		failed, problem := w.Errors(ctx, client.Name)
		stored, missing := w.Stored(ctx, primary.Name, client.Name)
		if err := errors.Join(err, problem, missing); err != nil {
			return nil, err
		}
		seen := See(Between(rows, start, end), stored, start, end)
		seen.Errors = len(slices.DeleteFunc(failed, func(at time.Time) bool { return at.Before(start) || at.After(end) }))
		way, _, _ := strings.Cut(client.Name, "-")
		all[way] = all[way].and(seen)
	}
	return all, nil
}

// AwaitProgress waits until all writers write.
func (w *Writers) AwaitProgress(ctx context.Context) error {
	since := time.Now()
	return Await(ctx, "writes to "+w.Name, func() bool { return w.progress(ctx, since) })
}

func (w *Writers) progress(ctx context.Context, since time.Time) bool {
	for _, way := range w.Ways {
		text, err := w.Exec(ctx, w.Pod, way.Name, "tail", "-n", "1", "/acked/"+w.writer(way.Name))
		rows, problem := parseRows(text + "\n")
		if err != nil || problem != nil || len(rows) == 0 || !rows[0].At.After(since) {
			return false
		}
	}
	return true
}

// Stop ends the writers and returns their rows by way. The pod stays.
func (w *Writers) Stop(ctx context.Context) (map[string][]Row, error) {
	if _, err := w.Exec(ctx, w.Pod, w.Ways[0].Name, "touch", "/acked/stop"); err != nil {
		return nil, err
	}
	all := map[string][]Row{}
	for _, way := range w.Ways {
		rows, err := w.Rows(ctx, way.Name)
		if err != nil {
			return nil, err
		}
		all[way.Name] = rows
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
