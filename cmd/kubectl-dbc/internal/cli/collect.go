/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/reporting"
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

// collected is an object of a report, and its file.
type collected struct {
	file   string
	object map[string]any
}

// readObjects reads the objects of the cluster. They are added when the values of their Secrets are known.
func (c *collection) readObjects(ctx context.Context) {
	c.objects = reporting.Objects{}
	for _, kind := range reported() {
		for _, o := range c.list(ctx, kind) {
			c.keep(&o)
		}
	}
	c.readEngine(ctx)
}

// keep records an object of the cluster.
func (c *collection) keep(o *unstructured.Unstructured) {
	kind := o.GroupVersionKind().GroupKind()
	c.objects[reporting.Object{GroupKind: kind, Name: o.GetName()}] = o.GetUID()
	c.found = append(c.found, collected{"objects/" + kind.Kind + "/" + o.GetName() + ".yaml", o.Object})
}

// addObjects adds all objects as YAML without secrets.
func (c *collection) addObjects() {
	for _, f := range c.found {
		c.secrets.Object(f.object)
		content, err := yaml.Marshal(f.object)
		if err != nil {
			c.miss(f.file, err)
			continue
		}
		c.add(f.file, string(content))
	}
}

// list lists the objects of a kind that belong to the cluster.
func (c *collection) list(ctx context.Context, kind wanted) []unstructured.Unstructured {
	options := []client.ListOption{client.InNamespace(c.target.namespace)}
	if kind.field == nil {
		options = append(options, client.MatchingLabels(ofObjects(c.cluster.Name)))
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.target.List(ctx, list, options...); err != nil {
		if kind.Group == dbv1.GroupVersion.Group {
			err = fmt.Errorf("the values of Secrets that only these objects name were not searched for: %w", err)
		}
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
	err := c.target.Get(ctx, types.NamespacedName{Name: name}, engine)
	if err == nil {
		c.keep(engine)
		c.engine = &dbv1.DatabaseEngine{}
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(engine.Object, c.engine)
	}
	if err != nil {
		c.miss("DatabaseEngine "+name+", so the values of Secrets that only it names were not searched for", err)
		c.engine = nil
	}
}

// readEvents reads the events of the objects, a line each.
func (c *collection) readEvents(ctx context.Context) {
	list := &corev1.EventList{}
	if err := c.target.List(ctx, list, client.InNamespace(c.target.namespace)); err != nil {
		c.miss("Event", err)
		return
	}
	c.add("events.txt", reporting.Events(list.Items, c.objects))
}
