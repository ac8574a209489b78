/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const uid = types.UID("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9")

func TestEveryNameOfTheLongestClusterIsAValidLabelValue(t *testing.T) {
	longest := strings.Repeat("a", 40)
	names := map[string]string{
		"Service":             Service(longest),
		"HeadlessService":     HeadlessService(longest),
		"StatefulSet":         StatefulSet(longest),
		"PodDisruptionBudget": PodDisruptionBudget(longest),
		"NetworkPolicy":       NetworkPolicy(longest),
		"Member":              Member(longest, 8),
		"HookJob":             HookJob(longest, strings.Repeat("h", 12), uid),
		"FencedBackup":        FencedBackup(longest, strings.Repeat("h", 12), uid, string(uid)+"/12"),
		"ScheduledBackup":     ScheduledBackup(longest, strings.Repeat("s", 11), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		"BackupJob":           BackupJob(longest, uid, 8),
		"BackupDeletionJob":   BackupDeletionJob(longest, uid),
		"VerificationJob":     VerificationJob(longest, uid, strings.Repeat("r", 253), 8),
		"SearchJob":           SearchJob(longest, SearchID(uid, "s3://bucket")),
		"RestoreJob":          RestoreJob(longest, RestoreID(uid, "s3://bucket"), uid, 8),
		"initialize":          RestoreJob(longest, InitializeID(uid), uid, 8),
		"revision hash label": StatefulSet(longest) + "-" + strings.Repeat("f", 10),
	}
	for kind, name := range names {
		if problems := validation.NameIsDNSLabel(name, false); len(problems) > 0 {
			t.Errorf("%s %q (%d characters): %v", kind, name, len(name), problems)
		}
	}
}

func TestLabelsAreValidAndContainTheSelector(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{}
	cluster.Name, cluster.UID = strings.Repeat("a", 40), uid
	all := Labels(cluster, dbv1.ComponentDatabase)
	if errs := metav1validation.ValidateLabels(all, field.NewPath("labels")); len(errs) > 0 {
		t.Error(errs)
	}
	selector := labels.SelectorFromSet(Selector(cluster.Name))
	if !selector.Matches(labels.Set(all)) {
		t.Errorf("%v does not select %v", selector, all)
	}
	if selector.Matches(labels.Set(Labels(cluster, dbv1.ComponentHook))) {
		t.Errorf("%v selects a hook's pods: the Service would send connections to them", selector)
	}
}

func TestTwoClustersNeverSelectEachOther(t *testing.T) {
	if Selector("a")[dbv1.LabelInstance] == Selector("b")[dbv1.LabelInstance] {
		t.Error("clusters a and b share a selector")
	}
	if SelectorText("orders") != "app.kubernetes.io/component=database,app.kubernetes.io/instance=orders,app.kubernetes.io/name=databasecluster" {
		t.Error(SelectorText("orders"))
	}
}

func TestOrdinalIsReadOnlyFromAMembersName(t *testing.T) {
	for pod, want := range map[string]int32{"orders-0": 0, "orders-8": 8, "orders-12": 12} {
		if got, ok := Ordinal("orders", pod); !ok || got != want {
			t.Errorf("Ordinal(%q) = %d, %v; want %d", pod, got, ok, want)
		}
	}
	for _, pod := range []string{"orders", "orders-", "orders-x", "orders-01", "orders--1", "orders-1-0", "other-1", "orders-99999999999"} {
		if got, ok := Ordinal("orders", pod); ok {
			t.Errorf("Ordinal(%q) = %d, want no ordinal", pod, got)
		}
	}
}

func TestAClaimHasTheNameOfItsTemplateAndOfOneCluster(t *testing.T) {
	restored := RestoredTemplate("0a1b2c3d-4e5f")
	for _, template := range []string{DataVolume, restored} {
		got, ordinal, ok := TemplateOf("orders", ClaimIn(template, "orders", 12))
		if got != template || ordinal != 12 || !ok {
			t.Errorf("template %s, ordinal %d, %t", got, ordinal, ok)
		}
	}
	for _, other := range []string{"data-orders", "data-0-orders-0x", "data-payroll-0", restored + "-payroll-0", "logs-orders-0", restored, "data-0"} {
		if _, _, ok := TemplateOf("orders", other); ok {
			t.Errorf("%s is a claim of orders", other)
		}
	}
	cluster := &dbv1.DatabaseCluster{}
	cluster.Name = "orders"
	cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: restored}
	if _, ok := ClaimOrdinal(cluster, "data-orders-0"); ok || Claim(cluster, 1) != restored+"-orders-1" {
		t.Errorf("a retained volume counts as one in use: %s", Claim(cluster, 1))
	}
	longest := ClaimIn(restored, strings.Repeat("a", 40), 8)
	if problems := validation.NameIsDNSLabel(longest, false); len(problems) > 0 {
		t.Errorf("%s: %v", longest, problems)
	}
}

func TestOtherDataHasAnotherLineage(t *testing.T) {
	if a, b := Lineage("uid", DataVolume), Lineage("uid", ""); a != "uid" || b != "uid" {
		t.Errorf("the first volumes of a cluster have the lineages %s and %s", a, b)
	}
	if got := Lineage("uid", "data-0a1b2c3d4"); got != "uid-0a1b2c3d4" {
		t.Error(got)
	}
}

func TestAMembersHostIsItsPodNameInTheHeadlessService(t *testing.T) {
	if got := MemberHost("orders", 2); got != "orders-2.orders-headless" {
		t.Error(got)
	}
}

// A cluster and a schedule may have hyphens at any place.
func TestNoTwoClustersWantOneNameForTheirScheduledBackups(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	parts := []string{"app", "db", "daily"}
	seen := map[string]string{}
	for _, cluster := range joined(parts) {
		for _, schedule := range joined(parts) {
			name, owner := ScheduledBackup(cluster, schedule, at), cluster+" "+schedule
			if other, taken := seen[name]; taken {
				t.Errorf("%s is the name of both %q and %q", name, other, owner)
			}
			seen[name] = owner
			if problems := validation.NameIsDNSLabel(name, false); len(problems) > 0 {
				t.Errorf("%q: %v", name, problems)
			}
		}
	}
	if got := ScheduledBackup("orders", "nightly", at); got != "orders-nightly-2601020304" {
		t.Error(got)
	}
}

// joined are the parts, and each sequence of them with hyphens.
func joined(parts []string) []string {
	all := append([]string{}, parts...)
	for _, a := range parts {
		for _, b := range parts {
			all = append(all, a+"-"+b)
			for _, c := range parts {
				all = append(all, a+"-"+b+"-"+c)
			}
		}
	}
	return all
}
