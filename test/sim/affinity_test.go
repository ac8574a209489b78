/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// apart is the anti-affinity of many manifests.
func apart(c *dbv1.DatabaseCluster) {
	c.Spec.Scheduling.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{dbv1.LabelInstance: clusterName}},
	}}}}
}

var apartSequence = world.Tell("apart-on-one-node", world.OnOneNode(runningSaved(1, apart)), backUp("first", dbv1.BackupRetain))

func TestABackupCompletesOnTheOnlyNodeOfAMemberThatKeepsOthersApart(t *testing.T) {
	p := newPlay(apartSequence, 0)
	if err := p.ToTheEnd(); err != nil {
		t.Error(err)
	}
	if backup := store.Get[*dbv1.DatabaseBackup](p.Store, "first"); backup.Status.Phase != dbv1.BackupCompleted {
		t.Errorf("%+v\n%s", backup.Status, p.Text())
	}
}

func TestAJobThatKeepsAwayFromMembersIsFound(t *testing.T) {
	p := newPlay(apartSequence, 0)
	p.Plant = func(server client.WithWatch) client.WithWatch {
		return interceptor.NewClient(server, otherJob("-backup-", func(job map[string]any) {
			world.Must(unstructured.SetNestedSlice(job, []any{map[string]any{
				"topologyKey": corev1.LabelHostname, "labelSelector": map[string]any{"matchLabels": map[string]any{dbv1.LabelInstance: clusterName}},
			}}, "spec", "template", "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"))
		}))
	}
	_ = p.ToTheEnd()
	if backup := store.Get[*dbv1.DatabaseBackup](p.Store, "first"); backup != nil && backup.Status.Phase == dbv1.BackupCompleted {
		t.Errorf("not found:\n%s", p.Text())
	}
}
