/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func said(text string) protocol.Facts {
	var facts protocol.Facts
	if text != "" {
		if err := json.Unmarshal([]byte(text), &facts); err != nil {
			panic(err)
		}
	}
	return facts
}

// checking gives the engine a check whose identity and rows are Equal and whose position is AtLeast.
func checking(o *BackupFacts) {
	o.Engine.Spec.Actions.Check = &dbv1.EngineCheck{
		Command: []string{"/dbc/scripts/check", "all"},
		Facts: []dbv1.EngineFact{
			{Name: "identity", Compare: dbv1.CompareEqual},
			{Name: "position", Compare: dbv1.CompareAtLeast},
			{Name: "rows", Compare: dbv1.CompareEqual},
		},
	}
}

func TestOnlyFactsThatNoWriteCanHaveChangedAreRecorded(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"a quiet database":                   {`{"identity":"a","position":7,"rows":5}`, `{"identity":"a","position":7,"rows":5}`, "identity=a position=7 rows=5"},
		"writes meanwhile":                   {`{"identity":"a","position":7,"rows":5}`, `{"identity":"a","position":9,"rows":6}`, "identity=a position=7"},
		"counted afterwards alone":           {`{"identity":"a","position":7}`, `{"identity":"a","rows":5}`, "identity=a position=7 rows=5"},
		"not counted afterwards":             {`{"identity":"a","rows":5}`, `{"identity":"a"}`, "identity=a"},
		"a position afterwards is too late":  {`{}`, `{"position":9}`, ""},
		"a position that is no number":       {`{"position":"north"}`, `{"position":"north"}`, ""},
		"the second check failed":            {`{"identity":"a","position":7,"rows":5}`, ``, "position=7"},
		"others are shown as they were last": {`{"moment":1,"size":"x"}`, `{"moment":2}`, "moment=2 size=x"},
		"booleans and quotes":                {`{"identity":true,"a":"\"<b>\""}`, `{"identity":true}`, `a="<b>" identity=true`},
	} {
		o := idleWorld()
		checking(&o)
		facts, message := recordedFacts(o.Engine, "ledger-v1", &protocol.Check{Before: said(c.before), After: said(c.after)})
		var got []string
		for name, value := range facts {
			got = append(got, fmt.Sprintf("%s=%s", name, value))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want || message != "" {
			t.Errorf("%s: the facts are %s, the message is %q", name, text, message)
		}
	}
}

func TestTheStatusOfACompleteBackupReportsWhyFactsAreMissing(t *testing.T) {
	failing := done(&protocol.Result{Bytes: 1, Check: &protocol.Check{Before: said(`{"position":7}`), Problem: "The action check failed with exit code 1."}})
	started, observed := started(), idleWorld()
	checking(&observed)
	observed.Jobs = []jobs.Job{memberJob(0, failing)}
	first := For(started, observed)
	if s := first.Status.Streams[0]; s.Facts["position"] != "7" || s.CheckMessage != "The action check failed with exit code 1." {
		t.Fatalf("the stream is %+v", s)
	}
	started.Status = first.Status
	observed.Jobs = append(observed.Jobs, memberJob(1, done(&protocol.Result{Bytes: 1, Check: &protocol.Check{Before: said(`{"position":7}`), After: said(`{}`)}})))
	second := For(started, observed).Status
	if second.Phase != dbv1.BackupCompleted || second.Message != "the facts about the data of member 1 of 2 are incomplete: The action check failed with exit code 1." {
		t.Errorf("it is %s: %s", second.Phase, second.Message)
	}
}

func TestRecordedFactsAreBoundedByTheStatus(t *testing.T) {
	o := idleWorld()
	checking(&o)
	of := func(prefix string) protocol.Facts {
		facts := said(`{"identity":"a","long":"` + strings.Repeat("x", 2000) + `"}`)
		for i := range 15 {
			facts[fmt.Sprintf("%s%d", prefix, i)] = json.RawMessage("1")
		}
		return facts
	}
	facts, message := recordedFacts(o.Engine, "ledger-v1", &protocol.Check{Before: of("b"), After: of("a"), Problem: strings.Repeat("x", 4000)})
	if len(facts) != 20 || facts["identity"] != "a" || facts["a0"] != "1" || facts["long"] != "" || len(message) != 1024 {
		t.Errorf("%d facts, %d bytes: %v", len(facts), len(message), facts)
	}
}

func TestFactsWhoseEngineWasReplacedAreNotRecorded(t *testing.T) {
	o := idleWorld()
	checking(&o)
	for name, engine := range map[string]*dbv1.DatabaseEngine{"deleted": nil, "another": o.Engine, "without a check": {}} {
		facts, message := recordedFacts(engine, "ledger-v2", &protocol.Check{Before: said(`{"rows":1}`), After: said(`{"rows":1}`)})
		if len(facts) != 0 || !strings.Contains(message, "DatabaseEngine ledger-v2 was deleted or replaced during the backup") {
			t.Errorf("%s: %v, %q", name, facts, message)
		}
	}
}

func TestTheIdentityIsOfOneDatabase(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"the same":              {`{"identity":"a"}`, `{"identity":"a"}`, "a"},
		"a number":              {`{"identity":7}`, `{"identity":7}`, "7"},
		"only before":           {`{"identity":"a"}`, `{}`, "a"},
		"only after":            {`{}`, `{"identity":"a"}`, "a"},
		"replaced meanwhile":    {`{"identity":"a"}`, `{"identity":"b"}`, ""},
		"empty":                 {`{"identity":""}`, `{"identity":""}`, ""},
		"not reported":          {`{"rows":1}`, `{"rows":1}`, ""},
		"too long to record":    {`{"identity":"` + strings.Repeat("x", 2000) + `"}`, `{}`, ""},
		"no longer than a fact": {`{"identity":"` + strings.Repeat("x", 1024) + `"}`, `{}`, strings.Repeat("x", 1024)},
	} {
		o := idleWorld()
		checking(&o)
		check := &protocol.Check{Before: said(c.before), After: said(c.after)}
		if got := identity(o.Engine, "ledger-v1", check); got != "" {
			t.Errorf("%s: the engine names no fact, got %q", name, got)
		}
		o.Engine.Spec.Actions.Check.Identity = "identity"
		if got := identity(o.Engine, "ledger-v1", check); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if got := identity(o.Engine, "ledger-v2", check) + identity(nil, "ledger-v1", check) + identity(o.Engine, "ledger-v1", nil); got != "" {
			t.Errorf("%s: of another engine or without a check, got %q", name, got)
		}
	}
}

func TestTheStatusHasTheIdentity(t *testing.T) {
	started, observed := started(), idleWorld()
	checking(&observed)
	observed.Engine.Spec.Actions.Check.Identity = "identity"
	observed.Jobs = []jobs.Job{memberJob(0, done(&protocol.Result{Bytes: 1, Check: &protocol.Check{Before: said(`{"identity":"a"}`), Problem: "It failed."}}))}
	if s := For(started, observed).Status.Streams[0]; s.Identity != "a" || s.CheckMessage != "It failed." {
		t.Errorf("the stream is %+v", s)
	}
}

func TestACopyThatDiffersFromTheRecordedFactsFailsItsVerification(t *testing.T) {
	const big, bigger = "18446744073709551615", "18446744073709551616" // the same as float64
	for name, c := range map[string]struct {
		recorded map[string]dbv1.FactValue
		copied   string
		want     string
	}{
		"rows are lost":    {map[string]dbv1.FactValue{"rows": "200000"}, `{"rows":36996}`, "rows is 36996 in the restored copy, but 200000 was recorded"},
		"another database": {map[string]dbv1.FactValue{"identity": "a"}, `{"identity":"b"}`, "identity is b in the restored copy, but a was recorded"},
		"an older one":     {map[string]dbv1.FactValue{"position": bigger}, `{"position":` + big + `}`, "position is " + big + " in the restored copy, but at least " + bigger + " was recorded"},
		"no number":        {map[string]dbv1.FactValue{"position": "7"}, `{"position":"high"}`, "position is high in the restored copy, but at least 7 was recorded"},
		"no facts":         {map[string]dbv1.FactValue{"rows": "1", "position": "7"}, ``, "position is missing in the restored copy, but 7 was recorded; rows is missing in the restored copy, but 1 was recorded"},
		"a newer one":      {map[string]dbv1.FactValue{"position": big}, `{"position":` + bigger + `}`, ""},
		"more facts":       {map[string]dbv1.FactValue{"rows": "1", "shown": "2"}, `{"rows":1,"shown":3,"identity":"a"}`, ""},
		"nothing recorded": {nil, `{"rows":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			backup, observed := completed(), idleWorld()
			checking(&observed)
			backup.Annotations = map[string]string{dbv1.AnnotationVerify: "please"}
			backup.Status.Streams[0].Facts = c.recorded
			backup.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning}
			observed.Jobs = []jobs.Job{proof(0, done(&protocol.Result{Facts: said(c.copied)}))}
			v := For(backup, observed).Status.Verification
			if c.want == "" {
				if v.Phase != dbv1.VerificationRunning {
					t.Errorf("it is %s: %s", v.Phase, v.Message)
				}
				return
			}
			if v.Phase != dbv1.VerificationFailed || !strings.HasPrefix(v.Message, "the restored data of member 1 of 2 differs from the backup: "+c.want+". Do not rely on this backup") {
				t.Errorf("it is %s: %s", v.Phase, v.Message)
			}
		})
	}
}

func TestAVerificationReportsTheFactsOfTheCopyAndTheComparison(t *testing.T) {
	for name, c := range map[string]struct {
		recorded map[string]dbv1.FactValue
		result   *protocol.Result
		want     string
	}{
		"some":                     {map[string]dbv1.FactValue{"rows": "1", "position": "7", "shown": "1"}, &protocol.Result{Facts: said(`{"rows":1,"position":7,"shown":1}`)}, "the restored copy answered; its data matches the recorded facts: position, rows"},
		"none":                     {nil, &protocol.Result{Facts: said(`{"rows":1}`)}, "the restored copy answered; only its answer was checked, because the backup recorded no facts to compare"},
		"the pod no longer exists": {map[string]dbv1.FactValue{"rows": "1"}, nil, "the restored copy answered; only its answer was checked, because its pod was deleted before its facts were read"},
	} {
		t.Run(name, func(t *testing.T) {
			backup, observed := completed(), idleWorld()
			checking(&observed)
			backup.Annotations = map[string]string{dbv1.AnnotationVerify: "please"}
			for i := range backup.Status.Streams {
				backup.Status.Streams[i].Facts = c.recorded
			}
			backup.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning}
			observed.Jobs = []jobs.Job{proof(0, done(c.result)), proof(1, done(c.result))}
			v := For(backup, observed).Status.Verification
			if v.Phase != dbv1.VerificationSucceeded || v.Message != c.want {
				t.Errorf("it is %s: %s", v.Phase, v.Message)
			}
			if c.result != nil && (len(v.Streams) != 2 || v.Streams[1].Ordinal != 1 || v.Streams[1].Facts["rows"] != "1") {
				t.Errorf("the copies are %+v", v.Streams)
			}
		})
	}
}

func TestTheJobsOfBackupsAndVerificationsRunTheEnginesCheck(t *testing.T) {
	o := idleWorld()
	if flags := checkOf(o.Engine).Command; len(flags) != 0 {
		t.Errorf("without a check: %v", flags)
	}
	checking(&o)
	verified := completed()
	verified.Status.Verification = &dbv1.BackupVerification{Request: "please"}
	for name, job := range map[string]any{"backup": situationOf(started(), o).backupJob(0, 0, false), "verification": situationOf(verified, o).verificationJob(0)} {
		text, err := json.Marshal(job)
		if err != nil || !strings.Contains(string(text), `"--check=/dbc/scripts/check","--check=all"`) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

func TestABackupIsCompressedAsTheClusterAsks(t *testing.T) {
	o := idleWorld()
	args := func() string {
		text, err := json.Marshal(situationOf(started(), o).backupJob(0, 0, false))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := args(); strings.Contains(text, "--compression") {
		t.Errorf("without a field: %s", text)
	}
	o.Cluster.Spec.Backup = &dbv1.ClusterBackup{Compression: dbv1.BackupCompression{Level: protocol.MaxCompressionLevel, Threads: protocol.MaxCompressionThreads}}
	if text := args(); !strings.Contains(text, `"--compression-level","9","--compression-threads","4"`) {
		t.Errorf("with both fields: %s", text)
	}
}
