/*
SPDX-License-Identifier: Apache-2.0
*/

package space_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/space"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// fixture is a cluster of three members with a primary, volumes of 10Gi and autoGrow, and what is measured.
type fixture struct {
	cluster  *dbv1.DatabaseCluster
	observed state.Observed
	facts    space.Facts
	// err is the error of the operations of the pass.
	err error
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
	cluster.Spec.Storage.Size = resource.MustParse("10Gi")
	cluster.Spec.Storage.AutoGrow = &dbv1.ClusterAutoGrow{Limit: resource.MustParse("20Gi")}
	observed.Engine.Spec.Actions.Protect = &dbv1.EngineAction{Command: []string{"protect"}}
	f := &fixture{cluster: cluster, observed: observed}
	f.sized("10Gi")
	f.facts = space.Facts{Asked: true, Begun: true}
	for range f.observed.Volumes {
		f.facts.Measured = append(f.facts.Measured, space.Measured{})
	}
	f.use(0, 40)
	f.use(1, 40)
	f.use(2, 40)
	return f
}

// capacity is the size of a file system on a volume of 10Gi.
const capacity = 9800 << 20

// use measures a volume.
func (f *fixture) use(ordinal int, percent int64) {
	f.facts.Measured[ordinal] = space.Measured{Volume: f.observed.Volumes[ordinal], VolumeUsage: state.VolumeUsage{
		Capacity: capacity, Available: capacity * (100 - percent) / 100, UsedPercent: int32(percent), Measured: plans.Now.Add(-30 * time.Second), //nolint:gosec // at most 100
	}}
}

// grown gives the status a growth that has been decided some time ago.
func (f *fixture) grown(size string, since time.Duration) *dbv1.ClusterStorageGrowth {
	growth := &dbv1.ClusterStorageGrowth{
		Size: resource.MustParse(size), Time: plans.Ago(since), Cause: dbv1.StorageCauseUnknown,
		Usage: dbv1.ClusterStorageUsage{Claim: "data-orders-0", UsedPercent: 85, CapacityBytes: capacity * 8 / 10, Time: plans.Ago(since)},
	}
	f.cluster.Status.Storage = &dbv1.ClusterStorageStatus{Growth: growth}
	return growth
}

// ended gives the status a growth that has failed for some volumes.
func (f *fixture) ended(size string, since time.Duration) {
	f.grown(size, since).Refused = "no room"
}

// keepsReadOnly adds a protection to what the status has, from when the volumes had a size.
func (f *fixture) keepsReadOnly(size string) {
	before := f.cluster.Status.Storage
	p := f.protected(dbv1.ProtectionProtected)
	p.Capacity = resource.MustParse(size)
	if before != nil {
		before.Protection, f.cluster.Status.Storage = p, before
	}
}

// sized gives all volumes a size.
func (f *fixture) sized(size string) {
	for i := range f.observed.Volumes {
		f.observed.Volumes[i].Requested, f.observed.Volumes[i].Capacity = resource.MustParse(size), resource.MustParse(size)
	}
	for i := range f.facts.Measured {
		f.facts.Measured[i].Volume = f.observed.Volumes[i]
	}
}

func (f *fixture) decide() (subject.Decision, *dbv1.DatabaseClusterStatus) {
	state.Put(&f.observed, f.facts)
	d := space.Subject.Decide(situation.Of(f.cluster, f.observed))
	status := f.cluster.Status.DeepCopy()
	status.Storage = &dbv1.ClusterStorageStatus{Requested: resource.MustParse("10Gi")}
	for _, condition := range d.Report(subject.Executed{RefusedDecision: operation.Split(f.err).RefusedDecision}, status) {
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return d, status
}

// describe is the condition, the desired size and the protection in the status.
func describe(status *dbv1.DatabaseClusterStatus) string {
	text := ""
	if c := meta.FindStatusCondition(status.Conditions, dbv1.ConditionDiskPressure); c != nil {
		text = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
	}
	if status.Storage.Desired != nil {
		text += "\ndesired " + status.Storage.Desired.String()
	}
	if p := status.Storage.Protection; p != nil {
		text += "\n" + string(p.State)
	}
	return text
}

func archiving(status metav1.ConditionStatus, since time.Duration) []metav1.Condition {
	return []metav1.Condition{{Type: dbv1.ConditionContinuousArchiving, Status: status, Reason: "Test", LastTransitionTime: plans.Ago(since)}}
}
