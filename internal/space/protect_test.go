/*
SPDX-License-Identifier: Apache-2.0
*/

package space_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/space"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// protected gives the status a protection in a state.
func (f *fixture) protected(state dbv1.ProtectionState) *dbv1.ClusterStorageProtection {
	p := &dbv1.ClusterStorageProtection{State: state, Since: plans.Ago(time.Minute), Pod: "pod-0", Capacity: resource.MustParse("10Gi"),
		Usage: dbv1.ClusterStorageUsage{Claim: "data-orders-0", UsedPercent: 97, CapacityBytes: capacity, Time: plans.Ago(2 * time.Minute)}}
	f.cluster.Status.Storage = &dbv1.ClusterStorageStatus{Protection: p}
	return p
}

// inherits lets the volume of a member be older than the cluster.
func (f *fixture) inherits(ordinal int) {
	f.cluster.CreationTimestamp, f.observed.Volumes[ordinal].Created = plans.Ago(time.Hour), plans.Ago(2*time.Hour)
}

// unprotected gives the status the volumes whose protection was removed.
func (f *fixture) unprotected(template string) {
	f.cluster.Status.Storage = &dbv1.ClusterStorageStatus{Unprotected: template}
}

func (f *fixture) job(job jobs.Job) {
	f.facts.Protection.Job, f.facts.Protection.Found = job, true
}

// measuredBefore makes all measurements older than the protection.
func (f *fixture) measuredBefore() {
	for i := range f.facts.Measured {
		f.facts.Measured[i].Measured = plans.Now.Add(-2 * time.Minute)
	}
}

func TestHowADatabaseIsProtected(t *testing.T) {
	const refuses = "transactions are read-only, because PersistentVolumeClaim data-orders-0 was used to 97% at 2025-12-31T23:58:00Z"
	for name, c := range map[string]struct {
		change func(*fixture)
		// state is in the status, operation is a part of the only operation, and refuses why clients cannot write.
		state, operation, refuses string
	}{
		"a volume that fills is not nearly full":   {func(f *fixture) { f.use(0, 94) }, "", "", ""},
		"the volume of the primary is nearly full": {func(f *fixture) { f.use(0, 97) }, "Protecting", "", ""},
		"that of a replica is no reason":           {func(f *fixture) { f.use(1, 97) }, "", "", ""},
		"nor is one without a known primary":       {func(f *fixture) { f.use(0, 97); plans.Roles(&f.observed, "", "", "") }, "", "", ""},
		"the user does not want it":                {func(f *fixture) { f.use(0, 97); f.cluster.Spec.Storage.WhenNearlyFull = dbv1.NearlyFullContinue }, "", "", ""},
		"the engine cannot":                        {func(f *fixture) { f.use(0, 97); f.observed.Engine.Spec.Actions.Protect = nil }, "", "", ""},
		"a paused cluster":                         {func(f *fixture) { f.use(0, 97); f.cluster.Spec.Paused = true }, "", "", ""},
		"the Job starts after that is recorded":    {func(f *fixture) { f.use(0, 97); f.protected(dbv1.ProtectionProtecting) }, "Protecting", "create Job orders-protect-", ""},
		"the Job runs":                             {func(f *fixture) { f.protected(dbv1.ProtectionProtecting); f.job(jobs.Job{Name: "j", Active: true}) }, "Protecting", "", ""},
		"it has succeeded":                         {func(f *fixture) { f.protected(dbv1.ProtectionProtecting); f.job(jobs.Job{Name: "j", Succeeded: true}) }, "Protected", "", refuses},
		"it stays while the use is unknown":        {func(f *fixture) { f.protected(dbv1.ProtectionProtected); f.facts.Measured = nil }, "Protected", "", refuses},
		"it stays with a little space":             {func(f *fixture) { f.use(0, 92); f.protected(dbv1.ProtectionProtected) }, "Protected", "", refuses},
		"it is lifted with more":                   {func(f *fixture) { f.use(0, 85); f.protected(dbv1.ProtectionProtected) }, "Lifting", "", refuses},
		"a measurement from before is no reason":   {func(f *fixture) { f.use(0, 85); f.measuredBefore(); f.protected(dbv1.ProtectionProtected) }, "Protected", "", refuses},
		"a grown volume is, before the next one": {func(f *fixture) {
			f.use(0, 97)
			f.measuredBefore()
			f.sized("12Gi")
			f.protected(dbv1.ProtectionProtected)
		}, "Lifting", "", refuses},
		"a grown volume is, after a newer measurement": {func(f *fixture) {
			f.use(0, 97)
			f.sized("12Gi")
			f.protected(dbv1.ProtectionProtected)
		}, "Lifting", "", refuses},
		"a growth that the measurement includes counts once": {func(f *fixture) {
			f.use(0, 92)
			f.sized("12Gi")
			f.facts.Measured[0].VolumeUsage.Capacity += 2 << 30
			f.protected(dbv1.ProtectionProtected)
		}, "Protected", "", refuses},
		"a growth that is too small is not": {func(f *fixture) {
			f.use(0, 97)
			f.sized("10300Mi")
			f.protected(dbv1.ProtectionProtected)
		}, "Protected", "", refuses},
		"a protection that has not begun ends with space": {func(f *fixture) { f.use(0, 60); f.protected(dbv1.ProtectionProtecting) }, "Lifting", "", ""},
		"so does one that failed, which may have begun": {func(f *fixture) {
			f.use(0, 60)
			f.protected(dbv1.ProtectionProtecting)
			f.job(jobs.Job{Name: "j", Failed: true})
		}, "Lifting", "", ""},
		"but first its Job ends": {func(f *fixture) {
			f.use(0, 60)
			f.protected(dbv1.ProtectionProtecting)
			f.job(jobs.Job{Name: "j", Active: true})
		}, "Protecting", "", ""},
		"one that failed stays without space": {func(f *fixture) {
			f.use(0, 97)
			f.protected(dbv1.ProtectionProtecting)
			f.job(jobs.Job{Name: "j", Failed: true})
		}, "Protecting", "", ""},
		"a measurement from before the growth begins no other": {func(f *fixture) {
			f.use(0, 97)
			f.protected(dbv1.ProtectionLifting).Since = plans.Ago(time.Second)
			f.job(jobs.Job{Name: "j", Succeeded: true})
		}, "Lifting", "", ""},
		"one from after it does": {func(f *fixture) {
			f.use(0, 97)
			f.protected(dbv1.ProtectionLifting)
			f.job(jobs.Job{Name: "j", Succeeded: true})
		}, "", "", ""},
		"nobody measures any more": {func(f *fixture) {
			f.protected(dbv1.ProtectionProtected)
			f.cluster.Spec.Storage.AutoGrow = nil
			f.facts.Asked = false
		}, "Lifting", "", refuses},
		"clients cannot write until it has ended": {func(f *fixture) { f.protected(dbv1.ProtectionLifting) }, "Lifting", "create Job orders-protect-", refuses},
		"then they can": {func(f *fixture) { f.protected(dbv1.ProtectionLifting); f.job(jobs.Job{Name: "j", Succeeded: true}) }, "", "", ""},
		"another primary may lack the protection": {func(f *fixture) {
			f.use(1, 97)
			f.protected(dbv1.ProtectionProtected)
			plans.Roles(&f.observed, "replica", "primary", "replica")
		}, "Renewing", "", refuses},
		"so the Job runs again": {func(f *fixture) { f.use(0, 97); f.protected(dbv1.ProtectionRenewing) }, "Renewing", "create Job orders-protect-", refuses},
		"and has succeeded": {func(f *fixture) {
			f.use(0, 97)
			f.protected(dbv1.ProtectionRenewing)
			f.job(jobs.Job{Name: "j", Succeeded: true})
		}, "Protected", "", refuses},
		"not while the primary is unknown": {func(f *fixture) {
			f.protected(dbv1.ProtectionProtected)
			plans.Roles(&f.observed, "", "", "")
		}, "Protected", "", refuses},
		"a Job waits for the primary": {func(f *fixture) {
			f.use(0, 97)
			f.protected(dbv1.ProtectionProtecting)
			plans.Roles(&f.observed, "", "", "")
		}, "Protecting", "", ""},
		"another primary has space": {func(f *fixture) {
			f.protected(dbv1.ProtectionProtected)
			plans.Roles(&f.observed, "replica", "primary", "replica")
		}, "Lifting", "", refuses},
		"a deletion changes nothing about it": {func(f *fixture) {
			f.protected(dbv1.ProtectionProtected)
			at := plans.Ago(0)
			f.cluster.DeletionTimestamp = &at
		}, "Protected", "", ""},
		"a file system of others is not to protect": {func(f *fixture) {
			f.use(0, 97)
			f.facts.Measured[0].VolumeUsage.Capacity *= 10
			f.facts.Measured[0].Available = 0
		}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.change(f)
			d, status := f.decide()
			is := ""
			if p := status.Storage.Protection; p != nil {
				is = string(p.State)
			}
			if is != c.state || d.Refuses != c.refuses {
				t.Errorf("got %s, refuses %q", is, d.Refuses)
			}
			if does := operation.Describe(d.Operations); c.operation == "" && does != "" || !strings.Contains(does, c.operation) {
				t.Errorf("does %q", does)
			}
		})
	}
}

func TestAJobThatRanForAnotherPrimaryIsFollowedByOneForThisOne(t *testing.T) {
	for _, state := range []dbv1.ProtectionState{dbv1.ProtectionProtecting, dbv1.ProtectionRenewing, dbv1.ProtectionLifting} {
		for job, moves := range map[jobs.Job]bool{{Succeeded: true}: true, {Failed: true}: true, {Active: true}: false} {
			f := newFixture(t)
			f.use(0, 97)
			before := f.protected(state)
			before.Pod = "pod-1"
			f.job(job)
			d, status := f.decide()
			p := status.Storage.Protection
			if p == nil || p.State != state || (p.Pod == "pod-0") != moves || moves == p.Since.Equal(&before.Since) || len(d.Operations) > 0 {
				t.Errorf("%s, %+v: next is %+v, does %q", state, job, p, operation.Describe(d.Operations))
			}
		}
	}
}

func TestTheProtectionOfInheritedDataIsLiftedOnceWithoutPressure(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fixture)
		want   string
	}{
		"volumes of this cluster":                {func(f *fixture) { f.inherits(0); f.observed.Volumes[0].Created = f.cluster.CreationTimestamp }, ""},
		"of a previous one":                      {func(f *fixture) { f.inherits(0) }, "Lifting"},
		"also a replica's":                       {func(f *fixture) { f.inherits(2) }, "Lifting"},
		"of one whose protection was removed":    {func(f *fixture) { f.inherits(0); f.unprotected("data") }, ""},
		"not of these volumes, before a restore": {func(f *fixture) { f.unprotected("data-0123456789") }, "Lifting"},
		"the primary is unknown":                 {func(f *fixture) { f.inherits(0); plans.Roles(&f.observed, "", "", "") }, ""},
		"the engine cannot":                      {func(f *fixture) { f.inherits(0); f.observed.Engine.Spec.Actions.Protect = nil }, ""},
		"a paused cluster":                       {func(f *fixture) { f.inherits(0); f.cluster.Spec.Paused = true }, ""},
		"nothing is measured yet":                {func(f *fixture) { f.inherits(0); f.facts.Begun, f.facts.Measured = false, nil }, ""},
		"nothing is to be measured":              {func(f *fixture) { f.inherits(0); f.facts = space.Facts{} }, "Lifting"},
		"a full volume stays protected":          {func(f *fixture) { f.inherits(0); f.use(0, 97) }, "Protecting"},
		"a restore replaced a protected volume":  {func(f *fixture) { f.protected(dbv1.ProtectionProtected).Usage.Claim = "data-0123456789-orders-0" }, "Lifting"},
		"with one that is full, too": {func(f *fixture) {
			f.use(0, 97)
			f.protected(dbv1.ProtectionProtected).Usage.Claim = "data-0123456789-orders-0"
		}, "Protecting"},
		"and its members start": {func(f *fixture) {
			f.protected(dbv1.ProtectionProtected).Usage.Claim = "data-0123456789-orders-0"
			plans.Roles(&f.observed, "", "", "")
		}, "Protected"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.change(f)
			d, status := f.decide()
			is := ""
			if p := status.Storage.Protection; p != nil {
				is = string(p.State)
			}
			if is != c.want || d.Refuses != "" {
				t.Fatalf("got %q, refuses %q", is, d.Refuses)
			}
			if is != "Lifting" {
				return
			}
			f.cluster.Status = *status
			d, status = f.decide()
			if does := operation.Describe(d.Operations); !strings.HasPrefix(does, "create Job orders-protect-") || d.Refuses != "" ||
				strings.Contains(describe(status), "ReadOnly") {
				t.Errorf("does %q, refuses %q, %s", does, d.Refuses, describe(status))
			}
			f.job(jobs.Job{Name: "j", Succeeded: true})
			_, status = f.decide()
			if status.Storage.Protection != nil || status.Storage.Unprotected != "data" {
				t.Errorf("after that: %+v", status.Storage)
			}
			f.cluster.Status, f.facts.Protection = *status, space.ProtectionJob{}
			if _, status = f.decide(); status.Storage.Protection != nil {
				t.Errorf("again: %+v", status.Storage.Protection)
			}
		})
	}
}

func TestInheritedDataWhoseProtectionCannotBeLiftedIsPressure(t *testing.T) {
	f := newFixture(t)
	f.inherits(0)
	f.facts = space.Facts{}
	_, status := f.decide()
	f.cluster.Status = *status
	f.job(jobs.Job{Name: "orders-protect-1", Failed: true, EndTime: plans.Ago(0)})
	_, status = f.decide()
	const want = "True ReadOnly: transactions may be read-only, because the volumes were in use before; the protection of the database is being lifted, " +
		"but Job orders-protect-1 failed: "
	if text := describe(status); !strings.HasPrefix(text, want) {
		t.Error(text)
	}
}

func TestHowMuchSpaceProtectsADatabase(t *testing.T) {
	const protected, writes = "Protected", ""
	for _, c := range []struct {
		capacity, free int64
		percent        int32
		// before is without a protection, and after with one.
		before, after string
	}{
		{10 << 30, 510 << 20, 96, "Protecting", protected}, {10 << 30, 513 << 20, 95, writes, protected}, {10 << 30, 1023 << 20, 91, writes, protected},
		{10 << 30, 1 << 30, 90, writes, "Lifting"}, {1 << 40, 2<<30 - 1, 100, "Protecting", protected}, {1 << 40, 2 << 30, 100, writes, protected},
		{1 << 40, 4 << 30, 100, writes, "Lifting"}, {10 << 30, 5 << 30, 99, "Protecting", protected}, {10 << 30, 5 << 30, 95, writes, protected},
		{10 << 30, 5 << 30, 94, writes, "Lifting"},
	} {
		f := newFixture(t)
		f.sized("1Ti")
		m := &f.facts.Measured[0].VolumeUsage
		m.Capacity, m.Available, m.UsedPercent = c.capacity, c.free, c.percent
		for want, change := range map[string]func(){c.before: func() {}, c.after: func() { f.protected(dbv1.ProtectionProtected).Capacity = resource.MustParse("1Ti") }} {
			f.cluster.Status.Storage = nil
			change()
			_, status := f.decide()
			is := ""
			if p := status.Storage.Protection; p != nil {
				is = string(p.State)
			}
			if is != want {
				t.Errorf("%d of %d free, used %d%%: got %q, want %q", c.free, c.capacity, c.percent, is, want)
			}
		}
	}
}

func TestADatabaseIsProtectedEarlierTheFasterItsVolumeFills(t *testing.T) {
	const gibi = 1 << 30
	for _, c := range []struct {
		// free, ahead and reserve are GiB of a volume of 100Gi.
		free, ahead, reserve int64
		protected            bool
	}{
		{free: 2, ahead: 1}, {free: 1, ahead: 1, reserve: 2, protected: true},
		{free: 9, ahead: 8}, {free: 9, ahead: 10, reserve: 10, protected: true},
		{free: 16, ahead: 50}, {free: 14, ahead: 50, reserve: 15, protected: true},
	} {
		f := newFixture(t)
		f.cluster.Spec.Storage.AutoGrow, f.cluster.Spec.Storage.Usage = nil, dbv1.StorageUsageMeasured
		f.sized("100Gi")
		m := &f.facts.Measured[0].VolumeUsage
		m.Capacity, m.Available, m.UsedPercent, m.Ahead = 100*gibi, c.free*gibi, int32(100-c.free), c.ahead*gibi //nolint:gosec // at most 100
		_, status := f.decide()
		p := status.Storage.Protection
		if protected := p != nil; protected != c.protected {
			t.Errorf("%+v: protected is %t", c, protected)
		}
		if p == nil {
			continue
		}
		if p.Reserve.Value() != c.reserve*gibi {
			t.Errorf("%+v: the reserve is %s", c, p.Reserve)
		}
		p.State, f.cluster.Status = dbv1.ProtectionProtected, *status
		for free, state := range map[int64]dbv1.ProtectionState{c.reserve + 1: dbv1.ProtectionProtected, c.reserve + 2: dbv1.ProtectionLifting} {
			m.Available, m.UsedPercent, m.Ahead, m.Measured = free*gibi, 0, 0, p.Since.Add(time.Second)
			d, after := f.decide()
			if is := after.Storage.Protection.State; is != state {
				t.Errorf("%+v: with %d GiB free it is %s", c, free, is)
			}
			if fast := strings.Contains(d.Refuses, "clients would have written at least"); fast != (c.reserve > 2) {
				t.Errorf("%+v: refuses, because %s", c, d.Refuses)
			}
		}
	}
}

func TestAGrowthIsWaitedForBeforeAVolumeThatFillsFastIsProtected(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(f *fixture, m *space.Measured)
		protected bool
		again     time.Duration
	}{
		"the growth is decided now":   {func(*fixture, *space.Measured) {}, false, time.Minute},
		"it was decided a moment ago": {func(f *fixture, _ *space.Measured) { f.grown("12Gi", 20*time.Second) }, false, 40 * time.Second},
		"a minute ago":                {func(f *fixture, _ *space.Measured) { f.grown("12Gi", time.Minute) }, true, 0},
		"it has failed":               {func(f *fixture, _ *space.Measured) { f.ended("12Gi", 20*time.Second) }, true, 0},
		"the claim has grown":         {func(f *fixture, _ *space.Measured) { f.grown("12Gi", time.Minute); f.sized("12Gi") }, false, 0},
		"there is nothing to wait for": {func(f *fixture, _ *space.Measured) {
			f.cluster.Spec.Storage.AutoGrow.Limit = resource.MustParse("10Gi")
		}, true, 0},
		"it is nearly full at any rate": {func(_ *fixture, m *space.Measured) { m.Available = capacity / 25 }, true, 0},
		"it does not fill that fast":    {func(_ *fixture, m *space.Measured) { m.Ahead = capacity / 9 }, false, 0},
		"the volumes do not grow":       {func(f *fixture, _ *space.Measured) { f.cluster.Spec.Storage.AutoGrow = nil }, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.use(0, 88)
			f.facts.Measured[0].Ahead = capacity / 7
			c.change(f, &f.facts.Measured[0])
			d, status := f.decide()
			if protected := status.Storage.Protection != nil; protected != c.protected || c.again > 0 && d.RequeueAfter != c.again {
				t.Errorf("%s, again in %s", describe(status), d.RequeueAfter)
			}
		})
	}
}

func TestAVolumeThatFillsFastGrowsUntilItsDatabaseMayWrite(t *testing.T) {
	const gibi = 1 << 30
	f := newFixture(t)
	f.sized("100Gi")
	f.cluster.Spec.Storage.Size, f.cluster.Spec.Storage.AutoGrow = resource.MustParse("100Gi"), &dbv1.ClusterAutoGrow{Limit: resource.MustParse("1Ti"), ByPercent: 1}
	m := &f.facts.Measured[0].VolumeUsage
	m.Capacity, m.Available, m.UsedPercent, m.Ahead = 100*gibi, gibi, 99, 50*gibi
	_, status := f.decide()
	size := status.Storage.Growth.Size.Value()
	f.cluster.Status = *status
	f.cluster.Status.Storage.Protection.State = dbv1.ProtectionProtected
	f.sized(status.Storage.Growth.Size.String())
	m = &f.facts.Measured[0].VolumeUsage
	m.Capacity, m.Available, m.UsedPercent, m.Measured = size, gibi+size-100*gibi, 0, f.cluster.Status.Storage.Protection.Since.Add(time.Second)
	if _, status = f.decide(); status.Storage.Protection.State != dbv1.ProtectionLifting {
		t.Errorf("with %d GiB it is %s", size/gibi, status.Storage.Protection.State)
	}
}

func TestABurstKeepsADatabaseReadOnlyForFiveMinutes(t *testing.T) {
	for since, states := range map[time.Duration]map[int64]dbv1.ProtectionState{
		time.Minute:     {88: dbv1.ProtectionProtected, 91: dbv1.ProtectionProtected},
		5 * time.Minute: {88: dbv1.ProtectionLifting, 91: dbv1.ProtectionProtected},
	} {
		for used, want := range states {
			f := newFixture(t)
			f.use(0, used)
			p := f.protected(dbv1.ProtectionProtected)
			p.Usage.Time, p.Reserve = plans.Ago(since), resource.NewQuantity(capacity/7, resource.BinarySI)
			d, status := f.decide()
			if is := status.Storage.Protection.State; is != want || since < 5*time.Minute && d.RequeueAfter != 4*time.Minute {
				t.Errorf("%s after a measurement, with %d%% used, it is %s, again in %s", since, used, is, d.RequeueAfter)
			}
		}
	}
}

func TestALiftedProtectionIsNoPressure(t *testing.T) {
	f := newFixture(t)
	f.use(0, 97)
	f.cluster.Spec.Storage.AutoGrow, f.cluster.Spec.Storage.Usage = nil, dbv1.StorageUsageMeasured
	f.protected(dbv1.ProtectionLifting).Since = plans.Ago(time.Second)
	f.job(jobs.Job{Name: "j", Succeeded: true})
	d, status := f.decide()
	if text := describe(status); !strings.HasPrefix(text, "True Filling: ") || d.RequeueAfter == 0 {
		t.Errorf("%s, again in %s", text, d.RequeueAfter)
	}
}

func TestAProtectionAndItsEndAreRepeatedUntilTheirJobSucceeds(t *testing.T) {
	for _, state := range []dbv1.ProtectionState{dbv1.ProtectionProtecting, dbv1.ProtectionLifting} {
		for name, c := range map[string]struct {
			job            jobs.Job
			says, does     string
			again, another bool
		}{
			"it has just failed": {job: jobs.Job{Failed: true, Failure: "no", EndTime: plans.Ago(20 * time.Second)}, again: true,
				says: "See kubectl logs job/orders-protect-1. The operator repeats it at 2026-01-01T00:00:40Z"},
			"it has failed a minute ago": {job: jobs.Job{Failed: true, EndTime: plans.Ago(time.Minute)}, does: "delete Job orders-protect-1: it runs again"},
			"its node does not respond":  {job: jobs.Job{Failing: true, StartTime: new(plans.Ago(15 * time.Minute))}, another: true},
		} {
			f := newFixture(t)
			f.use(0, 97)
			p := f.protected(state)
			c.job.Name = "orders-protect-1"
			f.job(c.job)
			d, status := f.decide()
			if text := describe(status); !strings.Contains(text, c.says) || c.again != (d.RequeueAfter == 40*time.Second) {
				t.Errorf("%s, %s: %s, again in %s", state, name, text, d.RequeueAfter)
			}
			if does := operation.Describe(d.Operations); c.does == "" && does != "" || !strings.Contains(does, c.does) {
				t.Errorf("%s, %s: does %q", state, name, does)
			}
			next := status.Storage.Protection
			if next == nil || next.State != state || c.another == next.Since.Equal(&p.Since) {
				t.Errorf("%s, %s: next is %+v", state, name, next)
			}
		}
	}
}

func TestAJobThatHasLiftedTheProtectionIsNotRepeated(t *testing.T) {
	f := newFixture(t)
	f.use(0, 97)
	f.protected(dbv1.ProtectionLifting).Since = plans.Ago(time.Second)
	f.job(jobs.Job{Name: "j", Succeeded: true, EndTime: plans.Ago(time.Hour)})
	if d, _ := f.decide(); len(d.Operations) > 0 {
		t.Errorf("does %q", operation.Describe(d.Operations))
	}
}

func TestAnEngineWithoutTheActionIsNamedInDiskPressure(t *testing.T) {
	f := newFixture(t)
	f.use(0, 97)
	f.observed.Engine.Spec.Actions.Protect = nil
	_, status := f.decide()
	if text := describe(status); !strings.Contains(text, "The engine has no action protect, so clients write until the volume is full") {
		t.Error(text)
	}
}
