/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protection"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// The other labels and annotations of a claim record its owner. Without them the operator could not find the data
// again.
func TestAClaimKeepsItsOtherLabelsAndAnnotations(t *testing.T) {
	cluster := running()
	theirs := map[string]string{dbv1.LabelClusterUID: "earlier", "team": "shop"}
	notes := map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	with := func(base map[string]string, key, value string) map[string]string {
		all := maps.Clone(base)
		all[key] = value
		return all
	}
	decided := func(on bool, c *corev1.PersistentVolumeClaim) (*situation.Situation, state.Volume) {
		cluster := cluster.DeepCopy()
		cluster.Spec.Deletion.Protection = on
		seen := state.VolumeOf(c, 0)
		return situation.Of(cluster, state.Observed{Volumes: []state.Volume{seen}}), seen
	}
	protecting := func(on bool) func(*corev1.PersistentVolumeClaim) operation.Operation {
		return func(c *corev1.PersistentVolumeClaim) operation.Operation {
			s, _ := decided(on, c)
			return protection.Subject.Decide(s).Operations[0]
		}
	}
	containing := func(change func(*state.Contents)) func(*corev1.PersistentVolumeClaim) operation.Operation {
		return func(c *corev1.PersistentVolumeClaim) operation.Operation {
			s, v := decided(false, c)
			contents := v.Contents
			change(&contents)
			return operation.Change{Patches: []operation.Patch{members.Containing(s, v, contents)}}
		}
	}
	adopting := func(engine string) func(*corev1.PersistentVolumeClaim) operation.Operation {
		return containing(func(c *state.Contents) { *c = state.Contents{Cluster: cluster.UID, Engine: engine} })
	}
	recording := func(primary string) func(*corev1.PersistentVolumeClaim) operation.Operation {
		return containing(func(c *state.Contents) { c.Primary = primary })
	}
	voting := func(voters int32) func(*corev1.PersistentVolumeClaim) operation.Operation {
		return containing(func(c *state.Contents) { c.Voters = voters })
	}
	restoring := containing(func(c *state.Contents) {
		*c = state.Contents{Cluster: c.Cluster, Engine: c.Engine, Fill: state.Filled, From: "s3://backups/one"}
	})
	for name, c := range map[string]struct {
		labels, notes         map[string]string
		act                   func(*corev1.PersistentVolumeClaim) operation.Operation
		wantLabels, wantNotes map[string]string
	}{
		"protected":                 {theirs, notes, protecting(true), with(theirs, dbv1.LabelProtected, "true"), notes},
		"no longer protected":       {with(theirs, dbv1.LabelProtected, "true"), notes, protecting(false), theirs, notes},
		"without another":           {map[string]string{dbv1.LabelProtected: "true"}, nil, protecting(false), nil, nil},
		"adopted without an engine": {theirs, with(notes, dbv1.AnnotationEngine, "ledger-v1"), adopting(""), with(theirs, dbv1.LabelClusterUID, string(cluster.UID)), notes},
		"with the last primary":     {theirs, notes, recording("orders-1"), theirs, with(notes, dbv1.AnnotationPrimary, "orders-1")},
		"with another primary": {
			theirs, with(notes, dbv1.AnnotationPrimary, "orders-0"), recording("orders-1"), theirs, with(notes, dbv1.AnnotationPrimary, "orders-1"),
		},
		"with fewer voters": {theirs, with(notes, dbv1.AnnotationVoters, "5"), voting(4), theirs, with(notes, dbv1.AnnotationVoters, "4")},
		"with restored data, which no primary wrote and no voters have": {
			theirs, with(with(with(notes, dbv1.AnnotationPrimary, "orders-1"), dbv1.AnnotationVoters, "3"), dbv1.AnnotationRestoring, "restore"), restoring,
			theirs, with(notes, dbv1.AnnotationRestored, "s3://backups/one"),
		},
		"adopted after a restore": {
			theirs, with(notes, dbv1.AnnotationRestored, "s3://backups/one"), adopting("ledger-v1"),
			with(theirs, dbv1.LabelClusterUID, string(cluster.UID)), with(notes, dbv1.AnnotationEngine, "ledger-v1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &corev1.PersistentVolumeClaim{}
			claim.Namespace, claim.Name, claim.Labels, claim.Annotations = cluster.Namespace, "data-orders-0", c.labels, c.notes
			s := newServer(t, cluster, claim)
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
				t.Fatal(err)
			}
			if _, err := executed(t, s, cluster, c.act(claim)); err != nil {
				t.Fatal(err)
			}
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(claim.Labels, c.wantLabels) || !maps.Equal(claim.Annotations, c.wantNotes) {
				t.Errorf("it has %v and %v, want %v and %v", claim.Labels, claim.Annotations, c.wantLabels, c.wantNotes)
			}
		})
	}
}

type tail string

func (t tail) Tail(context.Context, string, string, string) (string, error) { return string(t), nil }
func (tail) Refusal(context.Context, string, types.UID) (string, error)     { return "", nil }
func (tail) Unready(context.Context, string, types.UID) (string, error)     { return "", nil }

func TestTheEndOfALogIsRetainedWhenItsPodIsDeletedWithAVolume(t *testing.T) {
	cluster := running()
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = cluster.Namespace, "orders-backup-1c2d3e4f-0-x"
	s := newServer(t, cluster, pod)
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	r := clockwork(s)
	r.Logs = tail(strings.Repeat("…", kit.MaxNote) + "\nbackup complete\n")
	decided := situation.Of(cluster, state.Observed{Bystanders: []state.Bystander{{
		Name: pod.Name, UID: pod.UID, Version: pod.ResourceVersion, Cluster: cluster.UID, Mounts: true, Ended: true,
	}}})
	done, err := r.Execute(t.Context(), &pass{Object: cluster, Facts: decided}, operation.Deletion(members.Finished(decided)...)[0])
	if err != nil || len(done) != 1 || done[0].Reason != "PodLog" || !strings.HasSuffix(done[0].Note, "backup complete") || len(done[0].Note) > kit.MaxNote {
		t.Errorf("%+v, %v", done, err)
	}
}
