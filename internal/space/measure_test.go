/*
SPDX-License-Identifier: Apache-2.0
*/

package space_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/space"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const (
	lookName  = "measure"
	slotKeeps = `{"data":2147483648,"log":6442450944,"temporary":12582912,"keptFor":{"type":"Slot","name":"debezium","from":"0/16B3748"}}`
	mostData  = `{"data":6442450944,"log":2147483648}`
)

// measures gives the engine the action.
func (f *fixture) measures() {
	f.observed.Engine.Spec.Actions.Measure, f.facts.Image = &dbv1.EngineAction{Command: []string{"measure"}}, "operator:1"
}

// looks gives the cluster a Job of the action for a volume. It ended some time ago.
func (f *fixture) looks(ordinal int, job jobs.Job, ago time.Duration) {
	f.measures()
	job.Name, job.EndTime = lookName, plans.Ago(ago)
	m := f.facts.Measured[ordinal]
	f.facts.Look = space.LookJob{Job: job, Found: true, Claim: m.Claim, Capacity: m.VolumeUsage.Capacity}
}

// answers is a Job that has printed something.
func answers(text string) jobs.Job {
	return jobs.Job{Succeeded: true, Result: &protocol.Result{Output: json.RawMessage(text)}}
}

// grownForSlot gives the status a growth for the log of a slot, and the volumes that size.
func (f *fixture) grownForSlot(from string) {
	growth := f.grown("12Gi", 8*time.Hour)
	growth.Cause, growth.KeptFor = dbv1.StorageCauseLog, &dbv1.LogKeeper{Type: dbv1.KeptForSlot, Name: "debezium", From: from}
	f.sized("12Gi")
	f.use(0, 85)
}

func TestWhenAVolumeIsMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fixture)
		want   string
	}{
		"while it fills":                   {func(f *fixture) { f.use(1, 85); f.measures() }, "create"},
		"not at rest":                      {func(f *fixture) { f.measures() }, ""},
		"not before it grows":              {func(f *fixture) { f.use(1, 79); f.measures() }, ""},
		"not without the action":           {func(f *fixture) { f.use(1, 85) }, ""},
		"not without the operator's image": {func(f *fixture) { f.use(1, 85); f.measures(); f.facts.Image = "" }, ""},
		"not a file system of others":      {func(f *fixture) { f.use(1, 85); f.measures(); f.facts.Measured[1].VolumeUsage.Capacity *= 10 }, ""},
		"not while it is paused":           {func(f *fixture) { f.use(1, 85); f.measures(); f.cluster.Spec.Paused = true }, ""},
		"not while it is deleted":          {func(f *fixture) { f.use(1, 85); f.measures(); at := plans.Ago(0); f.cluster.DeletionTimestamp = &at }, ""},
		"not while it is hibernated":       {func(f *fixture) { f.use(1, 85); f.measures(); f.cluster.Spec.Hibernated = true }, ""},
		"not twice":                        {func(f *fixture) { f.use(1, 85); f.looks(1, answers(mostData), 119*time.Minute) }, ""},
		"not while the Job runs":           {func(f *fixture) { f.use(1, 85); f.looks(1, jobs.Job{Active: true}, 0) }, ""},
		"not at once after a failure":      {func(f *fixture) { f.use(1, 85); f.looks(1, jobs.Job{Failed: true}, 119*time.Minute) }, ""},
		"again after two hours":            {func(f *fixture) { f.use(1, 85); f.looks(1, answers(mostData), 2*time.Hour) }, "delete"},
		"again two hours after a failure":  {func(f *fixture) { f.use(1, 85); f.looks(1, jobs.Job{Failed: true}, 2*time.Hour) }, "delete"},
		"again when it has grown": {func(f *fixture) {
			f.use(1, 85)
			f.looks(1, answers(mostData), time.Minute)
			f.facts.Measured[1].VolumeUsage.Capacity += 1 << 30
		}, "delete"},
		"not because its capacity varies": {func(f *fixture) {
			f.use(1, 85)
			f.looks(1, answers(mostData), time.Minute)
			f.facts.Measured[1].VolumeUsage.Capacity += 1 << 20
		}, ""},
		"not because another is fuller":       {func(f *fixture) { f.use(1, 85); f.use(2, 86); f.looks(1, answers(mostData), time.Minute) }, ""},
		"soon if the other does not fill":     {func(f *fixture) { f.use(2, 86); f.looks(1, answers(mostData), 10*time.Minute) }, "delete"},
		"but not at once":                     {func(f *fixture) { f.use(2, 86); f.looks(1, answers(mostData), 9*time.Minute) }, ""},
		"a Job that no longer counts remains": {func(f *fixture) { f.looks(1, answers(mostData), 3*time.Hour) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.change(f)
			d, _ := f.decide()
			does, job := operation.Describe(d.Operations), naming.MeasureJob(f.cluster.Name, f.cluster.UID)
			if c.want == "" && does != "" || !strings.HasPrefix(does, c.want) || c.want == "create" && !strings.Contains(does, job) {
				t.Errorf("does %q", does)
			}
		})
	}
}

func TestDiskPressureNamesWhatFillsAVolume(t *testing.T) {
	const parts = ". PersistentVolumeClaim data-orders-0 has "
	for name, c := range map[string]struct {
		change func(*fixture)
		want   string
	}{
		"a slot": {func(f *fixture) { f.looks(0, answers(slotKeeps), time.Minute) },
			parts + "6Gi of log that replication slot debezium keeps, 2Gi of data and 12Mi of temporary files. Drop the slot, or let its client read"},
		"a member": {func(f *fixture) {
			f.looks(0, answers(`{"data":1073741824,"log":1610612736,"keptFor":{"type":"Member","name":"orders-1"}}`), time.Minute)
		}, parts + "5.6Gi of other files, 1.5Gi of log that is kept for member orders-1 and 1Gi of data. Remove the files that are not the database's. Repair that member, or remove it"},
		"an archive": {func(f *fixture) {
			f.looks(0, answers(`{"data":1073741824,"log":7516192768,"keptFor":{"type":"Archive"}}`), time.Minute)
		},
			parts + "7Gi of log that the archive does not store and 1Gi of data. Repair the archive, or remove it"},
		"temporary files": {func(f *fixture) { f.looks(0, answers(`{"data":1,"temporary":8589934592}`), time.Minute) },
			parts + "8Gi of temporary files. End the queries that write temporary files"},
		"data":                     {func(f *fixture) { f.looks(0, answers(mostData), time.Minute) }, parts + "6Gi of data and 2Gi of log"},
		"files of others":          {func(f *fixture) { f.looks(0, answers(`{"data":1073741824}`), time.Minute) }, parts + "7.1Gi of other files and 1Gi of data. Remove the files that are not the database's"},
		"not before an answer":     {func(f *fixture) { f.looks(0, jobs.Job{Active: true}, 0) }, ""},
		"not by an old answer":     {func(f *fixture) { f.looks(0, answers(mostData), 3*time.Hour) }, ""},
		"not by one about another": {func(f *fixture) { f.looks(1, answers(mostData), time.Minute) }, ""},
		"not by one before a growth": {func(f *fixture) {
			f.looks(0, answers(mostData), time.Minute)
			f.facts.Measured[0].VolumeUsage.Capacity += 1 << 30
		}, ""},
		"the answer counts until the next one": {func(f *fixture) {
			f.looks(0, jobs.Job{Active: true}, 0)
			f.cluster.Status.Storage = &dbv1.ClusterStorageStatus{Parts: &dbv1.ClusterStorageParts{
				Claim: "data-orders-0", CapacityBytes: capacity, Time: plans.Ago(121 * time.Minute), DataBytes: 6 << 30}}
		}, parts + "6Gi of data"},
		"a Job that failed": {func(f *fixture) {
			f.looks(0, jobs.Job{Failed: true, Result: &protocol.Result{Message: "the server does not answer."}}, time.Minute)
		}, ". Its parts are unknown: Job measure failed: the server does not answer. It runs again at 2026-01-01T01:59:00Z"},
		"an answer of another form": {func(f *fixture) { f.looks(0, answers(`"many"`), time.Minute) },
			". Its parts are unknown: Job measure printed another form than docs/engines.md has: json: cannot unmarshal string into Go value of type space.answer"},
		"a negative size": {func(f *fixture) { f.looks(0, answers(`{"data":-1}`), time.Minute) },
			". Its parts are unknown: Job measure printed values that docs/engines.md does not allow"},
		"a slot without a name": {func(f *fixture) { f.looks(0, answers(`{"keptFor":{"type":"Slot"}}`), time.Minute) },
			". Its parts are unknown: Job measure printed values that docs/engines.md does not allow"},
		"a keeper of another type": {func(f *fixture) { f.looks(0, answers(`{"keptFor":{"type":"Cat","name":"Tom"}}`), time.Minute) },
			". Its parts are unknown: Job measure printed values that docs/engines.md does not allow"},
		"an answer that is lost": {func(f *fixture) { f.looks(0, jobs.Job{Succeeded: true}, time.Minute) },
			". Its parts are unknown: the answer of Job measure is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.use(0, 85)
			c.change(f)
			_, status := f.decide()
			want := "True Growing: " + used85 + "; the volumes grow to 12Gi" + c.want + "\ndesired 12Gi"
			if got := describe(status); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestTheVolumesGrowOnceForTheLogOfASlot(t *testing.T) {
	const grown = "the volumes have grown once for the log that replication slot debezium keeps. Drop the slot, or let its client read"
	for name, c := range map[string]struct {
		change func(*fixture)
		want   string
	}{
		"once": {func(f *fixture) { f.use(0, 85); f.looks(0, answers(slotKeeps), time.Minute) }, "Growing"},
		"not twice": {func(f *fixture) { f.grownForSlot("0/16B3748"); f.looks(0, answers(slotKeeps), time.Minute) },
			"LogKept: " + used85 + ", and " + grown},
		"not even if it is nearly full": {func(f *fixture) {
			f.grownForSlot("0/16B3748")
			f.use(0, 97)
			f.looks(0, answers(slotKeeps), time.Minute)
		}, grown},
		"again if its client has read": {func(f *fixture) { f.grownForSlot("0/1000000"); f.looks(0, answers(slotKeeps), time.Minute) }, "Growing"},
		"again for data":               {func(f *fixture) { f.grownForSlot("0/16B3748"); f.looks(0, answers(mostData), time.Minute) }, "Growing"},
		"not before the answer": {func(f *fixture) { f.grownForSlot("0/16B3748"); f.measures() },
			"LogKept: " + used85 + ", and the volumes have grown for the log that replication slot debezium keeps. They grow again if Job "},
		"but one that is nearly full does not wait": {func(f *fixture) { f.grownForSlot("0/16B3748"); f.use(0, 97); f.measures() }, "Growing"},
		"nor one without an answer":                 {func(f *fixture) { f.grownForSlot("0/16B3748"); f.looks(0, jobs.Job{Failed: true}, time.Minute) }, "Growing"},
		"nor one whose Job cannot start": {func(f *fixture) {
			f.grownForSlot("0/16B3748")
			f.looks(0, jobs.Job{Remedy: "correct it", Problem: "no image", Active: true}, 0)
		}, "Growing"},
		"nor one of another engine": {func(f *fixture) { f.grownForSlot("0/16B3748") }, "Growing"},
		"a member is no reason to stop": {func(f *fixture) {
			f.grownForSlot("0/1")
			f.cluster.Status.Storage.Growth.KeptFor = &dbv1.LogKeeper{Type: dbv1.KeptForMember, Name: "orders-1", From: "0/1"}
			f.looks(0, answers(`{"log":5368709120,"keptFor":{"type":"Member","name":"orders-1","from":"0/1"}}`), time.Minute)
		}, "Growing"},
		"the archive by its condition": {func(f *fixture) {
			f.grownForSlot("")
			f.cluster.Status.Storage.Growth.KeptFor = &dbv1.LogKeeper{Type: dbv1.KeptForArchive}
			f.cluster.Status.Conditions = archiving(metav1.ConditionFalse, 9*time.Hour)
			f.looks(0, answers(`{"log":5368709120}`), time.Minute)
		}, "LogKept"},
		"but data is data": {func(f *fixture) {
			f.grownForSlot("")
			f.cluster.Status.Storage.Growth.KeptFor = &dbv1.LogKeeper{Type: dbv1.KeptForArchive}
			f.cluster.Status.Conditions = archiving(metav1.ConditionFalse, 9*time.Hour)
			f.looks(0, answers(mostData), time.Minute)
		}, "Growing"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.cluster.Spec.Storage.WhenNearlyFull = dbv1.NearlyFullContinue
			c.change(f)
			_, status := f.decide()
			if text := describe(status); !strings.Contains(text, c.want) {
				t.Errorf("got %s", text)
			}
		})
	}
}

func TestAGrowthThatDidNotWaitGetsItsCauseLater(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"a slot":          {slotKeeps, "Log Slot debezium"},
		"data":            {mostData, "Data"},
		"temporary files": {`{"temporary":8589934592}`, "TemporaryFiles"},
		"files of others": {`{"log":1073741824}`, "Other"},
		"no answer":       {`"many"`, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.looks(0, answers(c.answer), time.Minute)
			f.grown("12Gi", 2*time.Minute).Usage.CapacityBytes = capacity
			f.sized("12Gi")
			_, status := f.decide()
			growth := status.Storage.Growth
			got := string(growth.Cause)
			if k := growth.KeptFor; k != nil {
				got += fmt.Sprintf(" %s %s", k.Type, k.Name)
			}
			if got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestTheStatusHasTheLastAnswer(t *testing.T) {
	f := newFixture(t)
	f.looks(0, answers(slotKeeps), time.Minute)
	_, status := f.decide()
	p := status.Storage.Parts
	if p == nil || p.Claim != "data-orders-0" || p.CapacityBytes != capacity || p.LogBytes != 6<<30 || p.KeptFor.From != "0/16B3748" || !p.Time.Equal(new(plans.Ago(time.Minute))) {
		t.Fatalf("got %+v", p)
	}
	f.cluster.Status = *status
	f.facts.Look = space.LookJob{}
	if _, after := f.decide(); after.Storage.Parts == nil {
		t.Error("it is lost with the Job")
	}
	f.looks(0, answers(slotKeeps), time.Minute)
	f.use(0, 99)
	if _, after := f.decide(); after.Storage.Parts.OtherBytes != p.OtherBytes {
		t.Errorf("what is written later changes it to %+v", after.Storage.Parts)
	}
	f.cluster.Spec.Storage.AutoGrow, f.facts.Asked = nil, false
	if _, after := f.decide(); after.Storage.Parts != nil {
		t.Error("it remains although nobody measures any more")
	}
}

func TestAVolumeIsMeasuredAgainInTime(t *testing.T) {
	f := newFixture(t)
	f.use(0, 85)
	f.looks(0, answers(mostData), 20*time.Minute)
	if d, _ := f.decide(); d.RequeueAfter != 100*time.Minute {
		t.Errorf("again in %s", d.RequeueAfter)
	}
}
