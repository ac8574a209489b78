/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/backups"
)

// A backup with the engine of the spec would have the data of one member of two.
func TestABackupUsesTheEngineOfTheDataWhileAnotherTopologyIsRefused(t *testing.T) {
	primary, newer := backups.Engine(), backups.Engine()
	primary.Name, primary.Spec.Topology = "primary-v1", dbv1.TopologyPrimaryReplica
	newer.Name = "ledger-v2"
	for name, c := range map[string]struct {
		asked, owner, want string
	}{
		"another topology":                         {"primary-v1", "0a1b2c3d", "ledger-v1"},
		"the same topology":                        {"ledger-v2", "0a1b2c3d", "ledger-v2"},
		"an engine that does not exist":            {"typo-v1", "0a1b2c3d", "ledger-v1"},
		"the StatefulSet belongs to another owner": {"primary-v1", "other", "primary-v1"},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "orders", UID: "set", OwnerReferences: []metav1.OwnerReference{{UID: types.UID(c.owner), Controller: new(true)}},
			}}
			set.Spec.Template.Annotations = map[string]string{dbv1.AnnotationEngine: "ledger-v1"}
			objects := append(world(), backups.Asked(), primary, newer, set)
			for _, o := range objects {
				if cluster, is := o.(*dbv1.DatabaseCluster); is {
					cluster.Spec.Engine = c.asked
				}
			}
			observed := newServer(t, objects...).observed(t, backups.Asked(), true)
			if observed.Cluster.Spec.Engine != c.want || observed.Engine.Name != c.want {
				t.Errorf("the cluster has engine %q, and %v is used", observed.Cluster.Spec.Engine, observed.Engine)
			}
		})
	}
}
