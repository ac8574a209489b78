/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func trimmedPod(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	trimmed, err := TrimPod(pod)
	if err != nil {
		t.Fatal(err)
	}
	return trimmed.(*corev1.Pod)
}

func TestTheCacheKeepsOnlyAShortStatusOfMembersThatReportTheirRole(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		want        bool
	}{
		"a member with a role":        {map[string]string{dbv1.AnnotationRoleLabel: "role", "status": `{"xlog_location":1}`}, true},
		"the longest status":          {map[string]string{dbv1.AnnotationRoleLabel: "role", "status": strings.Repeat("x", 2048)}, true},
		"a longer status":             {map[string]string{dbv1.AnnotationRoleLabel: "role", "status": strings.Repeat("x", 2049)}, false},
		"no status":                   {map[string]string{dbv1.AnnotationRoleLabel: "role"}, false},
		"a member without roles":      {map[string]string{"status": `{"xlog_location":1}`}, false},
		"a role label without a name": {map[string]string{dbv1.AnnotationRoleLabel: "", "status": `{"xlog_location":1}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			trimmed := trimmedPod(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}})
			kept, found := trimmed.Annotations["status"]
			if found != c.want || found && kept != c.annotations["status"] || trimmed.Annotations[dbv1.AnnotationRoleLabel] != "" {
				t.Errorf("the cache has %v", trimmed.Annotations)
			}
		})
	}
}

func TestTheCacheKeepsTheAnnotationsThatDecisionsRead(t *testing.T) {
	for _, key := range []string{dbv1.AnnotationTemplate, dbv1.AnnotationEngine, dbv1.AnnotationReferences, dbv1.AnnotationResizeRefused} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: "value"}}}
		if trimmed := trimmedPod(t, pod); trimmed.Annotations[key] != "value" {
			t.Errorf("the cache has %v, without %s", trimmed.Annotations, key)
		}
	}
}
