/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func user(name string, changes ...func(*dbv1.DatabaseUser)) *dbv1.DatabaseUser {
	u := &dbv1.DatabaseUser{}
	u.Name, u.UID, u.CreationTimestamp = name, types.UID("uid-of-"+name), plans.Ago(time.Hour)
	u.Spec.ClusterRef.Name, u.Spec.Name = "orders", name
	u.Status.PasswordVersion = "7"
	for _, change := range changes {
		change(u)
	}
	return u
}

func deletes(u *dbv1.DatabaseUser) {
	u.Spec.ReclaimPolicy, u.Finalizers = dbv1.ReclaimDelete, []string{dbv1.Finalizer}
}

func deleted(u *dbv1.DatabaseUser) {
	at := plans.Ago(0)
	u.DeletionTimestamp = &at
}

func all(users ...*dbv1.DatabaseUser) (declared []accounts.Declared) {
	for _, u := range users {
		declared = append(declared, accounts.OfUser(u))
	}
	return declared
}

// seen is a cluster whose engine knows users, with these facts.
func seen(t *testing.T, facts accounts.Facts, changes ...func(*state.Observed)) *situation.Situation {
	t.Helper()
	cluster := plans.Orders()
	o := plans.Standing(t, cluster)
	o.Engine = &dbv1.DatabaseEngine{}
	o.Engine.Spec.Actions.Objects = &dbv1.EngineObjects{Command: []string{"/dbc/scripts/objects"}, PasswordKey: "password"}
	cluster.Spec.Engine = "any"
	facts.Image = "operator:1"
	for _, change := range changes {
		change(&o)
	}
	state.Put(&o, facts)
	return situation.Of(cluster, o)
}

// started returns the Job that a pass starts; nil for none.
func started(s *situation.Situation) *accounts.Start {
	for _, o := range accounts.Subject.Decide(s).Operations {
		if start, is := o.(accounts.Start); is {
			return &start
		}
	}
	return nil
}

// knowing is a Job that has ended with these answers, and knows these objects, as it was started for them.
func knowing(t *testing.T, ago time.Duration, declared []accounts.Declared, answers ...protocol.ObjectAnswer) accounts.ObjectsRun {
	t.Helper()
	start := started(seen(t, accounts.Facts{Declared: declared}))
	if start == nil {
		t.Fatal("no Job starts")
	}
	run, results := accounts.ObjectsRun{Occasion: start.Occasion}, ""
	for _, d := range start.Declared {
		run.Versions = append(run.Versions, accounts.Version{ID: d.ID(), Content: d.Version(), Held: d.Held()})
		results += string(letter(d.ID(), answers))
	}
	given := &protocol.ObjectAnswers{Results: results, Answers: answers}
	run.Job = jobs.Job{Name: "j", UID: "j", Succeeded: true, EndTime: plans.Ago(ago), Result: &protocol.Result{Objects: given}}
	return run
}

func letter(id string, answers []protocol.ObjectAnswer) byte {
	result := protocol.ObjectDone
	for _, a := range answers {
		if a.ID == id {
			result = a.Result
		}
	}
	letter, _ := result.Letter()
	return letter
}

func TestAJobStartsWhenItIsNeeded(t *testing.T) {
	one := all(user("a"))
	failed := protocol.ObjectAnswer{ID: "uid-of-a", Result: protocol.ObjectFailed}
	running := knowing(t, 0, one)
	running.Succeeded, running.Active = false, true
	for name, c := range map[string]struct {
		facts  accounts.Facts
		is     func(*state.Observed)
		starts bool
	}{
		"the first object":               {accounts.Facts{Declared: one}, nil, true},
		"no object":                      {accounts.Facts{}, nil, false},
		"a Job knows it":                 {accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{knowing(t, time.Minute, one)}}, nil, false},
		"its result is old":              {accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{knowing(t, time.Hour, one)}}, nil, true},
		"another object":                 {accounts.Facts{Declared: all(user("a"), user("b")), Jobs: []accounts.ObjectsRun{knowing(t, time.Minute, one)}}, nil, true},
		"another object, while one runs": {accounts.Facts{Declared: all(user("a"), user("b")), Jobs: []accounts.ObjectsRun{running}}, nil, false},
		"another password": {accounts.Facts{Declared: all(user("a", func(u *dbv1.DatabaseUser) { u.Status.PasswordVersion = "8" })),
			Jobs: []accounts.ObjectsRun{knowing(t, time.Minute, one)}}, nil, true},
		"an object that failed, soon":  {accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{knowing(t, time.Minute, one, failed)}}, nil, false},
		"an object that failed, later": {accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{knowing(t, 10*time.Minute, one, failed)}}, nil, true},
		"no member serves":             {accounts.Facts{Declared: one}, func(o *state.Observed) { o.Members = nil }, false},
		"the Secret is not there":      {accounts.Facts{Declared: all(user("a", func(u *dbv1.DatabaseUser) { u.Status.PasswordVersion = "" }))}, nil, false},
		"without the finalizer":        {accounts.Facts{Declared: all(user("a", func(u *dbv1.DatabaseUser) { u.Spec.ReclaimPolicy = dbv1.ReclaimDelete }))}, nil, false},
		"with the finalizer":           {accounts.Facts{Declared: all(user("a", deletes))}, nil, true},
		"a deletion that retains":      {accounts.Facts{Declared: all(user("a", deleted))}, nil, false},
		"a deletion that deletes":      {accounts.Facts{Declared: all(user("a", deletes, deleted)), Jobs: []accounts.ObjectsRun{knowing(t, time.Minute, all(user("a", deletes)))}}, nil, true},
		"the engine knows no objects":  {accounts.Facts{Declared: one}, func(o *state.Observed) { o.Engine.Spec.Actions.Objects = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			changes := []func(*state.Observed){}
			if c.is != nil {
				changes = append(changes, c.is)
			}
			if start := started(seen(t, c.facts, changes...)); (start != nil) != c.starts {
				t.Errorf("got %v", start)
			}
		})
	}
}

// The node of its pod does not respond, so no condition of the Job shows that it has failed.
func TestAJobThatIsLostStopsNoOther(t *testing.T) {
	one := all(user("a"))
	lost := knowing(t, 0, one)
	began := plans.Ago(time.Hour)
	lost.Succeeded, lost.Failing, lost.StartTime, lost.EndTime, lost.Result = false, true, &began, metav1.Time{}, nil
	s := seen(t, accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{lost}})
	status := s.Cluster.Status.DeepCopy()
	accounts.Subject.Decide(s).Report(subject.Executed{}, status)
	if started(s) == nil || status.Objects == nil || status.Objects.Message == "" {
		t.Errorf("status %+v", status.Objects)
	}
}

// A deletion in the foreground waits for the pod, whose node may not respond.
func TestAJobThatIsDeletedWithoutEndStopsNoOther(t *testing.T) {
	one := all(user("a"))
	ending := knowing(t, 0, one)
	for ago, starts := range map[time.Duration]bool{time.Minute: false, time.Hour: true} {
		began := plans.Ago(ago)
		ending.Succeeded, ending.Ending, ending.StartTime, ending.EndTime, ending.Result = false, true, &began, metav1.Time{}, nil
		s := seen(t, accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{ending}})
		if d := accounts.Subject.Decide(s); (started(s) != nil) != starts || !starts && d.RequeueAfter != 14*time.Minute {
			t.Errorf("after %s: %v, again after %s", ago, d.Operations, d.RequeueAfter)
		}
	}
}

// A node that is removed takes the pod with it, and so the result.
func TestAResultIsKnownAfterThePodOfItsJobIsDeleted(t *testing.T) {
	one := all(user("a"))
	run := knowing(t, 30*time.Minute, one)
	run.Result = nil
	s := seen(t, accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{run}})
	before := &dbv1.ClusterObjectsStatus{JobUID: "j", Results: "."}
	s.Cluster.Status.Objects = before
	status := s.Cluster.Status.DeepCopy()
	accounts.Subject.Decide(s).Report(subject.Executed{}, status)
	if started(s) != nil || status.Objects.Message != "" {
		t.Errorf("status %+v", status.Objects)
	}
}

func TestAUserThatIsOnlyCheckedGetsItsNewPassword(t *testing.T) {
	u := user("a", func(u *dbv1.DatabaseUser) { u.Spec.Drift = dbv1.DriftReport })
	modes := []protocol.ObjectMode{accounts.OfUser(u).Mode()}
	u.Status.Applied = accounts.OfUser(u).Content()
	modes = append(modes, accounts.OfUser(u).Mode())
	u.Status.PasswordVersion = "8"
	modes = append(modes, accounts.OfUser(u).Mode())
	if want := []protocol.ObjectMode{protocol.ApplyObject, protocol.CheckObject, protocol.ApplyObject}; !slices.Equal(modes, want) {
		t.Errorf("%v, want %v", modes, want)
	}
}

func TestOfTwoObjectsOfOneNameTheOlderOneCounts(t *testing.T) {
	younger := user("b", func(u *dbv1.DatabaseUser) { u.Spec.Name, u.CreationTimestamp = "a", plans.Ago(time.Minute) })
	start := started(seen(t, accounts.Facts{Declared: all(younger, user("a"))}))
	if start == nil || len(start.Declared) != 1 || start.Declared[0].ID() != "uid-of-a" {
		t.Errorf("%+v", start)
	}
}

func TestJobsThatANewerOneReplacesAreDeleted(t *testing.T) {
	one := all(user("a"))
	old, last := knowing(t, 2*time.Hour, one), knowing(t, time.Minute, one)
	old.Name, old.UID = "old", "old"
	d := accounts.Subject.Decide(seen(t, accounts.Facts{Declared: one, Jobs: []accounts.ObjectsRun{old, last}}))
	if len(d.Operations) != 1 || !strings.Contains(d.Operations[0].String(), "delete Job old") {
		t.Errorf("%v", d.Operations)
	}
}

// judged is the verdict about a user after a run.
func judged(t *testing.T, u *dbv1.DatabaseUser, run accounts.ObjectsRun, others ...*dbv1.DatabaseUser) accounts.Verdict {
	t.Helper()
	declared := all(append(others, u)...)
	s := seen(t, accounts.Facts{Declared: declared, Jobs: []accounts.ObjectsRun{run}})
	status := s.Cluster.Status.DeepCopy()
	accounts.Subject.Decide(s).Report(subject.Executed{}, status)
	cluster := s.Cluster.DeepCopy()
	cluster.Status = *status
	texts := make([]string, 0, len(run.Versions))
	for _, v := range run.Versions {
		texts = append(texts, v.String())
	}
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "j", Annotations: map[string]string{dbv1.AnnotationObjects: strings.Join(texts, " ")}}}
	return accounts.Judge(accounts.OfUser(u), accounts.Seen{Cluster: cluster, Engine: s.Engine, All: declared, Jobs: []batchv1.Job{job}})
}

func TestAnObjectIsReadyOnlyIfARunKnowsItAsItIs(t *testing.T) {
	answer := func(result protocol.ObjectResult, text string) []protocol.ObjectAnswer {
		return []protocol.ObjectAnswer{{ID: "uid-of-a", Result: result, Message: text}}
	}
	run := func(answers []protocol.ObjectAnswer) accounts.ObjectsRun {
		return knowing(t, time.Minute, all(user("a")), answers...)
	}
	held := func(u *dbv1.DatabaseUser) { u.Status.Applied = accounts.OfUser(user("a")).Content() }
	failed := run(nil)
	failed.Succeeded, failed.Failed, failed.Failure = false, true, "why"
	more := run(answer(protocol.ObjectRefused, "why"))
	more.Result.Objects.Answers = nil
	for want, c := range map[string]struct {
		user *dbv1.DatabaseUser
		run  accounts.ObjectsRun
	}{
		"true false InDatabase: DatabaseCluster orders has it as declared":                           {user("a"), run(nil)},
		"true false InDatabase: DatabaseCluster orders has it as declared; the last change: created": {user("a"), run(answer(protocol.ObjectDone, "created"))},
		"true false InDatabase: DatabaseCluster orders has it as declared; the last change: created; granted": {
			user("a", held), run(answer(protocol.ObjectCreated, "created; granted"))},
		"true false CreatedAgain: DatabaseCluster orders has it as declared, but did not have it before the last run": {
			user("a", held), knowing(t, time.Minute, all(user("a", held)), answer(protocol.ObjectCreated, "created")...)},
		"false false ObjectDrifted: a client or a restore has changed it: it is a superuser": {user("a"), run(answer(protocol.ObjectDrifted, "it is a superuser"))},
		"false true ObjectExists: the database has an object of this name":                   {user("a"), run(answer(protocol.ObjectExists, ""))},
		"false true ObjectRefused: why":                                                      {user("a"), run(answer(protocol.ObjectRefused, "why"))},
		"false false ObjectFailed: why. The operator retries":                                {user("a"), run(answer(protocol.ObjectFailed, "why"))},
		"false false ObjectFailed: the last run of the action objects failed: why":           {user("a"), failed},
		"false true ObjectRefused: there was no room for the cause: see the log of Job j":    {user("a"), more},
		"false false ObjectPending: DatabaseCluster orders does not accept writes yet":       {user("a", func(u *dbv1.DatabaseUser) { u.Status.PasswordVersion = "8" }), run(nil)},
		"false false ObjectPending: a restore has replaced the data of DatabaseCluster orders. The next Job looks for it there": {
			user("a"), accounts.ObjectsRun{Job: run(nil).Job, Versions: run(nil).Versions, Occasion: "data-0-before.0"}},
		"true false InDatabase: as before":                                                   {before(user("a")), accounts.ObjectsRun{}},
		"false true NameTaken: DatabaseUser a, which is older, declares the name \"a\", too": {user("z", func(u *dbv1.DatabaseUser) { u.Spec.Name, u.CreationTimestamp = "a", plans.Ago(0) }), run(nil)},
	} {
		others := []*dbv1.DatabaseUser{}
		if c.user.Name == "z" {
			others = append(others, user("a"))
		}
		v := judged(t, c.user, c.run, others...)
		got := map[bool]string{true: "true ", false: "false "}[v.Ready] + map[bool]string{true: "true ", false: "false "}[v.Stalled] + v.Reason + ": " + v.Message
		if !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAJobKnowsVersionsByItsAnnotation(t *testing.T) {
	all := []accounts.Version{{ID: "a", Content: "1"}, {ID: "b", Content: "2-removed", Held: true}, {ID: "c", Content: "3", LeftOut: true}}
	texts := []string{}
	for _, v := range all {
		texts = append(texts, v.String())
	}
	if got := accounts.VersionsOf(map[string]string{dbv1.AnnotationObjects: strings.Join(texts, " ")}); !slices.Equal(got, all) {
		t.Errorf("got %+v, want %+v", got, all)
	}
}

// The result of a Job has at most 4 KiB, so a dozen long messages fill it.
func TestProblemsOfOtherObjectsDoNotMakeOneNotReady(t *testing.T) {
	answers := []protocol.ObjectAnswer{{ID: "uid-of-0", Result: protocol.ObjectFailed}, {ID: "uid-of-b", Result: protocol.ObjectRefused}}
	run := knowing(t, time.Minute, all(user("0"), user("a"), user("b")), answers...)
	run.Result.Objects.Answers = nil
	for name, ready := range map[string]bool{"0": false, "a": true, "b": false} {
		others := slices.DeleteFunc([]*dbv1.DatabaseUser{user("0"), user("a"), user("b")}, func(u *dbv1.DatabaseUser) bool { return u.Name == name })
		if v := judged(t, user(name), run, others...); v.Ready != ready {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestAJobGetsAsManyObjectsAsFitAndDeletionsFirst(t *testing.T) {
	users := []*dbv1.DatabaseUser{}
	for i := range 1100 {
		users = append(users, user(fmt.Sprintf("u%04d", i), func(u *dbv1.DatabaseUser) { u.CreationTimestamp = plans.Ago(time.Hour - time.Duration(i)*time.Second) }))
	}
	deletes(users[1099])
	deleted(users[1099])
	s := seen(t, accounts.Facts{Declared: all(users...)})
	status := s.Cluster.Status.DeepCopy()
	accounts.Subject.Decide(s).Report(subject.Executed{}, status)
	start := started(s)
	if len(start.Declared) != 1000 || start.Declared[0].Name != "u1099" || status.Objects == nil || !strings.Contains(status.Objects.Waiting, "has 1100 databases and users") {
		t.Errorf("%d, first %s, %+v", len(start.Declared), start.Declared[0].Name, status.Objects)
	}
	long := strings.Repeat("\"", 250)
	for _, u := range users {
		for i := range 8 {
			u.Spec.Databases = append(u.Spec.Databases, dbv1.DatabaseUserGrant{Name: fmt.Sprint(long, i), Privileges: []string{"owner"}})
		}
	}
	if start := started(seen(t, accounts.Facts{Declared: all(users...)})); len(start.Declared) == 0 || len(start.Declared) > 250 {
		t.Errorf("%d", len(start.Declared))
	}
}

func TestWhatPreventsAJobIsInTheStatusUntilItIsCorrected(t *testing.T) {
	paused := seen(t, accounts.Facts{Declared: all(user("a"))})
	paused.Cluster.Spec.Paused = true
	status := paused.Cluster.Status.DeepCopy()
	accounts.Subject.Decide(paused).Report(subject.Executed{}, status)
	if started(paused) != nil || status.Objects == nil || !strings.Contains(status.Objects.Waiting, "spec.paused") {
		t.Errorf("%+v", status.Objects)
	}
	accounts.Subject.Decide(seen(t, accounts.Facts{Declared: all(user("a"))})).Report(subject.Executed{}, status)
	if status.Objects != nil {
		t.Errorf("%+v", status.Objects)
	}
}

// before lets a user be ready because of a Job that does not exist any more.
func before(u *dbv1.DatabaseUser) *dbv1.DatabaseUser {
	u.Status.Version, u.Status.ClusterUID = accounts.OfUser(u).Version(), plans.UID
	u.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionReady, Status: metav1.ConditionTrue, Reason: dbv1.ReasonInDatabase, Message: "as before"}}
	return u
}

// A script may not take null for a list.
func TestADocumentHasAListOfEachKind(t *testing.T) {
	d := &dbv1.Database{}
	d.Name, d.UID, d.Spec.ClusterRef.Name, d.Spec.Name = "shop", "uid-of-shop", "orders", "shop"
	for _, declared := range [][]accounts.Declared{{accounts.OfDatabase(d)}, all(user("a"))} {
		text, err := json.Marshal(accounts.Document(declared))
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
