/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchRemoved: an account is removed only if its object is being deleted, with reclaimPolicy Delete.
func (w *World) watchRemoved(kind string, d protocol.DeclaredObject) {
	for _, u := range store.All[*dbv1.DatabaseUser](w.Store) {
		if u.UID == types.UID(d.ID) && u.DeletionTimestamp != nil && u.Spec.ReclaimPolicy == dbv1.ReclaimDelete {
			return
		}
	}
	for _, b := range store.All[*dbv1.Database](w.Store) {
		if b.UID == types.UID(d.ID) && b.DeletionTimestamp != nil && b.Spec.ReclaimPolicy == dbv1.ReclaimDelete {
			return
		}
	}
	w.Breaks("%s %s is removed from the database, but not deleted", kind, d.Name)
}

// watchAccount: a user is ready only if the database has it as declared, and stays until it is removed there.
func (w *World) watchAccount(c store.Change) {
	before, changed := c.Before.(*dbv1.DatabaseUser)
	after, kept := c.After.(*dbv1.DatabaseUser)
	late := w.lag != nil || w.fault != nil && w.fault.Kind == meanwhile
	switch {
	case kept && meta.IsStatusConditionTrue(after.Status.Conditions, dbv1.ConditionReady) && after.DeletionTimestamp == nil && !late:
		w.watchUserReady(after)
	case changed && store.HasFinalizer(before, dbv1.Finalizer) && (!kept || !store.HasFinalizer(after, dbv1.Finalizer)):
		cluster, live := w.Cluster(), w.disk.accounts[w.place("DatabaseUser", before.Spec.Name)]
		deletes := before.DeletionTimestamp != nil && before.Spec.ReclaimPolicy == dbv1.ReclaimDelete
		if deletes && cluster != nil && cluster.DeletionTimestamp == nil && live.id == string(before.UID) && !late {
			w.Breaks("DatabaseUser %s ends, but the database still has the user", before.Name)
		}
	}
}

func (w *World) watchUserReady(u *dbv1.DatabaseUser) {
	live := w.disk.accounts[w.place("DatabaseUser", u.Spec.Name)]
	secret := store.Get[*corev1.Secret](w.Store, naming.User(u.Name))
	var grants []protocol.DeclaredGrant
	for _, g := range u.Spec.Databases {
		grants = append(grants, protocol.DeclaredGrant{Name: g.Name, Privileges: g.Privileges})
	}
	switch {
	case live.id != string(u.UID):
		w.Breaks("DatabaseUser %s is ready, but the database does not have the user", u.Name)
	case secret == nil || live.is != fmt.Sprint(grants)+string(secret.Data["password"]):
		w.Breaks("DatabaseUser %s is ready, but the user in the database is another", u.Name)
	}
}

// unmade are the users that should be in the database by now.
func (w *World) unmade() (texts []string) {
	cluster := w.Cluster()
	if cluster == nil || cluster.Spec.Paused || !meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionAvailable) {
		return nil
	}
	for _, u := range store.All[*dbv1.DatabaseUser](w.Store) {
		ready := meta.IsStatusConditionTrue(u.Status.Conditions, dbv1.ConditionReady)
		stalled := meta.IsStatusConditionTrue(u.Status.Conditions, dbv1.ConditionStalled)
		drifted := u.Spec.Drift == dbv1.DriftReport
		if !ready && !stalled && !drifted || u.DeletionTimestamp != nil {
			texts = append(texts, fmt.Sprintf("DatabaseUser %s is neither ready nor stalled nor drifted, or not deleted", u.Name))
		}
	}
	return texts
}
