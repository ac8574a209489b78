/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// The retention of orders must not delete the backup with which payroll is being replaced.
func TestABackupIsASourceWhileItsDataReplacesThatOfAnotherCluster(t *testing.T) {
	const location = "s3://bucket/shop/orders/first"
	asks := func(change func(*dbv1.DatabaseRestore)) *dbv1.DatabaseRestore {
		r := &dbv1.DatabaseRestore{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "moved", UID: "r1"}}
		r.Spec.ClusterRef.Name, r.Spec.Mode = "payroll", dbv1.RestoreReplace
		r.Spec.Source.Location = &dbv1.BackupDestination{URL: location}
		change(r)
		return r
	}
	same := func(*dbv1.DatabaseRestore) {}
	named := func(r *dbv1.DatabaseRestore) {
		r.Spec.Source = dbv1.RestoreSource{BackupRef: &dbv1.RestoreBackupRef{Name: "first"}}
	}
	failed := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "payroll", UID: "c2"}}
	failed.Status.Replacement = &dbv1.ClusterReplacementStatus{RestoreRef: &dbv1.ReplacementRestoreRef{Name: "moved", UID: "r1"}, Failure: "the key is wrong"}
	payroll := &dbv1.DatabaseCluster{ObjectMeta: failed.ObjectMeta}
	for name, c := range map[string]struct {
		restore *dbv1.DatabaseRestore
		cluster *dbv1.DatabaseCluster
		is      bool
	}{
		"by its location":          {asks(same), payroll, true},
		"by its name":              {asks(named), payroll, true},
		"not for a preview":        {asks(func(r *dbv1.DatabaseRestore) { r.Spec.Mode = dbv1.RestorePreview }), payroll, false},
		"not after it has failed":  {asks(same), failed, false},
		"not in another namespace": {asks(func(r *dbv1.DatabaseRestore) { r.Namespace = "other" }), payroll, false},
		"not without a cluster":    {asks(func(r *dbv1.DatabaseRestore) { r.Spec.ClusterRef.Name = "missing" }), payroll, false},
		"not one that is being ended": {asks(func(r *dbv1.DatabaseRestore) {
			r.DeletionTimestamp, r.Finalizers = new(metav1.Now()), []string{dbv1.Finalizer}
		}), payroll, false},
	} {
		t.Run(name, func(t *testing.T) {
			backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "first", Labels: map[string]string{dbv1.LabelInstance: "orders"}}}
			backup.Spec.Cluster, backup.Status.Location, backup.Status.ClusterUID, backup.Status.Phase = "orders", location, "c1", dbv1.BackupCompleted
			if o := read(t, c.restore, c.cluster, backup); len(o.Backups) != 1 || o.Backups[0].Read != c.is {
				t.Errorf("sources %+v, backups %+v", o.Sources, o.Backups)
			}
		})
	}
}

// read is what a pass for the cluster orders reads.
func read(t *testing.T, objects ...client.Object) *subject.ClusterReading {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	orders := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "c1"}}
	orders.Spec.Backup = &dbv1.ClusterBackup{}
	view := kit.View{Reader: fakeclient.For(scheme).WithObjects(objects...).Build()}
	o := &subject.ClusterReading{Reading: kit.Reading{View: view, Object: orders}, Cluster: orders, Others: view, Observed: state.Observed{}}
	if readBackups(t.Context(), o); o.Err != nil {
		t.Fatal(o.Err)
	}
	return o
}
