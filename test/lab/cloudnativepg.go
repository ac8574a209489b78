/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

//go:embed cloudnativepg.yaml
var cloudNativePGManifest string

// CloudNativePG is a Cluster of CloudNativePG with a Pooler. Its operator has to run.
type CloudNativePG struct{ Database }

// NewCloudNativePG creates a Cluster of three instances and a Pooler of two pods, and waits until the Cluster is healthy.
func (l *Lab) NewCloudNativePG(ctx context.Context, name, pooler string) (*CloudNativePG, error) {
	c := &CloudNativePG{Database{
		Lab: l, Name: name, Members: 3, Secret: name + "-app", passwordKey: "password", container: "postgres", socket: "/controller/run",
		roles:  &dbv1.EngineRoles{Label: "cnpg.io/instanceRole", Primary: "primary"},
		labels: client.MatchingLabels{"cnpg.io/cluster": name, "cnpg.io/podRole": "instance"},
	}}
	if err := l.apply(ctx, strings.NewReplacer("NAME", name, "IMAGE", l.Image, "POOLER", pooler).Replace(cloudNativePGManifest)); err != nil {
		return nil, err
	}
	return c, c.AwaitReady(ctx)
}

// object is the Cluster.
func (c *CloudNativePG) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"})
	object.SetNamespace(c.Namespace)
	object.SetName(c.Name)
	return object
}

func (c *CloudNativePG) change(ctx context.Context, change map[string]any) error {
	patch, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return c.Patch(ctx, c.object(), client.RawPatch("application/merge-patch+json", patch))
}

// HandOver promotes an instance, as the command `kubectl cnpg promote` does.
func (c *CloudNativePG) HandOver(ctx context.Context, to string) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"targetPrimary": to, "targetPrimaryTimestamp": time.Now().Format(metav1.RFC3339Micro),
		"phase": "Switchover in progress", "phaseReason": "Switching over to " + to,
	}})
	if err != nil {
		return err
	}
	return c.Status().Patch(ctx, c.object(), client.RawPatch("application/merge-patch+json", patch))
}

// Restart restarts all instances, as the command `kubectl cnpg restart` does.
func (c *CloudNativePG) Restart(ctx context.Context) error {
	now := time.Now().Format(time.RFC3339)
	annotations := map[string]string{"kubectl.kubernetes.io/restartedAt": now}
	return c.change(ctx, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// Parameter changes a parameter of PostgreSQL.
func (c *CloudNativePG) Parameter(ctx context.Context, name, value string) error {
	return c.spec(ctx, map[string]any{"postgresql": map[string]any{"parameters": map[string]string{name: value}}})
}

// Scale changes the number of instances.
func (c *CloudNativePG) Scale(ctx context.Context, members int) error {
	c.Members = members
	return c.spec(ctx, map[string]any{"instances": members})
}

func (c *CloudNativePG) spec(ctx context.Context, fields map[string]any) error {
	return c.change(ctx, map[string]any{"spec": fields})
}

// AwaitReady waits until the operator reports a healthy Cluster.
func (c *CloudNativePG) AwaitReady(ctx context.Context) error {
	return Await(ctx, c.Name+" to be healthy", func() bool {
		object := c.object()
		if err := c.Get(ctx, c.key(c.Name), object); err != nil {
			return false
		}
		phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		current, _, _ := unstructured.NestedString(object.Object, "status", "currentPrimary")
		target, _, _ := unstructured.NestedString(object.Object, "status", "targetPrimary")
		return phase == "Cluster in healthy state" && current == target && c.Healthy(ctx)
	})
}
