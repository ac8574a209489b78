/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// starter is a cluster that starts with the newest backup of another one.
func starter() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "copy", UID: "uid"}}
	newest := &dbv1.NewestBackup{Destination: dbv1.BackupDestination{URL: "s3://bucket"}, ClusterName: "orders"}
	c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Newest: newest}}
	return c
}

func TestABackupThatMayBeTheNewestIsASourceUntilItIsDecided(t *testing.T) {
	decided := func(decision dbv1.BootstrapDecision, location string) *dbv1.DatabaseCluster {
		c := starter()
		c.Status.Bootstrap = &dbv1.ClusterBootstrapStatus{Decision: decision, Location: location, Search: state.SearchID(c)}
		return c
	}
	for name, c := range map[string]struct {
		cluster *dbv1.DatabaseCluster
		want    map[string]bool
	}{
		"undecided": {starter(), map[string]bool{"s3://bucket/shop/orders/a": true, "s3://bucket/shop/orders/b": true, "s3://bucket/shop/orders-2/a": false}},
		"decided": {decided(dbv1.BootstrapRestore, "s3://bucket/shop/orders/a"),
			map[string]bool{"s3://bucket/shop/orders/a": true, "s3://bucket/shop/orders/b": false}},
		"starts empty": {decided(dbv1.BootstrapCreate, ""), map[string]bool{"s3://bucket/shop/orders/a": false}},
	} {
		t.Run(name, func(t *testing.T) {
			var sources []dbv1.BackupSource
			if len(starting(c.cluster)) > 0 {
				sources = append(sources, sourceOf(c.cluster))
			}
			for location, want := range c.want {
				backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: dbv1.DatabaseBackupStatus{Location: location}}
				if isSource(backup, sources) != want {
					t.Errorf("%s is a source: %t", location, !want)
				}
			}
		})
	}
}
