//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

const (
	operatorNamespace = "databasecluster-operator-system"
	deployment        = "databasecluster-operator-controller-manager"
)

// operate sets the state of the operator: on, off (no replica runs), or paused (it ignores this cluster, so others can
// use the node).
func (w *world) operate(state string) error {
	if wholeNode {
		if err := w.scaleOperator(map[bool]int32{true: 0, false: 2}[state == "off"]); err != nil {
			return err
		}
	}
	if state == "off" && !wholeNode {
		return fmt.Errorf("OPERATOR=off stops the operator for other users of this node: NODE=mine allows it")
	}
	if err := w.Spec(w.Context(), map[string]any{"paused": state == "paused"}); err != nil || state != "paused" {
		return err
	}
	return lab.Await(w.Context(), "the operator to pause", func() bool {
		cluster, err := w.Object(w.Context())
		return err == nil && meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionPaused)
	})
}

func (w *world) scaleOperator(replicas int32) error {
	object := &appsv1.Deployment{}
	object.Namespace, object.Name = operatorNamespace, deployment
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if err := w.Patch(w.Context(), object, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return err
	}
	return lab.Await(w.Context(), "the operator to scale", func() bool {
		pods, err := w.operatorPods()
		return err == nil && len(pods) == int(replicas)
	})
}

func (w *world) operatorPods() ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := w.List(w.Context(), &pods, client.InNamespace(operatorNamespace))
	return pods.Items, err
}
