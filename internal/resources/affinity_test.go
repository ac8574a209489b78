/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// apart is a cluster whose members must not share a node with pods that a selector selects.
func apart(selector *metav1.LabelSelector) *dbv1.DatabaseCluster {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	cluster.Spec.Pod.Labels = map[string]string{"team": "shop"}
	cluster.Spec.Scheduling.Affinity = &corev1.Affinity{
		NodeAffinity:    &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}},
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname}}},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selector}}},
	}
	return cluster
}

func equals(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func TestOnlyJobsThatCreateTheVolumesOfMembersHaveTheirAffinityToPods(t *testing.T) {
	cluster, zero := apart(equals(dbv1.LabelInstance, "orders")), int32(0)
	for _, kind := range append(MemberActions, HookAction, RestoreAction, transfers) {
		job := &batchv1.Job{}
		made := jobs.Build(cluster, jobs.Spec{Kind: kind, Name: "a", Offline: true, Member: &zero})
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object.Object, job); err != nil {
			t.Fatal(err)
		}
		has := job.Spec.Template.Spec.Affinity
		if has.NodeAffinity == nil {
			t.Errorf("%s ignores the nodes", kind.Component)
		}
		if places := kind.Component == dbv1.ComponentRestore; (has.PodAntiAffinity != nil) != places || (has.PodAffinity != nil) != places {
			t.Errorf("%s has %+v", kind.Component, has)
		}
	}
}

// An anti-affinity of a member also keeps later pods away from its node.
func TestAMemberThatKeepsMembersAwayDoesNotKeepJobsAway(t *testing.T) {
	for name, c := range map[string]struct {
		selector      *metav1.LabelSelector
		members, jobs bool
	}{
		"the cluster":               {equals(dbv1.LabelInstance, "orders"), true, false},
		"all databases":             {equals(dbv1.LabelName, dbv1.LabelNameValue), true, false},
		"the operator's pods":       {equals(dbv1.LabelManagedBy, dbv1.LabelManagedByValue), true, false},
		"the members":               {equals(dbv1.LabelComponent, dbv1.ComponentDatabase), true, false},
		"a label of the user":       {equals("team", "shop"), true, false},
		"another application":       {equals("app", "cache"), false, false},
		"every pod, also of others": {&metav1.LabelSelector{}, true, true},
		"no pod":                    {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := apart(c.selector)
			template := &corev1.PodTemplateSpec{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects.Fields(pods.Template(cluster, nil)), template); err != nil {
				t.Fatal(err)
			}
			terms := template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			selector, err := metav1.LabelSelectorAsSelector(terms[0].LabelSelector)
			if err != nil || len(terms) != 1 {
				t.Fatal(terms, err)
			}
			if got := selector.Matches(labels.Set(template.Labels)); got != c.members {
				t.Errorf("it selects members: %t", got)
			}
			if got := selector.Matches(labels.Set(naming.Labels(cluster, dbv1.ComponentHook))); got != c.jobs {
				t.Errorf("it selects a Job: %t", got)
			}
		})
	}
}
