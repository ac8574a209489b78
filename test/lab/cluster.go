/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Engine is the profile under test.
const Engine = "postgresql-v1"

// Cluster is a DatabaseCluster.
type Cluster struct {
	Database
	template *dbv1.DatabaseCluster
}

// NewCluster creates three members of Engine on volumes of a StorageClass, or of the default one, and waits until they are
// ready.
func (l *Lab) NewCluster(ctx context.Context, name, disk string, parameters map[string]string) (*Cluster, error) {
	return l.Run(ctx, l.Template(name, disk, parameters))
}

// Template is the DatabaseCluster of NewCluster.
func (l *Lab) Template(name, disk string, parameters map[string]string) *dbv1.DatabaseCluster {
	template := &dbv1.DatabaseCluster{ObjectMeta: l.meta(name), Spec: dbv1.DatabaseClusterSpec{
		Engine: Engine, Image: l.Image, Replicas: 3, Parameters: parameters, Storage: dbv1.ClusterStorage{Size: resource.MustParse("1Gi")},
	}}
	template.Spec.Container.ImagePullPolicy = corev1.PullNever
	template.Spec.Resources = small()
	if disk != "" {
		template.Spec.Storage.StorageClassName = &disk
	}
	return template
}

// Run creates a DatabaseCluster in the namespace of the lab, and waits until it is ready.
func (l *Lab) Run(ctx context.Context, template *dbv1.DatabaseCluster) (*Cluster, error) {
	c, err := l.Begin(ctx, template)
	if err != nil {
		return nil, err
	}
	return c, c.AwaitReady(ctx)
}

// Begin creates a DatabaseCluster in the namespace of the lab.
func (l *Lab) Begin(ctx context.Context, template *dbv1.DatabaseCluster) (*Cluster, error) {
	template.Namespace = l.Namespace
	engine := &dbv1.DatabaseEngine{}
	if err := l.Get(ctx, client.ObjectKey{Name: template.Spec.Engine}, engine); err != nil {
		return nil, fmt.Errorf("read the engine: %w", err)
	}
	c := &Cluster{template: template, Database: Database{
		Lab: l, Name: template.Name, Members: int(template.Spec.Replicas), Secret: template.Name + "-credentials", roles: engine.Spec.Roles,
		labels: client.MatchingLabels{
			"app.kubernetes.io/name": "databasecluster", "app.kubernetes.io/instance": template.Name, "app.kubernetes.io/component": "database",
		},
	}}
	if err := c.Create(ctx, template.DeepCopy()); err != nil {
		return nil, fmt.Errorf("create DatabaseCluster: %w", err)
	}
	return c, nil
}

// Pool creates two poolers in front of the primary, and waits until they are ready.
func (c *Cluster) Pool(ctx context.Context, name, image string) error {
	companion := &dbv1.DatabaseCompanion{ObjectMeta: c.meta(name), Spec: dbv1.DatabaseCompanionSpec{
		ClusterRef: dbv1.DatabaseObjectClusterRef{Name: c.Name}, Companion: "pgbouncer", Replicas: new(int32(2)), Image: image,
	}}
	if err := c.Create(ctx, companion); err != nil {
		return fmt.Errorf("create DatabaseCompanion: %w", err)
	}
	return Await(ctx, name+" to be Ready", func() bool {
		err := c.Get(ctx, c.key(name), companion)
		return err == nil && meta.IsStatusConditionTrue(companion.Status.Conditions, dbv1.ConditionReady)
	})
}

// small are the resources of a member. Without limits, a busy machine does not throttle it further.
func small() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("100Mi"),
	}}
}

// Object returns the DatabaseCluster.
func (c *Cluster) Object(ctx context.Context) (*dbv1.DatabaseCluster, error) {
	cluster := &dbv1.DatabaseCluster{}
	return cluster, c.Get(ctx, c.key(c.Name), cluster)
}

// AwaitReady waits until the operator reports that the cluster matches its spec.
func (c *Cluster) AwaitReady(ctx context.Context) error {
	return Await(ctx, c.Name+" to be Ready", func() bool {
		cluster, err := c.Object(ctx)
		return err == nil && cluster.Status.ObservedGeneration == cluster.Generation &&
			meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionReady) && c.Healthy(ctx)
	})
}

// Recreate deletes the DatabaseCluster, and its volumes by a policy, and creates it again under its name.
func (c *Cluster) Recreate(ctx context.Context, volumes string) error {
	if err := c.Spec(ctx, map[string]any{"deletion": map[string]any{"volumes": volumes}}); err != nil {
		return err
	}
	object, err := c.Object(ctx)
	if err != nil {
		return err
	}
	if err := c.DeleteCluster(ctx, object); err != nil {
		return err
	}
	if err := c.Create(ctx, c.template.DeepCopy()); err != nil {
		return err
	}
	return c.AwaitReady(ctx)
}

// Conditions describes the conditions of the status.
func (c *Cluster) Conditions(ctx context.Context) string {
	cluster, err := c.Object(ctx)
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, condition := range cluster.Status.Conditions {
		fmt.Fprintf(&text, "%s %s (%s): %s\n", condition.Type, condition.Status, condition.Reason, condition.Message)
	}
	return text.String()
}

// Spec changes fields of the spec.
func (c *Cluster) Spec(ctx context.Context, fields map[string]any) error {
	return c.merge(ctx, map[string]any{"spec": fields})
}

// Annotate sets an annotation.
func (c *Cluster) Annotate(ctx context.Context, key, value string) error {
	return c.merge(ctx, map[string]any{"metadata": map[string]any{"annotations": map[string]string{key: value}}})
}

func (c *Cluster) merge(ctx context.Context, change map[string]any) error {
	patch, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return c.Patch(ctx, &dbv1.DatabaseCluster{ObjectMeta: c.meta(c.Name)}, client.RawPatch("application/merge-patch+json", patch))
}

// HandOver requests that a member becomes the primary.
func (c *Cluster) HandOver(ctx context.Context, to string) error {
	return c.Annotate(ctx, dbv1.AnnotationHandOver, to+"/"+strconv.FormatInt(time.Now().UnixNano(), 36))
}

// Parameter changes a parameter.
func (c *Cluster) Parameter(ctx context.Context, name, value string) error {
	return c.Spec(ctx, map[string]any{"parameters": map[string]string{name: value}})
}

// Scale changes the number of members.
func (c *Cluster) Scale(ctx context.Context, members int) error {
	c.Members = members
	return c.Spec(ctx, map[string]any{"replicas": members})
}

// Restart requests a restart of all members.
func (c *Cluster) Restart(ctx context.Context) error {
	return c.Annotate(ctx, dbv1.AnnotationRestart, strconv.FormatInt(time.Now().UnixNano(), 36))
}

// DeleteCluster deletes a DatabaseCluster without its hooks.
func (l *Lab) DeleteCluster(ctx context.Context, cluster *dbv1.DatabaseCluster) error {
	patch := []byte(`{"metadata":{"annotations":{"` + dbv1.AnnotationSkipDeletionHooks + `":"true"}},"spec":{"paused":false}}`)
	if err := l.Patch(ctx, cluster, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return err
	}
	if err := l.Delete(ctx, cluster); err != nil {
		return err
	}
	return l.Gone(ctx, cluster)
}
