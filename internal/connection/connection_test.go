/*
SPDX-License-Identifier: Apache-2.0
*/

package connection

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

func TestTheBindingNamesAConnectionSecretThatExists(t *testing.T) {
	secret := &unstructured.Unstructured{Object: map[string]any{"kind": "Secret"}}
	secret.SetName("orders-connection")
	applied := operation.List{operation.Apply{Child: objects.Child{Object: secret}}}
	deleted := operation.List{operation.Delete{Objects: []operation.Removal{{Target: operation.Target{Kind: operation.Core("Secret"), Name: "orders-connection"}}}}}
	for name, c := range map[string]struct {
		live       *corev1.Secret
		operations operation.List
		err        error
		want       bool
	}{
		"it exists":            {&corev1.Secret{}, nil, nil, true},
		"it does not exist":    {nil, nil, nil, false},
		"it was created":       {nil, applied, nil, true},
		"it was not created":   {nil, applied, errors.New("refused"), false},
		"it was updated":       {&corev1.Secret{}, applied, errors.New("refused"), true},
		"it is being replaced": {&corev1.Secret{}, deleted, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &dbv1.DatabaseCluster{}
			cluster.Name = "orders"
			s := &situation.Situation{Cluster: cluster, Observed: state.Observed{Connection: c.live}}
			if got := binding(s, subject.Executed{Operations: c.operations, Err: c.err}); (got != nil) != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestTheBindingChangesWithTheSecret(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{}
	cluster.Name = "orders"
	s := &situation.Situation{Cluster: cluster, Observed: state.Observed{Connection: &corev1.Secret{}}}
	s.Connection.ResourceVersion = "42"
	want := dbv1.ClusterBinding{Name: "orders-connection", ResourceVersion: "42"}
	if got := binding(s, subject.Executed{}); *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}
