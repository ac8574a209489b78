/*
SPDX-License-Identifier: Apache-2.0
*/

package space_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const used85 = "PersistentVolumeClaim data-orders-0 is used to 85%, measured at 2025-12-31T23:59:30Z"

func TestWhenVolumesGrow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fixture)
		want   string
	}{
		"enough space": {func(*fixture) {}, "False EnoughSpace: at most 45% of a volume is used\ndesired 10Gi"},
		"a volume fills": {func(f *fixture) { f.use(0, 85) },
			"True Growing: " + used85 + "; the volumes grow to 12Gi\ndesired 12Gi"},
		"by more": {func(f *fixture) { f.use(0, 85); f.cluster.Spec.Storage.AutoGrow.ByPercent = 100 },
			"True Growing: " + used85 + "; the volumes grow to 20Gi\ndesired 20Gi"},
		"not above the limit": {func(f *fixture) { f.use(0, 85); f.cluster.Spec.Storage.AutoGrow.Limit = resource.MustParse("11Gi") },
			"True Growing: " + used85 + "; the volumes grow to 11Gi\ndesired 11Gi"},
		"later": {func(f *fixture) { f.use(0, 85); f.cluster.Spec.Storage.AutoGrow.AtPercent = 90 },
			"False EnoughSpace: at most 90% of a volume is used\ndesired 10Gi"},
		"the claims do not have the size yet": {func(f *fixture) { f.use(0, 85); f.grown("12Gi", time.Minute) },
			"True Growing: " + used85 + "; the volumes grow to 12Gi\ndesired 12Gi"},
		"the file system is not measured again yet": {func(f *fixture) {
			f.use(0, 97)
			f.grown("12Gi", 10*time.Second).Usage.CapacityBytes = capacity
			f.sized("12Gi")
			f.cluster.Spec.Storage.WhenNearlyFull = dbv1.NearlyFullContinue
		}, "True Growing: PersistentVolumeClaim data-orders-0 is used to 97%, measured at 2025-12-31T23:59:30Z; the volumes grow to 12Gi\ndesired 12Gi"},
		"too soon": {func(f *fixture) { f.use(0, 85); f.grown("12Gi", time.Hour); f.sized("12Gi") },
			"True Cooldown: " + used85 + "; the volumes may grow again at 2026-01-01T05:00:00Z\ndesired 12Gi"},
		"not too soon for one that is nearly full": {func(f *fixture) {
			f.use(0, 97)
			f.grown("12Gi", time.Hour)
			f.sized("12Gi")
			f.cluster.Spec.Storage.WhenNearlyFull = dbv1.NearlyFullContinue
		}, "True Growing: PersistentVolumeClaim data-orders-0 is used to 97%, measured at 2025-12-31T23:59:30Z; the volumes grow to 15Gi\ndesired 15Gi"},
		"at the limit": {func(f *fixture) { f.use(0, 85); f.cluster.Spec.Storage.AutoGrow.Limit = resource.MustParse("10Gi") },
			"True LimitReached: " + used85 + ", and the volumes have 10Gi. Raise spec.storage.autoGrow.limit, which is 10Gi, or free space\ndesired 10Gi"},
		"a class that cannot expand": {func(f *fixture) {
			f.use(0, 85)
			f.facts.Expansion = "StorageClass local does not set allowVolumeExpansion"
		},
			"True CannotExpand: " + used85 + ", and StorageClass local does not set allowVolumeExpansion. Set that field, or free space\ndesired 10Gi"},
		"without autoGrow": {func(f *fixture) {
			f.use(0, 85)
			f.cluster.Spec.Storage.AutoGrow, f.cluster.Spec.Storage.Usage = nil, dbv1.StorageUsageMeasured
		}, "True Filling: " + used85 + ". Raise spec.storage.size, or set spec.storage.autoGrow"},
		"paused": {func(f *fixture) { f.use(0, 85); f.cluster.Spec.Paused = true },
			"True Filling: " + used85 + ", and spec.paused is true. Resume the cluster\ndesired 10Gi"},
		"a file system that others use": {func(f *fixture) { f.use(0, 85); f.facts.Measured[0].VolumeUsage.Capacity *= 10 },
			"True SharedFileSystem: " + used85 + ", but its file system is larger than the claim, so others use it too. Free space on it, or use a " +
				"StorageClass whose volumes have a file system of their own\ndesired 10Gi"},
		"an unknown use is not enough space": {func(f *fixture) { f.facts.Unknown = []string{"PersistentVolumeClaim data-orders-1: why"} },
			"Unknown UsageUnknown: the use of a volume is unknown: PersistentVolumeClaim data-orders-1: why\ndesired 10Gi"},
		"a known volume that fills grows, whatever is unknown": {func(f *fixture) {
			f.use(0, 85)
			f.facts.Unknown = []string{"PersistentVolumeClaim data-orders-1: why"}
		}, "True Growing: " + used85 + "; the volumes grow to 12Gi\ndesired 12Gi"},
		"nothing is known at the beginning": {func(f *fixture) { f.facts.Measured, f.facts.Begun = nil, false }, "\ndesired 10Gi"},
		"the spec wins if it asks for more": {func(f *fixture) {
			f.grown("12Gi", 9*time.Hour)
			f.cluster.Spec.Storage.Size = resource.MustParse("15Gi")
		},
			"False EnoughSpace: at most 45% of a volume is used\ndesired 15Gi"},
		"volumes stay grown without autoGrow": {func(f *fixture) {
			f.grown("12Gi", 9*time.Hour)
			f.cluster.Spec.Storage.AutoGrow = nil
			f.facts.Asked = false
		},
			"\ndesired 12Gi"},
		"the storage has no room": {func(f *fixture) {
			f.use(0, 85)
			f.grown("12Gi", time.Minute)
			f.observed.Volumes[0].Infeasible, f.observed.Volumes[0].Resizing = true, "no room"
		}, "True CannotExpand: PersistentVolumeClaim data-orders-0 cannot be expanded to 12Gi: no room. Give the storage room, or free space\ndesired 10Gi"},
		"the limit is lowered before the growth": {func(f *fixture) {
			f.use(0, 85)
			f.grown("18Gi", time.Minute)
			f.cluster.Spec.Storage.AutoGrow.Limit = resource.MustParse("11Gi")
		}, "True LimitReached: the volumes do not grow above spec.storage.autoGrow.limit\ndesired 11Gi"},
		"once for a log that is kept": {func(f *fixture) {
			f.use(0, 85)
			f.cluster.Status.Conditions = archiving(metav1.ConditionFalse, time.Hour)
		},
			"True Growing: " + used85 + "; the volumes grow to 12Gi\ndesired 12Gi"},
		"and not twice": {func(f *fixture) {
			f.use(0, 85)
			f.grown("12Gi", 8*time.Hour).KeptFor = &dbv1.LogKeeper{Type: dbv1.KeptForArchive}
			f.sized("12Gi")
			f.cluster.Status.Conditions = archiving(metav1.ConditionFalse, 9*time.Hour)
		}, "True LogKept: " + used85 + ", and the volumes have grown once for the log that the archive does not store. Repair what the condition " +
			"ContinuousArchiving reports, or remove spec.backup.archive\ndesired 12Gi"},
		"but again after the archive has recovered": {func(f *fixture) {
			f.use(0, 85)
			f.grown("12Gi", 8*time.Hour).KeptFor = &dbv1.LogKeeper{Type: dbv1.KeptForArchive}
			f.sized("12Gi")
			f.cluster.Status.Conditions = archiving(metav1.ConditionFalse, time.Hour)
		}, "True Growing: " + used85 + "; the volumes grow to 15Gi\ndesired 15Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.change(f)
			if _, status := f.decide(); describe(status) != c.want {
				t.Errorf("got  %q\nwant %q", describe(status), c.want)
			}
		})
	}
}

func TestARecordedGrowthIsRequestedOfTheClaimsAndNamesItsMeasurement(t *testing.T) {
	f := newFixture(t)
	f.use(0, 85)
	_, status := f.decide()
	growth := status.Storage.Growth
	if growth == nil || growth.Usage.Claim != "data-orders-0" || growth.Usage.UsedPercent != 85 || growth.Usage.Time.IsZero() {
		t.Fatalf("got %+v", growth)
	}
	f.cluster.Status = *status
	if again, after := f.decide(); after.Storage.Growth.Size.Cmp(growth.Size) != 0 || len(again.Operations) > 0 {
		t.Errorf("the next pass decides again: %+v", after.Storage.Growth)
	}
}

func TestTheUseInTheStatusChangesOnlyWithItsRoundedNumber(t *testing.T) {
	f := newFixture(t)
	_, first := f.decide()
	f.cluster.Status = *first
	f.use(0, 44)
	if _, second := f.decide(); *second.Storage.Usage != *first.Storage.Usage {
		t.Errorf("got %+v", second.Storage.Usage)
	}
	f.use(0, 45)
	if _, third := f.decide(); third.Storage.Usage.UsedPercent != 45 {
		t.Errorf("got %+v", third.Storage.Usage)
	}
}
