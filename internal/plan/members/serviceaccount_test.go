/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// account returns the ServiceAccount that the operator created for a cluster.
func account(c *dbv1.DatabaseCluster, uid string) *corev1.ServiceAccount {
	is := &corev1.ServiceAccount{}
	is.Namespace, is.Name, is.UID, is.Labels = c.Namespace, c.Name, "account", naming.Labels(c, dbv1.ComponentDatabase)
	is.Labels[dbv1.LabelClusterUID] = uid
	return is
}

func TestTheServiceAccountOfAnnotations(t *testing.T) {
	annotated := func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"} }
	const template = "update StatefulSet orders (metadata.annotations.database.dbcluster.io/applied)\n"
	decideEach(t, map[string]scenario{
		"is created before members use it": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { annotated(c) },
			"create ServiceAccount orders\n" + template +
				"Applying: create ServiceAccount orders, update StatefulSet orders (metadata.annotations.database.dbcluster.io/applied)\n",
		},
		"of a previous cluster of the same name is taken over": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				annotated(c)
				o.ServiceAccount = account(c, "earlier")
			},
			"update ServiceAccount orders (metadata.annotations)\n" + template +
				"Applying: update ServiceAccount orders (metadata.annotations), " +
				"update StatefulSet orders (metadata.annotations.database.dbcluster.io/applied)\n",
		},
		"of another owner is used by no member": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				annotated(c)
				o.Foreign = []state.Ref{{Kind: "ServiceAccount", Name: "orders"}}
			},
			"UpToDate: the cluster matches its spec\nagain in 10s\nSTALLED NameConflict\n",
		},
		"is deleted when the spec no longer asks for it and no member uses it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				o.ServiceAccount = account(c, string(c.UID))
				recorded(c, o)
			},
			"delete ServiceAccount orders: no member uses it\nUpToDate: the cluster matches its spec\n",
		},
	})
}

// recorded changes the StatefulSet to its state while the ServiceAccount exists.
func recorded(c *dbv1.DatabaseCluster, o *state.Observed) {
	maps.Copy(o.StatefulSet.Annotations, resources.StatefulSet(c, 3, *o).Object.GetAnnotations())
}
