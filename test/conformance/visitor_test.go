//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// visitor is a pod with the image of the engine and the connection Secret of a cluster. It writes numbered rows all the time,
// and knows which ones the database has acknowledged.
type visitor struct {
	*trial
	cluster *lab.Cluster
	pod     string
}

// writing is the program of the pod: each write is a process of its own, as after a lost connection. A later client begins with a
// higher number, so it does not repeat the rows of a backup.
const writing = `cd /tmp && : > acked
number=$(($(date +%s) * 10))
while :; do
    while [ -e paused ]; do sleep 0.5; done
    number=$((number + 1))
    if [ -n "$WRITE" ] && HOST=${WRITE_HOST:-$(cat /binding/host)} ROW=$number timeout 10 sh -c "$WRITE" > last 2>&1; then
        echo "$number" >> acked
    fi
    sleep 0.5
done`

// visit starts the pod, and waits until it runs.
func (t *trial) visit(ctx context.Context, cluster *lab.Cluster) (*visitor, error) {
	t.number++
	v := &visitor{trial: t, cluster: cluster, pod: fmt.Sprintf("client%d", t.number)}
	if t.engine.Spec.Connection == nil {
		return nil, nil
	}
	if err := t.Create(ctx, v.object()); err != nil {
		return nil, fmt.Errorf("create the client: %w", err)
	}
	return v, lab.Await(ctx, "the pod "+v.pod+" of the client to run", func() bool {
		pod, err := cluster.Pod(ctx, v.pod)
		return err == nil && lab.Ready(pod)
	})
}

func (v *visitor) object() *corev1.Pod {
	script := ""
	if v.client.Write != "" {
		script = v.client.Script(v.client.Write)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: v.pod}, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(1)), EnableServiceLinks: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: v.engine.Spec.Container.RunAsUser,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Volumes: []corev1.Volume{{Name: "binding", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: naming.Connection(v.cluster.Name)}}}},
	}}
	pod.Spec.Containers = []corev1.Container{{
		Name: "client", Image: image, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sh", "-c", writing},
		Env:             []corev1.EnvVar{{Name: "WRITE", Value: script}, {Name: "WRITE_HOST", Value: v.host()}},
		SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		VolumeMounts:    []corev1.VolumeMount{{Name: "binding", MountPath: "/binding", ReadOnly: true}},
	}}
	return pod
}

// host is where the visitor writes: "" for the host in the connection Secret. Independent members have data of their own, so it
// writes to the first one.
func (v *visitor) host() string {
	if v.related() || v.cluster.Members == 1 {
		return ""
	}
	return v.cluster.Host(0)
}

// run runs a text of the client against a host; "" is that of the visitor.
func (v *visitor) run(ctx context.Context, host, text string) (string, error) {
	if host == "" {
		host = v.host()
	}
	script := fmt.Sprintf("export HOST=%s; [ -n \"$HOST\" ] || HOST=$(cat /binding/host)\n%s", host, v.client.Script(text))
	return v.Exec(ctx, v.pod, "client", "timeout", "60", "sh", "-c", script)
}

// acknowledged are the rows that the database has acknowledged.
func (v *visitor) acknowledged(ctx context.Context) ([]int, error) {
	text, err := v.Exec(ctx, v.pod, "client", "cat", "/tmp/acked")
	if err != nil {
		return nil, err
	}
	return numbers(text), nil
}

// pause lets the client write no more rows, or write again. A write that runs may end after it.
func (v *visitor) pause(ctx context.Context, paused bool) error {
	if paused {
		_, err := v.Exec(ctx, v.pod, "client", "sh", "-c", "touch /tmp/paused; sleep 2")
		return err
	}
	_, err := v.Exec(ctx, v.pod, "client", "rm", "-f", "/tmp/paused")
	return err
}

// numbers are the lines of a text that are numbers.
func numbers(text string) (all []int) {
	for line := range strings.Lines(text) {
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// awaitProgress waits until the database has acknowledged three more rows.
func (v *visitor) awaitProgress(ctx context.Context) error {
	before, err := v.acknowledged(ctx)
	if err != nil {
		return err
	}
	err = lab.Await(ctx, "the client to write again", func() bool {
		now, err := v.acknowledged(ctx)
		return err == nil && len(now) >= len(before)+3
	})
	if err != nil {
		last, _ := v.Exec(ctx, v.pod, "client", "cat", "/tmp/last")
		return fmt.Errorf("%w; its last answer: %s", err, last)
	}
	return nil
}

// keeps waits until all acknowledged rows are at the visitor's host and, with related members, at each member.
func (v *visitor) keeps(ctx context.Context) (string, error) {
	if !v.client.Stores() {
		return "", nil
	}
	rows, err := v.acknowledged(ctx)
	if err != nil {
		return "", err
	}
	hosts := []string{v.host()}
	for ordinal := range v.cluster.Members {
		if v.related() {
			hosts = append(hosts, v.cluster.Host(ordinal))
		}
	}
	for _, host := range hosts {
		if err := v.has(ctx, host, rows); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("; %d acknowledged rows, none lost", len(rows)), nil
}

// has waits until a host has the rows. A replica may have them later.
func (v *visitor) has(ctx context.Context, host string, rows []int) error {
	var missing []int
	var problem error
	err := lab.Await(ctx, "the rows", func() bool {
		text, err := v.run(ctx, host, v.client.List)
		found := map[int]bool{}
		for _, n := range numbers(text) {
			found[n] = true
		}
		missing = slices.DeleteFunc(slices.Clone(rows), func(n int) bool { return found[n] })
		problem = err
		return err == nil && len(missing) == 0
	})
	at := cmp.Or(host, "the host in Secret "+naming.Connection(v.cluster.Name))
	switch {
	case err == nil:
		return nil
	case problem != nil:
		return fmt.Errorf("list the rows at %s: %w", at, problem)
	default:
		return fmt.Errorf("%d of %d acknowledged rows are lost at %s, the first one is %d", len(missing), len(rows), at, missing[0])
	}
}
