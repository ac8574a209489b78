/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The container of the database in the pods of members, the folder of its socket, and the key of the password of its owner.
const (
	container     = "database"
	socket        = "/run/postgresql"
	ownerPassword = "owner-password"
)

// Database is one database with several members: a DatabaseCluster, bare Patroni, or a Cluster of CloudNativePG.
type Database struct {
	*Lab
	// Name is also the name of the Service of the primary.
	Name    string
	Members int
	// labels select the members.
	labels client.MatchingLabels
	// Secret has the password of the owner.
	Secret string
	// container, socket and passwordKey replace the constants.
	container, socket, passwordKey string
	// roles are those of the engine; nil if no member is the primary.
	roles *dbv1.EngineRoles
}

// leads reports whether a member has the label of the primary.
func (d *Database) leads(pod *corev1.Pod) bool {
	return d.roles != nil && pod.Labels[d.roles.Label] == d.roles.Primary
}

// DB returns the database itself.
func (d *Database) DB() *Database { return d }

// Member is the name of a pod.
func (d *Database) Member(ordinal int) string { return fmt.Sprintf("%s-%d", d.Name, ordinal) }

// Host is the name of a member in the headless Service.
func (d *Database) Host(ordinal int) string {
	return fmt.Sprintf("%s-%d.%s-headless", d.Name, ordinal, d.Name)
}

// Hosts are the names of all members, in a list for libpq.
func (d *Database) Hosts() string {
	var hosts []string
	for ordinal := range d.Members {
		hosts = append(hosts, d.Host(ordinal))
	}
	return strings.Join(hosts, ",")
}

// Pods returns the pods of the members.
func (d *Database) Pods(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := d.List(ctx, &pods, client.InNamespace(d.Namespace), d.labels)
	return pods.Items, err
}

// Pod returns one member.
func (d *Database) Pod(ctx context.Context, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	return pod, d.Get(ctx, d.key(name), pod)
}

// UIDs returns the UIDs of the members' pods.
func (d *Database) UIDs(ctx context.Context) ([]string, error) {
	pods, err := d.Pods(ctx)
	var uids []string
	for _, pod := range pods {
		uids = append(uids, string(pod.UID))
	}
	return uids, err
}

// Primary returns the pod that has the label of the primary and is ready.
func (d *Database) Primary(ctx context.Context) (*corev1.Pod, error) {
	pods, err := d.Pods(ctx)
	if err != nil {
		return nil, err
	}
	for i, pod := range pods {
		if d.leads(&pod) && Ready(&pod) {
			return &pods[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no ready primary", d.Name)
}

// Replicas returns the ready replicas, lowest ordinal first.
func (d *Database) Replicas(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := d.Pods(ctx)
	pods = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return d.leads(&pod) || !Ready(&pod) })
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods, err
}

// Healthy reports whether all members are ready, and exactly one is the primary if the engine has roles.
func (d *Database) Healthy(ctx context.Context) bool {
	pods, err := d.Pods(ctx)
	primaries, want := 0, 0
	if d.roles != nil {
		want = 1
	}
	for _, pod := range pods {
		if !Ready(&pod) || pod.DeletionTimestamp != nil {
			return false
		}
		if d.leads(&pod) {
			primaries++
		}
	}
	return err == nil && len(pods) == d.Members && primaries == want
}

// SQL runs a statement on a member as the superuser, and returns the bare rows.
func (d *Database) SQL(ctx context.Context, pod, statement string) (string, error) {
	return d.Exec(ctx, pod, cmp.Or(d.container, container),
		"psql", "-X", "-q", "-t", "-A", "-h", cmp.Or(d.socket, socket), "-U", "postgres", "-d", "app", "-c", statement)
}

// DeletePod deletes a pod with a grace period in seconds, or that of the pod if it is negative.
func (d *Database) DeletePod(ctx context.Context, pod *corev1.Pod, grace int64) error {
	options := []client.DeleteOption{client.Preconditions{UID: &pod.UID}}
	if grace >= 0 {
		options = append(options, client.GracePeriodSeconds(grace))
	}
	return d.Delete(ctx, pod, options...)
}

// Ready reports whether a pod is ready.
func Ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}
