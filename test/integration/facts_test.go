//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestFactsAboutTheDataAreRecordedAndComparedWithTheCopy(t *testing.T) {
	parallel(t)
	var unchecked atomic.Bool
	cluster := safe(t, "checked-v1", func(pod *corev1.Pod) {
		checks := slices.Contains(pod.Spec.Containers[0].Command, "--check=ledger")
		switch {
		case !checks:
			exits(pod, 1, `{"reason":"Failed","message":"nobody runs the check"}`)
		case unchecked.Load():
			exits(pod, 0, `{"bytes":1048576,"check":{"problem":"The action ledger failed with exit code 1."}}`)
		case pod.Labels[dbv1.LabelComponent] == dbv1.ComponentVerification:
			exits(pod, 0, `{"output":{"role":"primary"},"facts":{"position":18446744073709551617,"rows":36996}}`)
		default:
			exits(pod, 0, `{"bytes":1048576,"check":{"before":{"position":18446744073709551616},"after":{"rows":200000,"of":"orders"}}}`)
		}
	})
	b := awaitPhase(t, backup(t, cluster, "checked", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	if got := fmt.Sprint(b.Status.Streams[1].Facts); got != "map[of:orders position:18446744073709551616 rows:200000]" {
		t.Errorf("the recorded facts are %s", got)
	}
	change(t, b, func(b *dbv1.DatabaseBackup) { b.Annotations = map[string]string{dbv1.AnnotationVerify: "please"} })
	awaitEvent(t, b, corev1.EventTypeWarning, dbv1.ReasonVerificationFailed, "rows is 36996 in the restored copy, but 200000 was recorded")
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
		t.Fatal(err)
	}
	if v := b.Status.Verification; len(v.Streams) != 1 || v.Streams[0].Facts["rows"] != "36996" || strings.Contains(v.Message, "position is") {
		t.Errorf("the verification is %+v", v)
	}

	unchecked.Store(true)
	awaitPhase(t, backup(t, cluster, "unchecked", dbv1.BackupRetain), dbv1.BackupCompleted,
		"the facts about the data of member 1 of 2 are incomplete: The action ledger failed with exit code 1.")
}
