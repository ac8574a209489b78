/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/connecting"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/merging"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

// wanted are the objects of a kind that belong to a cluster: those with its labels, or with its name in a field.
type wanted struct {
	schema.GroupVersionKind
	field []string
}

// ofCluster is the field with the name of the cluster.
var ofCluster = []string{"spec", "clusterRef", "name"}

// reported are the kinds of objects of a cluster. Secrets are not among them.
func reported() []wanted {
	var all []wanted
	for group, kinds := range map[schema.GroupVersion][]string{
		{Version: "v1"}:                                     {"Pod", "PersistentVolumeClaim", "Service", "ConfigMap", "ServiceAccount"},
		{Group: "apps", Version: "v1"}:                      {"StatefulSet", "Deployment"},
		{Group: "batch", Version: "v1"}:                     {"Job"},
		{Group: "policy", Version: "v1"}:                    {"PodDisruptionBudget"},
		{Group: "networking.k8s.io", Version: "v1"}:         {"NetworkPolicy"},
		{Group: "rbac.authorization.k8s.io", Version: "v1"}: {"Role", "RoleBinding"},
	} {
		for _, kind := range kinds {
			all = append(all, wanted{group.WithKind(kind), nil})
		}
	}
	return append(all,
		wanted{dbv1.GroupVersion.WithKind("DatabaseCluster"), []string{"metadata", "name"}},
		wanted{dbv1.GroupVersion.WithKind("DatabaseBackup"), []string{"spec", "cluster"}},
		wanted{dbv1.GroupVersion.WithKind("DatabaseRestore"), ofCluster},
		wanted{dbv1.GroupVersion.WithKind("Database"), ofCluster},
		wanted{dbv1.GroupVersion.WithKind("DatabaseUser"), ofCluster})
}

// readObjects reads the objects of the cluster, and the events of the namespace that concern them.
func (c *collection) readObjects(ctx context.Context) {
	names := map[string]bool{}
	for _, kind := range reported() {
		for _, o := range c.list(ctx, kind) {
			names[o.GetName()] = true
			c.addObject("objects/"+kind.Kind+"/"+o.GetName()+".yaml", o.Object)
		}
	}
	c.readEngine(ctx)
	c.readEvents(ctx, names)
}

// list lists the objects of a kind that belong to the cluster.
func (c *collection) list(ctx context.Context, kind wanted) []unstructured.Unstructured {
	options := []client.ListOption{client.InNamespace(c.target.namespace)}
	if kind.field == nil {
		options = append(options, client.MatchingLabels{dbv1.LabelInstance: c.cluster.Name})
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.target.List(ctx, list, options...); err != nil {
		c.miss(kind.Kind, err)
		return nil
	}
	return slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool {
		name, _, err := unstructured.NestedString(o.Object, kind.field...)
		return kind.field != nil && (err != nil || name != c.cluster.Name)
	})
}

// readEngine reads the engine, which is an object of the whole cluster of Kubernetes.
func (c *collection) readEngine(ctx context.Context) {
	name := c.cluster.Spec.Engine
	if name == "" {
		return
	}
	engine := &unstructured.Unstructured{}
	engine.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseEngine"))
	if err := c.target.Get(ctx, types.NamespacedName{Name: name}, engine); err != nil {
		c.miss("DatabaseEngine "+name, err)
		return
	}
	c.addObject("objects/DatabaseEngine/"+name+".yaml", engine.Object)
}

// readEvents reads the events of these objects, a line each.
func (c *collection) readEvents(ctx context.Context, names map[string]bool) {
	list := &corev1.EventList{}
	if err := c.target.List(ctx, list, client.InNamespace(c.target.namespace)); err != nil {
		c.miss("Event", err)
		return
	}
	var lines []string
	for _, e := range list.Items {
		if names[e.InvolvedObject.Name] {
			at := e.LastTimestamp.Time
			if at.IsZero() {
				at = e.EventTime.Time
			}
			about := e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name
			lines = append(lines, fmt.Sprintf("%s %s %s %s: %s (%d)", text.Time(at), e.Type, about, e.Reason, e.Message, e.Count))
		}
	}
	slices.Sort(lines)
	c.add("events.txt", strings.Join(lines, "\n")+"\n")
}

// readAllLogs reads the logs of the cluster and of the operator.
func (c *collection) readAllLogs(ctx context.Context) {
	clients, err := c.target.clientset()
	if err != nil {
		c.miss("logs", err)
		return
	}
	pods, err := c.target.podsOf(ctx, c.cluster.Name, "")
	if err != nil {
		c.miss("logs", err)
	}
	operators, err := c.operators(ctx)
	if err != nil {
		c.miss("log of the operator", err)
	}
	// The log of a client has all that a user has typed.
	pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Labels[dbv1.LabelComponent] == connecting.Component })
	c.readLogsOf(ctx, clients.CoreV1().Pods(c.target.namespace), c.target.namespace, pods)
	c.readLogsOf(ctx, clients.CoreV1().Pods(c.operator), c.operator, operators)
}

// operators are the pods of the operator.
func (c *collection) operators(ctx context.Context) ([]corev1.Pod, error) {
	list, labels := &corev1.PodList{}, client.MatchingLabels{
		"control-plane": "controller-manager", "app.kubernetes.io/name": "databasecluster-operator",
	}
	err := c.target.List(ctx, list, client.InNamespace(c.operator), labels)
	return list.Items, err
}

// longest is the number of lines of each log.
const longest = 10000

// readLogsOf reads the logs of pods, with those before the last restart of a container.
func (c *collection) readLogsOf(ctx context.Context, api corev1client.PodInterface, namespace string, pods []corev1.Pod) {
	for _, previous := range []bool{false, true} {
		f := &logFlags{tail: longest, previous: previous}
		for _, source := range merging.Sources(pods, "", true, previous) {
			name := fmt.Sprintf("logs/%s/%s/%s%s.log", namespace, source.Pod, source.Container, map[bool]string{true: "-previous"}[previous])
			content, err := api.GetLogs(source.Pod, f.options(source.Container)).DoRaw(ctx)
			if err != nil {
				c.miss(name, err)
				continue
			}
			c.add(name, string(content))
		}
	}
}

// readSecrets reads the values that the report must not have. Without the right to read them, only the form of a value is known.
func (c *collection) readSecrets(ctx context.Context) {
	for _, name := range c.secretNames(ctx) {
		secret := &corev1.Secret{}
		err := c.target.Get(ctx, types.NamespacedName{Namespace: c.target.namespace, Name: name}, secret)
		if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			c.miss("Secret "+name+", so logs were searched only for values that look like a password", err)
		}
		for key, value := range secret.Data {
			if !public[key] {
				c.secrets = c.secrets.With(string(value))
			}
		}
	}
}

// secretNames are the Secrets of the cluster and of its users.
func (c *collection) secretNames(ctx context.Context) []string {
	names := map[string]bool{c.cluster.Name + "-credentials": true, c.cluster.Spec.Credentials.SecretName: true}
	add := func(binding *dbv1.ClusterBinding) {
		if binding != nil {
			names[binding.Name] = true
		}
	}
	add(c.cluster.Status.Binding)
	if b := c.cluster.Spec.Backup; b != nil {
		names[b.Destination.CredentialsSecretName], names[b.Destination.EncryptionSecretName] = true, true
	}
	users := &dbv1.DatabaseUserList{}
	if err := c.target.List(ctx, users, client.InNamespace(c.target.namespace)); err != nil && !meta.IsNoMatchError(err) {
		c.miss("DatabaseUsers, so logs were searched only for values that look like their passwords", err)
	}
	for _, u := range users.Items {
		if u.Spec.ClusterRef.Name == c.cluster.Name {
			names[u.Spec.SecretName] = true
			add(u.Status.Binding)
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// public are keys of these Secrets that are no secrets.
var public = map[string]bool{
	"type": true, "provider": true, "host": true, "port": true, "username": true, "database": true, "ca.crt": true,
}

func sorted(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }
