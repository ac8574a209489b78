//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/engines"
)

// awaitAccepted waits until the operator has reported whether it accepts an engine.
func awaitAccepted(t *testing.T, e *dbv1.DatabaseEngine, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	var found *metav1.Condition
	await(t, e, fmt.Sprintf("%s to be Accepted=%s (%s)", e.Name, status, reason), func() bool {
		found = meta.FindStatusCondition(e.Status.Conditions, dbv1.ConditionAccepted)
		return found != nil && found.Status == status && found.Reason == reason &&
			found.ObservedGeneration == e.Generation && e.Status.ObservedGeneration == e.Generation
	})
	return *found
}

// written returns the requests of the shared operator that write to an engine.
func written(e *dbv1.DatabaseEngine) []string {
	return slices.DeleteFunc(requests.since(0), func(request string) bool {
		return strings.HasPrefix(request, "GET ") || !strings.Contains(request+"/", "/databaseengines/"+e.Name+"/")
	})
}

func TestTheBuiltInEnginesAreAccepted(t *testing.T) {
	parallel(t)
	objects, err := engines.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		awaitAccepted(t, &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: object.GetName()}}, "True", dbv1.ReasonAccepted)
	}
}

func TestAValidEngineIsAcceptedAndAnInvalidOneReportsTheErrorOfItsCluster(t *testing.T) {
	parallel(t)
	good, wrong := ledger(t, "good-v1"), ledger(t, "wrong-v1")
	wrong.Spec.Actions.Backup.Command = []string{"/dbc/scripts/bakcup"}
	wrong.Spec.Container.Args = []string{"--cache=$(DBC_PARAM_CASH)"}
	create(t, good)
	create(t, wrong)
	awaitAccepted(t, good, "True", dbv1.ReasonAccepted)
	message := awaitAccepted(t, wrong, "False", dbv1.ReasonInvalidEngine).Message
	mustContain(t, message, "DatabaseEngine wrong-v1 is invalid: spec.container.args[0] refers to $(DBC_PARAM_CASH)",
		`spec.actions.backup.command[0] is "/dbc/scripts/bakcup", but spec.scripts has no "bakcup"; it has backup`, "Create a corrected DatabaseEngine")
	if output, err := kubectl(t, "", "get dbe --no-headers good-v1 wrong-v1"); err != nil || !regexp.MustCompile(`good-v1 +True .*\nwrong-v1 +False `).MatchString(output) {
		t.Errorf("%v: %s", err, output)
	}

	cluster := created(t, func(c *dbv1.DatabaseCluster) {
		leavesItTo("wrong-v1")(c)
		c.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "file:///backups", ClaimName: "backups"}}
	})
	create(t, secretWith(cluster, "password"))
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonInvalidEngine, message)
	if got := uids(t, cluster); len(got) > 0 {
		t.Errorf("members %v exist, although they cannot run", got)
	}
	change(t, cluster, leavesItTo("good-v1"))
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
}

func TestTheStatusOfAnEngineIsWrittenOnceAndOtherWritersAreRespected(t *testing.T) {
	e := ledger(t, "once-v1")
	create(t, e)
	accepted := awaitAccepted(t, e, "True", dbv1.ReasonAccepted)
	// Another operator version reports a different condition, and the user adds a label: this operator must not write
	// again.
	other := accepted
	other.Status, other.Reason, other.Message = "False", "Unsupported", "a newer operator knows better"
	meta.SetStatusCondition(&e.Status.Conditions, other)
	if err := admin.Status().Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	change(t, e, func(e *dbv1.DatabaseEngine) { e.Labels = map[string]string{"team": "ledger"} })
	// The operator handles a later engine only after all of these changes.
	later := ledger(t, "later-v1")
	create(t, later)
	awaitAccepted(t, later, "True", dbv1.ReasonAccepted)
	if got := written(e); len(got) != 1 || !strings.HasSuffix(got[0], "/databaseengines/once-v1/status") {
		t.Errorf("the operator wrote %q", got)
	}
	awaitAccepted(t, e, "False", "Unsupported")
}
