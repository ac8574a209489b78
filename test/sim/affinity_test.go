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
)

// apart is the anti-affinity of many manifests.
func apart(c *dbv1.DatabaseCluster) {
	c.Spec.Scheduling.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{dbv1.LabelInstance: clusterName}},
	}}}}
}

var apartSequence = tell("apart-on-one-node", onOneNode(runningSaved(1, apart)), backUp("first", dbv1.BackupRetain))

func TestABackupCompletesOnTheOnlyNodeOfAMemberThatKeepsOthersApart(t *testing.T) {
	p := newPlay(apartSequence, 0)
	if err := p.toTheEnd(); err != nil {
		t.Error(err)
	}
	if backup := get[*dbv1.DatabaseBackup](p.store, "first"); backup.Status.Phase != dbv1.BackupCompleted {
		t.Errorf("%+v\n%s", backup.Status, p.text())
	}
}

func TestAJobThatKeepsAwayFromMembersIsFound(t *testing.T) {
	p := newPlay(apartSequence, 0)
	p.plant = func(server client.WithWatch) client.WithWatch {
		return interceptor.NewClient(server, otherJob("-backup-", func(job map[string]any) {
			must(unstructured.SetNestedSlice(job, []any{map[string]any{
				"topologyKey": corev1.LabelHostname, "labelSelector": map[string]any{"matchLabels": map[string]any{dbv1.LabelInstance: clusterName}},
			}}, "spec", "template", "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"))
		}))
	}
	_ = p.toTheEnd()
	if backup := get[*dbv1.DatabaseBackup](p.store, "first"); backup != nil && backup.Status.Phase == dbv1.BackupCompleted {
		t.Errorf("not found:\n%s", p.text())
	}
}
