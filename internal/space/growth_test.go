/*
SPDX-License-Identifier: Apache-2.0
*/

package space_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const used85 = "PersistentVolumeClaim data-orders-0 is used to 85%, measured at 2025-12-31T23:59:30Z"

const readOnly = "transactions are read-only, because PersistentVolumeClaim data-orders-0 was used to 97% at 2025-12-31T23:58:00Z"

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
		"nor for one that keeps the database read-only": {func(f *fixture) {
			f.use(0, 92)
			f.sized("12Gi")
			f.grown("12Gi", time.Hour)
			f.keepsReadOnly("12Gi")
		}, "True ReadOnly: " + readOnly + "; PersistentVolumeClaim data-orders-0 is used to 92%, measured at 2025-12-31T23:59:30Z; the volumes grow to 15Gi\ndesired 15Gi\nProtected"},
		"nor although it is not used so much": {func(f *fixture) {
			f.use(0, 92)
			f.cluster.Spec.Storage.AutoGrow.AtPercent = 95
			f.keepsReadOnly("10Gi")
		}, "True ReadOnly: " + readOnly + "; PersistentVolumeClaim data-orders-0 is used to 92%, measured at 2025-12-31T23:59:30Z; the volumes grow to 12Gi\ndesired 12Gi\nProtected"},
		"by so much that it can write again": {func(f *fixture) {
			f.use(0, 99)
			f.cluster.Spec.Storage.AutoGrow.ByPercent = 5
			f.cluster.Spec.Storage.WhenNearlyFull = dbv1.NearlyFullContinue
		}, "True Growing: PersistentVolumeClaim data-orders-0 is used to 99%, measured at 2025-12-31T23:59:30Z; the volumes grow to 12Gi\ndesired 12Gi"},
		"at the limit": {func(f *fixture) { f.use(0, 85); f.cluster.Spec.Storage.AutoGrow.Limit = resource.MustParse("10Gi") },
			"True LimitReached: " + used85 + ", and the volumes have 10Gi. Raise spec.storage.autoGrow.limit, which is 10Gi, or free space\ndesired 10Gi"},
		"a class that cannot expand": {func(f *fixture) {
			f.use(0, 85)
			f.facts.Expansion = "StorageClass local does not set allowVolumeExpansion"
		},
			"True CannotExpand: " + used85 + ", and StorageClass local does not set allowVolumeExpansion. Set that field, or free space\ndesired 10Gi"},
		"volumes that are larger than the spec grow from their size": {func(f *fixture) {
			f.sized("20Gi")
			f.use(0, 85)
			f.cluster.Spec.Storage.AutoGrow.Limit = resource.MustParse("40Gi")
		}, "True Growing: " + used85 + "; the volumes grow to 24Gi\ndesired 24Gi"},
		"so does one that is larger than the others": {func(f *fixture) {
			f.observed.Volumes[0].Capacity = resource.MustParse("15Gi")
			f.use(0, 85)
		}, "True Growing: " + used85 + "; the volumes grow to 18Gi\ndesired 18Gi"},
		"volumes that are larger than the limit do not": {func(f *fixture) { f.sized("20Gi"); f.use(0, 85) },
			"True LimitReached: " + used85 + ", and the volumes have 20Gi. Raise spec.storage.autoGrow.limit, which is 20Gi, or free space\ndesired 10Gi"},
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
		"nothing is known at the beginning":             {func(f *fixture) { f.facts.Measured, f.facts.Begun = nil, false }, "\ndesired 10Gi"},
		"volumes of a previous cluster keep their size": {func(f *fixture) { f.sized("15Gi"); f.inherits(1) }, "\ndesired 15Gi\nLifting"},
		"up to the limit":                               {func(f *fixture) { f.sized("30Gi"); f.inherits(1) }, "\ndesired 20Gi\nLifting"},
		"one that is not older does not count":          {func(f *fixture) { f.sized("15Gi") }, "False EnoughSpace: at most 45% of a volume is used\ndesired 10Gi"},
		"nor does what a provider adds":                 {func(f *fixture) { f.inherits(1); f.observed.Volumes[1].Capacity = resource.MustParse("15Gi") }, "False EnoughSpace: at most 45% of a volume is used\ndesired 10Gi\nLifting"},
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
		"one of them has no room": {func(f *fixture) {
			f.sized("12Gi")
			f.observed.Volumes[0].Capacity = resource.MustParse("10Gi")
			f.use(0, 85)
			f.grown("12Gi", time.Minute)
			f.observed.Volumes[0].Infeasible, f.observed.Volumes[0].Resizing = true, "no room"
		}, "True CannotExpand: PersistentVolumeClaim data-orders-0 cannot be expanded to 12Gi: no room. Give the storage room, or free space\ndesired 10Gi"},
		"another volume than the one that fills has no room": {func(f *fixture) {
			f.sized("12Gi")
			f.observed.Volumes[1].Capacity = resource.MustParse("10Gi")
			f.grown("12Gi", time.Minute)
			f.observed.Volumes[1].Infeasible, f.observed.Volumes[1].Resizing = true, "no room"
		}, "True CannotExpand: PersistentVolumeClaim data-orders-1 cannot be expanded to 12Gi: no room. Give the storage room, or free space\ndesired 10Gi"},
		"after that, one that has none waits although it is nearly full": {func(f *fixture) {
			f.use(0, 97)
			f.ended("10Gi", time.Hour)
			f.cluster.Spec.Storage.WhenNearlyFull = dbv1.NearlyFullContinue
		}, "True CannotExpand: no room. Give the storage room, or free space\ndesired 10Gi"},
		"and one that has some does not": {func(f *fixture) {
			f.observed.Volumes[0].Capacity = resource.MustParse("12Gi")
			f.use(0, 97)
			f.ended("10Gi", time.Hour)
			f.cluster.Spec.Storage.WhenNearlyFull = dbv1.NearlyFullContinue
		}, "True Growing: PersistentVolumeClaim data-orders-0 is used to 97%, measured at 2025-12-31T23:59:30Z; the volumes grow to 15Gi\ndesired 15Gi"},
		"it is repeated": {func(f *fixture) { f.use(0, 85); f.ended("10Gi", 6*time.Hour) },
			"True Growing: " + used85 + "; the volumes grow to 12Gi\ndesired 12Gi"},
		"a driver has time": {func(f *fixture) {
			f.use(0, 85)
			f.grown("12Gi", 14*time.Minute)
			f.observed.Volumes[0].Resizing = "rpc error"
		}, "True Growing: " + used85 + "; the volumes grow to 12Gi\ndesired 12Gi"},
		"but not too much": {func(f *fixture) {
			f.use(0, 85)
			f.grown("12Gi", 15*time.Minute)
			f.observed.Volumes[0].Resizing = "rpc error"
		}, "True CannotExpand: PersistentVolumeClaim data-orders-0 has not grown to 12Gi within 15 minutes: rpc error. Give the storage room, or " +
			"free space\ndesired 10Gi"},
		"nor has a file system": {func(f *fixture) {
			f.sized("12Gi")
			f.use(0, 85)
			f.grown("12Gi", 15*time.Minute).Usage.CapacityBytes = capacity
		}, "True CannotExpand: the file system of PersistentVolumeClaim data-orders-0 has not grown within 15 minutes. Give the storage room, or " +
			"free space\ndesired 12Gi"},
		"that is said once": {func(f *fixture) {
			f.sized("12Gi")
			f.use(0, 85)
			f.ended("12Gi", 15*time.Minute)
			f.cluster.Status.Storage.Growth.Usage.CapacityBytes = capacity
		}, "True CannotExpand: no room. Give the storage room, or free space\ndesired 12Gi"},
		"the volume of a member that is down may be smaller": {func(f *fixture) {
			f.sized("12Gi")
			f.use(0, 85)
			f.observed.Volumes[2].Capacity = resource.MustParse("10Gi")
			f.observed.Members, f.facts.Measured = f.observed.Members[:2], f.facts.Measured[:2]
			f.grown("12Gi", 6*time.Hour)
		}, "True Growing: " + used85 + "; the volumes grow to 15Gi\ndesired 15Gi"},
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

func TestAGrowthThatTheAPIServerRefusesIsNotTheFaultOfTheSpec(t *testing.T) {
	f := newFixture(t)
	f.use(0, 85)
	f.grown("12Gi", time.Minute)
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data-orders-0", errors.New("exceeded quota"))
	other := errors.New("another error")
	f.err = errors.Join(other, errors.Join(operation.Work{Decided: true}.Judge(fmt.Errorf("patch PersistentVolumeClaim data-orders-0: %w", quota))))
	_, status := f.decide()
	const want = "True CannotExpand: patch PersistentVolumeClaim data-orders-0: persistentvolumeclaims \"data-orders-0\" is forbidden: exceeded quota. " +
		"Give the storage room, or free space\ndesired 10Gi"
	if describe(status) != want || !status.Storage.Growth.Time.Equal(new(plans.Ago(0))) {
		t.Errorf("%s, %+v", describe(status), status.Storage.Growth)
	}
	if rest := operation.Split(f.err).Required; operation.Refused(rest) || !errors.Is(rest, other) {
		t.Errorf("the pass has the error %v", rest)
	}
	f.cluster.Status, f.err = *status, nil
	if again, _ := f.decide(); again.RequeueAfter != 6*time.Hour {
		t.Errorf("again in %s", again.RequeueAfter)
	}
}
