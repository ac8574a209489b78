/*
SPDX-License-Identifier: Apache-2.0
*/

package why_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

func userWith(conditions ...metav1.Condition) why.Object {
	u := &dbv1.DatabaseUser{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "billing", Generation: 2}}
	u.Spec.ClusterRef.Name, u.Status.ObservedGeneration, u.Status.Conditions = "orders", 2, conditions
	return why.OfUser(u)
}

func databaseWith(conditions ...metav1.Condition) why.Object {
	d := &dbv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "invoices"}}
	d.Spec.ClusterRef.Name, d.Status.Conditions = "orders", conditions
	return why.OfDatabase(d)
}

func backupWith(name string, minutes int, phase dbv1.BackupPhase, message string, conditions ...metav1.Condition) dbv1.DatabaseBackup {
	b := dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	b.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC))
	b.Spec.Cluster, b.Status.Phase, b.Status.Message, b.Status.Conditions = "orders", phase, message, conditions
	return b
}

var calm = is("Stalled", "False", "NotStalled", "no action required")

func TestEachKindHasACause(t *testing.T) {
	restore := &dbv1.DatabaseRestore{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "yesterday"}}
	restore.Status.Conditions = []metav1.Condition{is("Stalled", "True", "RestoreFailed", "no archive")}
	retries := backupWith("first", 0, dbv1.BackupRunning, "Kubernetes retries Job orders-backup-1: connection refused", calm)
	for name, c := range map[string]struct {
		object  why.Object
		verdict why.Verdict
		text    string
		page    string
		command string
	}{
		"a user in the database": {userWith(is("Ready", "True", "InDatabase", "as declared"), calm), why.Healthy, "DatabaseUser billing: Ready is True (InDatabase): as declared", "", ""},
		"a user that exists already": {userWith(is("Ready", "False", "ObjectExists", "it exists"), is("Stalled", "True", "ObjectExists", "it exists")), why.Unhealthy,
			"DatabaseUser billing: Stalled is True (ObjectExists): it exists", "databases-and-users.md#what-the-operator-does", "kubectl -n shop describe databaseuser billing"},
		"a password that is missing": {userWith(is("Stalled", "True", "PasswordMissing", "no Secret")), why.Unhealthy, "PasswordMissing", "databases-and-users.md#passwords", "describe databaseuser billing"},
		"a user that waits":          {userWith(is("Ready", "False", "ObjectPending", "a Job puts it in force"), calm), why.Unhealthy, "Ready is False (ObjectPending)", "databases-and-users.md#what-the-operator-does", "kubectl dbc -n shop status orders"},
		"a user that failed":         {userWith(is("Ready", "False", "ObjectFailed", "disk full"), calm), why.Unhealthy, "disk full", "databases-and-users.md#what-the-operator-does", "component=objects"},
		"a database that drifted":    {databaseWith(is("Ready", "False", "ObjectDrifted", "another owner"), calm), why.Unhealthy, "Database invoices: Ready is False (ObjectDrifted)", "databases-and-users.md#what-the-operator-does", "kubectl -n shop describe database invoices"},
		"a database created again":   {databaseWith(is("Ready", "True", "CreatedAgain", "created again, empty"), calm), why.Unhealthy, "Database invoices: Ready is True (CreatedAgain): created again, empty", "databases-and-users.md#what-the-operator-does", "kubectl -n shop describe database invoices"},
		"an engine without users":    {databaseWith(is("Stalled", "True", "ActionMissing", "no action")), why.Unhealthy, "ActionMissing", "troubleshooting.md#the-engine-refuses-the-spec", "describe database invoices"},
		"an object not observed yet": {userWith(), why.Unknown, "DatabaseUser billing: the operator has not reported any condition of it", "troubleshooting.md#the-operator-itself", "logs deployment/"},
		"a backup that is retried":   {why.OfBackup(&retries), why.Unhealthy, "DatabaseBackup first: Kubernetes retries Job", "troubleshooting.md#a-backup-fails", "component=backup"},
		"a restore that needs you":   {why.OfRestore(restore), why.Unhealthy, "DatabaseRestore yesterday: Stalled is True (RestoreFailed)", "troubleshooting.md#a-restore-waits", "describe databaserestore yesterday"},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, cause := c.object.Explain()
			if verdict != c.verdict || !strings.Contains(cause.Sentence(), c.text) || cause.Page != c.page || !strings.Contains(cause.Command, c.command) {
				t.Errorf("got %d, %q, %s, %s", verdict, cause.Sentence(), cause.Page, cause.Command)
			}
		})
	}
}

func TestAStatusOfAnotherGenerationOfAnObjectIsUnknown(t *testing.T) {
	o := userWith(is("Ready", "True", "InDatabase", ""))
	o.Generation = 3
	if verdict, cause := o.Explain(); verdict != why.Unknown || !strings.Contains(cause.Sentence(), "generation 3") {
		t.Errorf("got %d, %q", verdict, cause.Sentence())
	}
}

// A backup that failed before a newer one succeeded needs no attention.
func TestOnlyTheNewestBackupAndThoseThatRunCount(t *testing.T) {
	failed := is("Stalled", "True", "BackupFailed", "it failed")
	blocked := is("Stalled", "True", "JobBlocked", "wrong keys")
	all := []dbv1.DatabaseBackup{backupWith("old", 1, dbv1.BackupFailed, "", failed), backupWith("new", 2, dbv1.BackupCompleted, "", calm)}
	if cause, found := why.Together(clusterWith(ready), why.Current(all)); found {
		t.Errorf("got %q", cause.Sentence())
	}
	all = append(all, backupWith("running", 0, dbv1.BackupRunning, "", blocked))
	if cause, found := why.Together(clusterWith(ready), why.Current(all)); !found || cause.About != "DatabaseBackup running" || cause.Page != "troubleshooting.md#a-job-is-blocked" {
		t.Errorf("got %q", cause.Sentence())
	}
	if cause, found := why.Together(clusterWith(ready), why.Current(all[:1])); !found || cause.Reason != "BackupFailed" {
		t.Errorf("got %q", cause.Sentence())
	}
}

func TestTheTextHasThePageAndTheCommandOfAProblemOnly(t *testing.T) {
	_, healthy := userWith(is("Ready", "True", "InDatabase", "as declared")).Explain()
	if got := healthy.Text("https://example.test/"); got != "DatabaseUser billing: Ready is True (InDatabase): as declared\n" {
		t.Errorf("got %q", got)
	}
	_, cause := why.Explain(clusterWith(ready, old))
	want := "BackupHealthy is False (BackupOverdue): the newest backup is 30h old\nPage:    https://example.test/runbooks/DatabaseClusterBackupUnhealthy.md\n" +
		"Command: kubectl dbc -n shop backups orders\n"
	if got := cause.Text("https://example.test/"); got != want {
		t.Errorf("got %q", got)
	}
}

func TestTheNumberOfOtherObjectsIsPartOfTheCause(t *testing.T) {
	failed, fine := is("Ready", "False", "ObjectFailed", "disk full"), is("Ready", "True", "InDatabase", "as declared")
	for others, objects := range map[int][]why.Object{0: {userWith(failed), userWith(fine)}, 2: {userWith(waiting), userWith(failed), databaseWith(failed), userWith(fine)}} {
		cause, found := why.Together(clusterWith(ready), objects)
		line := "Others:  2 more of its objects need attention: kubectl dbc -n shop status orders\n"
		if text := cause.Text(""); !found || cause.Others != others || strings.HasSuffix(text, line) != (others == 2) || strings.Contains(text, "Others") != (others == 2) {
			t.Errorf("%d: got %d, %q", others, cause.Others, text)
		}
	}
}
