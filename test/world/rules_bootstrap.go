/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchFirstData: a cluster that starts with the newest backup decides once, by what the bucket has at that moment. Before that, it gets no
// volume and no members.
func (w *World) watchFirstData(c store.Change) {
	cluster := w.Cluster()
	switch object := c.Object().(type) {
	case *dbv1.DatabaseCluster:
		before, changed := c.Before.(*dbv1.DatabaseCluster)
		after, kept := c.After.(*dbv1.DatabaseCluster)
		if changed && kept {
			w.watchDecision(before, after)
		}
	case *corev1.PersistentVolumeClaim:
		if c.Before == nil && cluster != nil && w.IsMemberClaim(object) {
			w.watchUndecided(cluster, store.Ref(object))
		}
	case *appsv1.StatefulSet:
		if c.Before == nil && cluster != nil {
			w.watchUndecided(cluster, store.Ref(object))
		}
	}
}

func (w *World) watchUndecided(cluster *dbv1.DatabaseCluster, created string) {
	from := cluster.Spec.Bootstrap
	if w.by == operator && from != nil && from.FromBackup != nil && from.FromBackup.Newest != nil && cluster.Status.Bootstrap == nil {
		w.Breaks("%s is created before it is decided whether there is a backup", created)
	}
}

func (w *World) watchDecision(before, after *dbv1.DatabaseCluster) {
	was, is := before.Status.Bootstrap, after.Status.Bootstrap
	switch {
	case equality.Semantic.DeepEqual(is, was):
		return
	case is == nil, was != nil && was.Search == is.Search:
		w.Breaks("the decision about the first data changes from %+v to %+v", was, is)
		return
	}
	folder := state.SearchedFolder(before)
	if folder == nil {
		w.Breaks("it is decided about the newest backup, but the spec does not ask for it")
		return
	}
	newest, unclear := w.newestBelow(folder.URL)
	switch {
	case is.Decision == dbv1.BootstrapCreate && newest+unclear != "":
		w.Breaks("the cluster starts empty, but the bucket has %s", newest+unclear)
	case is.Decision == dbv1.BootstrapRestore && is.Location != newest:
		w.Breaks("the cluster starts with %s, but the newest backup is %q", is.Location, newest)
	case after.Spec.Bootstrap.FromBackup.IfMissing != dbv1.IfMissingCreate && is.Decision == dbv1.BootstrapCreate:
		w.Breaks("the cluster starts empty, but the spec does not ask for that")
	}
}
