/*
SPDX-License-Identifier: Apache-2.0
*/

package requests_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

var now = time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)

func at(d time.Duration) *metav1.Time { return new(metav1.NewTime(now.Add(-d))) }

// orders is a cluster of a primary and two ready replicas.
func orders(edits ...func(*dbv1.DatabaseCluster)) *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	c.Spec.Replicas = 3
	c.Status.Primary = "orders-0"
	for i, role := range []dbv1.MemberRole{dbv1.RolePrimary, dbv1.RoleReplica, dbv1.RoleReplica} {
		pod := []string{"orders-0", "orders-1", "orders-2"}[i]
		c.Status.Members = append(c.Status.Members, dbv1.MemberStatus{Pod: pod, Ordinal: int32(i), Ready: true, Role: role, Volume: &dbv1.MemberVolumeStatus{Claim: "data-" + pod}})
	}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func deleting(c *dbv1.DatabaseCluster)   { c.DeletionTimestamp = at(0) }
func paused(c *dbv1.DatabaseCluster)     { c.Spec.Paused = true }
func hibernated(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true }
func notReady(c *dbv1.DatabaseCluster)   { c.Status.Members[1].Ready = false }
func alone(c *dbv1.DatabaseCluster) {
	c.Spec.Replicas, c.Status.Members = 1, c.Status.Members[:1]
}
func noRoles(c *dbv1.DatabaseCluster) {
	for i := range c.Status.Members {
		c.Status.Members[i].Role = ""
	}
}

// A request is the patch that the user would write, or a sentence why the operator would not execute it.
func TestARequestIsAPatchOrASentence(t *testing.T) {
	handOver := func(to string, lags map[string]int64) func(*dbv1.DatabaseCluster) (requests.Change, error) {
		return func(c *dbv1.DatabaseCluster) (requests.Change, error) { return requests.HandOver(c, to, lags, now) }
	}
	rebuild := func(name string) func(*dbv1.DatabaseCluster) (requests.Change, error) {
		return func(c *dbv1.DatabaseCluster) (requests.Change, error) { return requests.Rebuild(c, name, now) }
	}
	timed := func(f func(*dbv1.DatabaseCluster, time.Time) (requests.Change, error)) func(*dbv1.DatabaseCluster) (requests.Change, error) {
		return func(c *dbv1.DatabaseCluster) (requests.Change, error) { return f(c, now) }
	}
	sleep := func(c *dbv1.DatabaseCluster) (requests.Change, error) { return requests.Hibernate(c, true) }
	wake := func(c *dbv1.DatabaseCluster) (requests.Change, error) { return requests.Hibernate(c, false) }
	for name, c := range map[string]struct {
		cluster *dbv1.DatabaseCluster
		do      func(*dbv1.DatabaseCluster) (requests.Change, error)
		want    string
	}{
		"restart":                        {orders(), timed(requests.Restart), `{"metadata":{"annotations":{"database.dbcluster.io/restart":"2026-11-21T14:05:00Z"}}}`},
		"restart of a deleted cluster":   {orders(deleting), timed(requests.Restart), "DatabaseCluster orders is being deleted"},
		"restart of a paused cluster":    {orders(paused), timed(requests.Restart), "spec.paused is true"},
		"restart of a hibernated one":    {orders(hibernated), timed(requests.Restart), "kubectl dbc wake orders"},
		"restart with OnDelete":          {orders(func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete }), timed(requests.Restart), "delete the pods"},
		"rotate":                         {orders(), timed(requests.Rotate), `{"metadata":{"annotations":{"database.dbcluster.io/rotate-credentials":"2026-11-21T14:05:00Z"}}}`},
		"rotate your own Secret":         {orders(func(c *dbv1.DatabaseCluster) { c.Spec.Credentials.SecretName = "mine" }), timed(requests.Rotate), "your Secret mine"},
		"renew":                          {orders(func(c *dbv1.DatabaseCluster) { c.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}} }), timed(requests.RenewCertificate), `"database.dbcluster.io/renew-certificate":"2026`},
		"renew without TLS":              {orders(), timed(requests.RenewCertificate), "only with spec.tls.selfSigned"},
		"hibernate":                      {orders(), sleep, `{"spec":{"hibernated":true}}`},
		"hibernate twice":                {orders(hibernated), sleep, "spec.hibernated is true already"},
		"wake":                           {orders(hibernated), wake, `{"spec":{"hibernated":false}}`},
		"wake a paused cluster":          {orders(hibernated, paused), wake, "spec.paused is true"},
		"wake what runs":                 {orders(), wake, "spec.hibernated is false already"},
		"hand over to a pod":             {orders(), handOver("orders-2", nil), `"database.dbcluster.io/hand-over":"orders-2/2026-11-21T14:05:00Z"`},
		"hand over to an ordinal":        {orders(), handOver("1", nil), `"database.dbcluster.io/hand-over":"orders-1/2026`},
		"hand over to the least lag":     {orders(), handOver("", map[string]int64{"orders-1": 9, "orders-2": 3}), `hand-over":"orders-2/`},
		"hand over to a known lag":       {orders(), handOver("", map[string]int64{"orders-2": 3}), `hand-over":"orders-2/`},
		"hand over without lags":         {orders(), handOver("", nil), `hand-over":"orders-1/`},
		"hand over past one not ready":   {orders(notReady), handOver("", nil), `hand-over":"orders-2/`},
		"hand over to the primary":       {orders(), handOver("orders-0", nil), "member orders-0 is the primary already"},
		"hand over to one not ready":     {orders(notReady), handOver("orders-1", nil), "member orders-1 is not ready"},
		"hand over to another cluster's": {orders(), handOver("billing-1", nil), "has no member billing-1: its members are orders-0, orders-1, orders-2"},
		"hand over without roles":        {orders(noRoles), handOver("orders-1", nil), "no member reports a role"},
		"hand over without members":      {orders(func(c *dbv1.DatabaseCluster) { c.Status.Members = nil }), handOver("", nil), "no member reports a role"},
		"rebuild":                        {orders(), rebuild("2"), `"database.dbcluster.io/rebuild":"orders-2/2026`},
		"rebuild a protected cluster":    {orders(func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true }), rebuild("2"), "spec.deletion.protection is true"},
		"rebuild the only member":        {orders(alone), rebuild("0"), "no other member has the data of member orders-0"},
		"rebuild without members":        {orders(func(c *dbv1.DatabaseCluster) { c.Status.Members = nil }), rebuild("2"), "has no members now"},
	} {
		t.Run(name, func(t *testing.T) {
			change, err := c.do(c.cluster)
			got := string(change.Patch)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if err == nil && change.Effect == "" {
				t.Error("it has no effect")
			}
			if err == nil && !strings.Contains(change.Effect, " asks ") {
				t.Errorf("the operator can still refuse it: %q", change.Effect)
			}
		})
	}
}

// A restart and a hand-over end connections, and clients may have the previous passwords.
func TestAChangeThatClientsNoticeOrThatDeletesDataIsConfirmed(t *testing.T) {
	certified := orders(func(c *dbv1.DatabaseCluster) { c.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}} })
	change := func(c requests.Change, err error) requests.Change {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, c := range map[string]struct {
		change requests.Change
		risk   string
	}{
		"rebuild":   {change(requests.Rebuild(orders(), "orders-1", now)), "PersistentVolumeClaim data-orders-1"},
		"hibernate": {change(requests.Hibernate(orders(), true)), "No client can connect"},
		"restart":   {change(requests.Restart(orders(), now)), "Each of the 3 members restarts"},
		"hand over": {change(requests.HandOver(orders(), "1", nil, now)), "Connections to member orders-0 end, and writes fail until member orders-1"},
		"rotate":    {change(requests.Rotate(orders(), now)), "new passwords"},
		"wake":      {change(requests.Hibernate(orders(hibernated), false)), ""},
		"renew":     {change(requests.RenewCertificate(certified, now)), ""},
	} {
		if got := c.change.Risk; !strings.Contains(got, c.risk) || (got == "") != (c.risk == "") {
			t.Errorf("%s: got %q, want %q", name, got, c.risk)
		}
	}
}

func TestAChangeIsACommandOfKubectl(t *testing.T) {
	handOver, _ := requests.HandOver(orders(), "1", nil, now)
	if got, want := handOver.Command("shop", "databasecluster/orders"), "kubectl -n shop annotate databasecluster/orders database.dbcluster.io/hand-over=orders-1/2026-11-21T14:05:00Z --overwrite"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	sleep, _ := requests.Hibernate(orders(), true)
	if got, want := sleep.Command("shop", "databasecluster/orders"), `kubectl -n shop patch databasecluster/orders --type=merge -p '{"spec":{"hibernated":true}}'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func backup(name, cluster string, phase dbv1.BackupPhase, completed *metav1.Time) dbv1.DatabaseBackup {
	b := dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: dbv1.DatabaseBackupSpec{Cluster: cluster}}
	b.Status.Phase, b.Status.CompletionTime = phase, completed
	if completed != nil {
		b.CreationTimestamp = metav1.NewTime(completed.Add(-time.Minute))
	} else {
		b.CreationTimestamp = *at(0)
	}
	return b
}

func all() []dbv1.DatabaseBackup {
	old, young := backup("old", "orders", dbv1.BackupCompleted, at(48*time.Hour)), backup("young", "orders", dbv1.BackupCompleted, at(2*time.Hour))
	old.Status.Verification = &dbv1.BackupVerification{Phase: dbv1.VerificationFailed, Message: "the copy did not answer"}
	young.Status.Verification = &dbv1.BackupVerification{Phase: dbv1.VerificationSucceeded}
	young.Status.Origin = &dbv1.BackupOrigin{Schedule: "nightly"}
	young.Status.Size, young.Status.StoredBytes, young.Status.Duration = "5.0 GiB", 1<<30, "2m30s"
	failed := backup("failed", "orders", dbv1.BackupFailed, nil)
	failed.Status.Message = "the bucket does not exist"
	return []dbv1.DatabaseBackup{old, young, failed, backup("other", "billing", "", nil)}
}

func TestTheNewestCompleteBackupIsVerified(t *testing.T) {
	for want, name := range map[string]string{
		"young": "", "old": "old", "DatabaseBackup failed is not complete": "failed", "has no DatabaseBackup other": "other",
	} {
		got, change, err := requests.Verify(orders(), all(), name, now)
		said := got.Name
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) || err == nil && change.Annotation != dbv1.AnnotationVerify {
			t.Errorf("%q: got %s, want %s", name, said, want)
		}
	}
	if _, _, err := requests.Verify(orders(), nil, "", now); err == nil || !strings.Contains(err.Error(), "kubectl dbc backup orders creates one") {
		t.Errorf("got %v", err)
	}
}

func TestABackupHasTheNameOfTheClusterAndTheTime(t *testing.T) {
	withBackup := orders(func(c *dbv1.DatabaseCluster) { c.Spec.Backup = &dbv1.ClusterBackup{} })
	made, err := requests.Backup(withBackup, "", dbv1.BackupRetain, now)
	if err != nil || made.Name != "orders-20261121-140500" || made.Namespace != "shop" || made.Spec.Cluster != "orders" {
		t.Errorf("got %+v, %v", made, err)
	}
	if _, err := requests.Backup(orders(), "", dbv1.BackupRetain, now); err == nil || !strings.Contains(err.Error(), "set spec.backup.destination") {
		t.Errorf("got %v", err)
	}
	if _, err := requests.Backup(withBackup, "", "Keep", now); err == nil || !strings.Contains(err.Error(), "Retain or Delete") {
		t.Errorf("got %v", err)
	}
}

func TestBackupsAreListedNewestFirst(t *testing.T) {
	golden.Text(t, "backups", requests.Table(requests.Of("orders", all()), now, false))
	if others := requests.Of("", all()); len(others) != 4 || others[0].Name != "other" {
		t.Errorf("got %d", len(others))
	}
}

func TestTheResultOfARequestIsInTheStatus(t *testing.T) {
	rotate, _ := requests.Rotate(orders(), now)
	sleep, _ := requests.Hibernate(orders(), true)
	status := "See the result: kubectl dbc -n shop status orders"
	if got := rotate.Look("shop", "orders"); !strings.HasPrefix(got, status+" shows the request") || !strings.HasSuffix(got, "kubectl -n shop get databasecluster orders -o jsonpath='{.status.requests}'") {
		t.Errorf("got %q", got)
	}
	if got := sleep.Look("shop", "orders"); got != status {
		t.Errorf("got %q", got)
	}
}
