/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// shop is a cluster that has had members.
func shop() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Name: "orders", UID: "c1"}}
	c.Status.StatefulSet = &dbv1.WrittenWorkload{UID: "s1"}
	return c
}

// asks is a DatabaseRestore that is ready to replace the data of that cluster.
func asks(uid types.UID, second int) dbv1.DatabaseRestore {
	r := dbv1.DatabaseRestore{ObjectMeta: metav1.ObjectMeta{Name: string(uid), UID: uid, Finalizers: []string{dbv1.Finalizer}}}
	r.CreationTimestamp = metav1.NewTime(time.Unix(int64(second), 0))
	r.Spec.ClusterRef.Name, r.Spec.Mode = "orders", dbv1.RestoreReplace
	r.Status.BackupRef, r.Status.ClusterUID = &dbv1.RestoreBackupRef{Name: "first"}, "c1"
	return r
}

func TestOneRestoreAtATimeReplacesTheDataOfACluster(t *testing.T) {
	own := naming.RestoredTemplate("r1")
	uses := func(template, other string) *dbv1.ClusterReplacementStatus {
		return &dbv1.ClusterReplacementStatus{
			RestoreRef: &dbv1.ReplacementRestoreRef{Name: "r1", UID: "r1"}, VolumeClaimTemplate: template, OtherVolumeClaimTemplate: other,
		}
	}
	change := func(do func(*dbv1.DatabaseRestore)) []dbv1.DatabaseRestore {
		r := asks("r1", 1)
		do(&r)
		return []dbv1.DatabaseRestore{r}
	}
	undo := func(r *dbv1.DatabaseRestore) { r.Spec.Mode = dbv1.RestoreUndo }
	leave := func(r *dbv1.DatabaseRestore) { r.DeletionTimestamp = new(metav1.Now()) }
	same := func(*dbv1.DatabaseRestore) {}
	none := (*dbv1.ClusterReplacementStatus)(nil)
	cases := map[string]struct {
		now      *dbv1.ClusterReplacementStatus
		restores []dbv1.DatabaseRestore
		template string // "" for no replacement
		asked    bool
		source   bool
	}{
		"the first one begins":                    {none, []dbv1.DatabaseRestore{asks("r2", 2), asks("r1", 1)}, own, true, true},
		"not one without a finalizer":             {none, change(func(r *dbv1.DatabaseRestore) { r.Finalizers = nil }), "", false, false},
		"not one without a source":                {none, change(func(r *dbv1.DatabaseRestore) { r.Status.BackupRef = nil }), "", false, false},
		"not one of another cluster":              {none, change(func(r *dbv1.DatabaseRestore) { r.Spec.ClusterRef.Name = "payroll" }), "", false, false},
		"not one of a previous cluster":           {none, change(func(r *dbv1.DatabaseRestore) { r.Status.ClusterUID = "c0" }), "", false, false},
		"not a preview":                           {none, change(func(r *dbv1.DatabaseRestore) { r.Spec.Mode = dbv1.RestorePreview }), "", false, false},
		"nothing is undone that has not begun":    {none, change(undo), "", false, false},
		"nothing begins with a deletion":          {none, change(leave), "", false, false},
		"it goes on":                              {uses("data", own), []dbv1.DatabaseRestore{asks("r0", 0), asks("r1", 1)}, own, true, true},
		"undone before the switch":                {uses("data", own), change(undo), own, false, true},
		"deleted before the switch":               {uses("data", own), change(leave), own, false, true},
		"after the switch":                        {uses(own, "data"), change(same), "data", false, false},
		"undone":                                  {uses(own, "data"), change(undo), "data", true, false},
		"a deletion is no request for other data": {uses(own, "data"), change(leave), "data", false, false},
		"a deletion does not end an undo":         {uses(own, "data"), change(func(r *dbv1.DatabaseRestore) { undo(r); leave(r) }), "data", true, false},
		"after one that is gone":                  {uses(own, "data"), []dbv1.DatabaseRestore{asks("r2", 2)}, "", false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := shop()
			cluster.Status.Replacement = c.now
			got := ReplacementOf(cluster, c.restores)
			if got == nil {
				if c.template != "" {
					t.Fatal("nothing is replaced")
				}
				return
			}
			if got.Template != c.template || got.Asked != c.asked || (got.Source != nil) != c.source {
				t.Errorf("got %+v", *got)
			}
		})
	}
	if begun := ReplacementOf(&dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Name: "orders", UID: "c1"}}, change(same)); begun != nil {
		t.Errorf("data of a cluster is replaced that has never had any: %+v", *begun)
	}
}

func TestOnlyTheRestoreThatHasFailedIsRemembered(t *testing.T) {
	now := &dbv1.ClusterReplacementStatus{Failure: "the key is wrong", RestoreRef: &dbv1.ReplacementRestoreRef{Name: "r1", UID: "r1"}}
	cluster := shop()
	cluster.Status.Replacement = now
	r := ReplacementOf(cluster, []dbv1.DatabaseRestore{asks("r1", 1)})
	if next := r.Cluster(cluster); r.Failure != now.Failure || next.Status.Replacement.Failure != now.Failure || !Replaces(next) {
		t.Errorf("%+v, and the next cluster %+v", r, next.Status.Replacement)
	}
	now.RestoreRef = nil
	if r := ReplacementOf(cluster, []dbv1.DatabaseRestore{asks("r2", 2)}); r.Failure != "" {
		t.Errorf("another DatabaseRestore has failed: %s", r.Failure)
	}
	now.RestoreRef, now.Stage = &r.Restore, dbv1.ReplacementCompleted
	if Replaces(cluster) {
		t.Error("the cluster itself counts as the next one")
	}
}

func TestABackupIsNeededUntilItsDataHasReplacedThatOfTheCluster(t *testing.T) {
	held := func(do func(*dbv1.ClusterReplacementStatus)) *dbv1.DatabaseCluster {
		c := shop()
		c.Status.Replacement = &dbv1.ClusterReplacementStatus{RestoreRef: &dbv1.ReplacementRestoreRef{Name: "r1", UID: "r1"}, VolumeClaimTemplate: "data"}
		do(c.Status.Replacement)
		return c
	}
	same := func(*dbv1.DatabaseRestore) {}
	gone := shop()
	gone.DeletionTimestamp = new(metav1.Now())
	cases := map[string]struct {
		cluster *dbv1.DatabaseCluster
		change  func(*dbv1.DatabaseRestore)
		needed  bool
	}{
		"before it begins":              {shop(), same, true},
		"while it restores":             {held(func(*dbv1.ClusterReplacementStatus) {}), same, true},
		"while another one comes first": {held(func(s *dbv1.ClusterReplacementStatus) { s.RestoreRef.UID, s.Failure = "r0", "no" }), same, true},
		"the name of a backup counts before the status": {shop(), func(r *dbv1.DatabaseRestore) {
			r.Status, r.Spec.Source.BackupRef = dbv1.DatabaseRestoreStatus{}, &dbv1.RestoreBackupRef{Name: "first"}
		}, true},
		"not after it has failed":                {held(func(s *dbv1.ClusterReplacementStatus) { s.Failure = "no" }), same, false},
		"not after the switch":                   {held(func(s *dbv1.ClusterReplacementStatus) { s.VolumeClaimTemplate = naming.RestoredTemplate("r1") }), same, false},
		"not of one that is created again":       {held(func(s *dbv1.ClusterReplacementStatus) { s.RestoreRef, s.PastRestores = nil, []string{"r1"} }), same, false},
		"not of a previous cluster":              {shop(), func(r *dbv1.DatabaseRestore) { r.Status.ClusterUID = "c0" }, false},
		"not of a cluster that is being deleted": {gone, same, false},
		"not while no backup is chosen":          {shop(), func(r *dbv1.DatabaseRestore) { r.Status.BackupRef = nil }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := asks("r1", 1)
			c.change(&r)
			if got := SourceFor(c.cluster, &r); (got != nil) != c.needed || got != nil && got.Name != "first" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Right after a switch, the cache may show the StatefulSet of before. A pass that records it must not lose the way back.
func TestALateStatefulSetDoesNotLoseTheOtherVolumes(t *testing.T) {
	own, cluster := naming.RestoredTemplate("r1"), shop()
	cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: own, OtherVolumeClaimTemplate: "data"}
	for _, shown := range []string{"data", own} {
		set := &appsv1.StatefulSet{}
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: shown}}}
		cluster = Observed{StatefulSet: set}.WithVolumes(cluster)
		other := map[string]string{"data": own, own: "data"}[shown]
		if now := cluster.Status.Replacement; now.VolumeClaimTemplate != shown || now.OtherVolumeClaimTemplate != other {
			t.Errorf("with the StatefulSet of %s: %+v", shown, *now)
		}
	}
}

func TestAClusterUsesTheVolumesOfItsStatefulSetThoseOfItsStatusOrTheRetainedOnes(t *testing.T) {
	set := func(template string) *appsv1.StatefulSet {
		s := &appsv1.StatefulSet{}
		s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: template}}}
		return s
	}
	const restored = "data-0a1b2c3d4"
	recorded := shop()
	recorded.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: restored}
	first := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	cases := map[string]struct {
		cluster   *dbv1.DatabaseCluster
		seen      Observed
		want      string
		ambiguous bool
	}{
		"a new cluster":                            {first, Observed{}, "data", false},
		"the StatefulSet, if the status is lost":   {first, Observed{StatefulSet: set(restored), ClaimTemplates: []string{"data", restored}}, restored, false},
		"the StatefulSet, before a switch is over": {recorded, Observed{StatefulSet: set("data")}, "data", false},
		"the status":                               {recorded, Observed{ClaimTemplates: []string{"data", restored}}, restored, false},
		"a cluster without a replacement":          {shop(), Observed{ClaimTemplates: []string{restored}}, "data", false},
		"what a previous cluster has retained":     {first, Observed{ClaimTemplates: []string{restored}}, restored, false},
		"two kinds from a previous cluster":        {first, Observed{ClaimTemplates: []string{"data", restored}}, "data", true},
		"ephemeral volumes":                        {first, Observed{StatefulSet: &appsv1.StatefulSet{}}, "data", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := c.cluster.DeepCopy()
			if got := naming.ClaimTemplate(c.seen.WithVolumes(c.cluster)); got != c.want || c.seen.Ambiguous(c.cluster) != c.ambiguous {
				t.Errorf("it uses %s, ambiguous %t", got, c.seen.Ambiguous(c.cluster))
			}
			if naming.ClaimTemplate(before) != naming.ClaimTemplate(c.cluster) {
				t.Error("the object of the cache has changed")
			}
		})
	}
}

func TestTheClusterWithOtherVolumesIsRestoredLikeANewOne(t *testing.T) {
	cluster := shop()
	cluster.Status.Restore = &dbv1.ClusterRestoreStatus{Phase: dbv1.RestoreCompleted}
	cluster.Spec.Bootstrap = &dbv1.ClusterBootstrap{Database: "shop", FromBackup: &dbv1.BackupSource{Name: "long-ago"}}
	r := ReplacementOf(cluster, []dbv1.DatabaseRestore{asks("r1", 1)})
	next := r.Cluster(cluster)
	if FromBackup(next).Name != "first" || next.Spec.Bootstrap.Database != "shop" || next.Status.Restore != nil || naming.ClaimTemplate(next) != r.Template {
		t.Errorf("%+v %+v", next.Spec.Bootstrap, next.Status)
	}
	if FromBackup(cluster).Name != "long-ago" || cluster.Status.Replacement != nil {
		t.Error("the cluster itself has changed")
	}
	r.Source = nil
	if FromBackup(r.Cluster(cluster)) != nil {
		t.Error("volumes from before are restored")
	}
}
