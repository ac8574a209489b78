/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// failures are the failures that docs/why.md compares: each is a story that ends with the failure. The status of the objects is a golden
// file, from which the plugin of kubectl finds the cause.
var failures = []world.Story{
	world.Tell("image", running(3), image("database:missing")),
	world.Tell("unschedulable", running(3), affinity("affinity asks for a node that does not exist", nowhere())),
	world.Tell("crash", running(3), image("database:crash")),
	world.Tell("secret", create(2, password)),
	world.Tell("volume", running(2), grow("200Gi")),
	world.Tell("destination", runningSaved(1), world.GoesWrong(world.Trouble{Verb: "backup", Code: 11, Times: -1}), soon(6, backUp("first", dbv1.BackupRetain))),
	world.Tell("keys", runningSaved(1), world.GoesWrong(world.Trouble{Verb: "backup", Code: 20, Times: -1}), soon(6, backUp("first", dbv1.BackupRetain))),
	world.Tell("overdue", runningSaved(1, healthyFor(day)), backUp("first", dbv1.BackupRetain), world.At(2*day)),
	world.Tell("restore", withEngine(create(1, saved, fromBackup("first")))),
	world.Tell("hook", runningSaved(1, hook("final", dbv1.HookBackup)), image("database:missing"), remove()),
	world.Tell("name", occupyName(), create(2)),
	world.Tell("parameter", withSafe(running(2, secured)), refusedParameter(true)),
}

func healthyFor(age time.Duration) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Backup.UnhealthyAfter = &metav1.Duration{Duration: age} }
}

func TestEachComparedFailureHasTheStatusOfItsGoldenFile(t *testing.T) {
	for _, story := range failures {
		t.Run(story.Name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(story, 0)
			if err := p.ToTheEnd(); err != nil && !expected(err) {
				t.Fatalf("%v:\n%s", err, p.Text())
			}
			compare(t, filepath.Join("testdata", "failures", story.Name+".yaml"), statuses(t, p.World))
		})
	}
}

// expected reports whether a story ends as a failure that no user corrects: a Job is repeated, or a deletion waits.
func expected(err error) bool {
	return strings.Contains(err.Error(), "an idle operator sends") || strings.Contains(err.Error(), "the finalizer is not removed")
}

// statuses are the cluster and its backups as far as a client reads them to find a cause.
func statuses(t *testing.T, w *world.World) string {
	t.Helper()
	var all []string
	add := func(object any) {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	c := w.Cluster()
	add(&dbv1.DatabaseCluster{TypeMeta: typeOf("DatabaseCluster"), ObjectMeta: metaOf(c.ObjectMeta), Status: c.Status})
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		add(&dbv1.DatabaseBackup{TypeMeta: typeOf("DatabaseBackup"), ObjectMeta: metaOf(b.ObjectMeta), Spec: b.Spec, Status: b.Status})
	}
	return strings.Join(all, "---\n")
}

func typeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: dbv1.GroupVersion.String(), Kind: kind}
}

func metaOf(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, Generation: m.Generation, CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}
