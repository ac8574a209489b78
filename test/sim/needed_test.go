/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// needed are stories that change without a watch of a controller, in the order of its watches.
var needed = map[string][]string{
	"DatabaseCluster": {
		"somebody-deletes-what-is-owned", "somebody-deletes-what-is-owned", "somebody-edits-the-template", "somebody-deletes-what-is-owned",
		"image-on-delete", "scale-out-onto-an-ending-claim", "delete", "backup",
		"data-replaced",
		// Those of subjects.
		// The simulated world has no DatabaseCompanions, Databases and DatabaseUsers. Their integration tests need these.
		"somebody-deletes-what-is-owned", "", "archive-deleted", "", "",
		// Nodes.
		"drain-cordon",
	},
	// The pods soon show the next action of a StatefulSet: without that watch, the operator only loses time.
	"DatabaseBackup": {"backup", "backup-retries", "backup-two-at-once", "backup-image-changes", "", "backup-unschedulable-corrected"},
	// The simulated world has one cluster, so it has no previews. Their integration test needs the others.
	"DatabaseRestore": {"", "data-replaced", ""},
	"Database":        {""},
	"DatabaseUser":    {""},
	// The simulated world has no DatabaseCompanions.
	"DatabaseCompanion": {"", "", "", "", "", "", "", ""},
}

func TestEveryWatchIsNeeded(t *testing.T) {
	for kind, controller := range world.Controllers(nil, nil) {
		if len(controller.Watches) != len(needed[kind]) {
			t.Fatalf("%s: %d watches, %d stories", kind, len(controller.Watches), len(needed[kind]))
		}
		for i, story := range needed[kind] {
			if story == "" {
				continue
			}
			at := slices.IndexFunc(sequences, func(s world.Story) bool { return s.Name == story })
			if at < 0 {
				t.Fatalf("story %s does not exist", story)
			}
			if !differs(t, sequences[at], kind, i) {
				t.Errorf("%s is the same without the watch of %T %d", story, controller.Watches[i].Object, i)
			}
		}
	}
}

func TestAnObjectThatIsNotWatchedStartsNoPass(t *testing.T) {
	p := newPlay(world.Tell("unwatched", withVault(create(1, locked))), 0)
	if err := p.ToTheEnd(); err != nil {
		t.Fatal(err)
	}
	agreement := &corev1.ConfigMap{ObjectMeta: p.Meta("orders-leader")}
	agreement.Labels = map[string]string{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: clusterName, dbv1.LabelComponent: dbv1.ComponentDatabase}
	for _, touched := range []client.Object{
		store.Get[*corev1.Secret](p.Store, "orders-credentials"), store.Get[*corev1.Secret](p.Store, "orders-connection"), agreement,
		&rbacv1.Role{ObjectMeta: p.Meta(clusterName)}, &rbacv1.RoleBinding{ObjectMeta: p.Meta(clusterName)}, &corev1.ServiceAccount{ObjectMeta: p.Meta(clusterName)},
		&corev1.Pod{ObjectMeta: p.Meta("of-another-owner")},
	} {
		touched.SetAnnotations(map[string]string{"touched": "yes"})
		p.Store.Put(touched)
		if !p.CaughtUp() {
			t.Errorf("%s starts a pass", store.Ref(touched))
			p.Operate()
		}
	}
}

// differs reports whether a story changes without a watch.
func differs(t *testing.T, s world.Story, kind string, watch int) bool {
	t.Helper()
	p := newPlay(s, 0)
	p.Mute(kind, watch)
	err := p.ToTheEnd()
	golden, unread := os.ReadFile(filepath.Join("testdata", s.Name+".golden"))
	if unread != nil {
		t.Fatal(unread)
	}
	return err != nil || p.Text() != string(golden)
}
