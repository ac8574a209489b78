/*
SPDX-License-Identifier: Apache-2.0
*/

package why_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

func clusterWith(conditions ...metav1.Condition) *dbv1.DatabaseCluster {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", Generation: 3}}
	cluster.Status.ObservedGeneration, cluster.Status.Conditions = 3, conditions
	return cluster
}

func is(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

var (
	notReady = is("Ready", "False", "Refused", "stalled: exceeded quota")
	stalled  = is("Stalled", "True", "Refused", "exceeded quota")
	degraded = is("Degraded", "True", "MemberFailing", "pod orders-1 cannot be scheduled")
	down     = is("Available", "False", "NoPrimary", "no ready member is the primary")
	old      = is("BackupHealthy", "False", "BackupOverdue", "the newest backup is 30h old")
	ready    = is("Ready", "True", "Ready", "3 of 3 members are ready")
)

func TestOneConditionExplainsTheState(t *testing.T) {
	for name, c := range map[string]struct {
		cluster *dbv1.DatabaseCluster
		verdict why.Verdict
		text    string
		page    string
		command string
	}{
		"a cluster without conditions":       {clusterWith(), why.Unknown, "has not reported any condition", "troubleshooting.md#the-operator-itself", "logs deployment/"},
		"a healthy cluster":                  {clusterWith(ready), why.Healthy, "Ready is True (Ready): 3 of 3 members are ready", "", ""},
		"Stalled before all that follows":    {clusterWith(notReady, old, down, degraded, stalled), why.Unhealthy, "Stalled is True (Refused): exceeded quota", "troubleshooting.md#the-api-server-refuses", "kubectl -n shop describe databasecluster orders"},
		"a failing member before no primary": {clusterWith(notReady, down, degraded), why.Unhealthy, "Degraded is True (MemberFailing)", "runbooks/DatabaseClusterDegraded.md", "kubectl -n shop describe pod orders-0"},
		"no primary":                         {clusterWith(notReady, down), why.Unhealthy, "Available is False (NoPrimary)", "troubleshooting.md#no-primary", "kubectl -n shop describe pod orders-0"},
		"old backups of a ready cluster":     {clusterWith(ready, old), why.Unhealthy, "BackupHealthy is False (BackupOverdue)", "runbooks/DatabaseClusterBackupUnhealthy.md", "kubectl dbc -n shop backups orders"},
		"another reason of Ready":            {clusterWith(is("Ready", "False", "ReplicasNotReady", "2 of 3")), why.Unhealthy, "Ready is False", "runbooks/DatabaseClusterNotAvailable.md", "describe pod"},
		"two primaries before everything":    {clusterWith(stalled, is("SplitBrainSuspected", "True", "TwoPrimaries", "orders-0 and orders-1")), why.Unhealthy, "SplitBrainSuspected is True", "troubleshooting.md#two-primaries", "--show-labels"},
		"a hibernated cluster":               {clusterWith(is("Ready", "True", "Hibernated", "no member runs"), is("Available", "False", "Hibernated", ""), is("ContinuousArchiving", "False", "Hibernated", "")), why.Healthy, "Ready is True (Hibernated)", "", ""},
		"neither TLS nor protection":         {clusterWith(ready, is("TLSReady", "False", "NoTLS", ""), is("ProtectionEnforced", "False", "NotProtected", "")), why.Healthy, "Ready is True", "", ""},
		"a rollout that you have paused":     {clusterWith(ready, is("Progressing", "True", "RolloutPaused", "")), why.Healthy, "Ready is True", "", ""},
		"a rollout":                          {clusterWith(notReady, down, is("Progressing", "True", "RollingOut", "1 of 3 members are updated")), why.Unhealthy, "Progressing is True (RollingOut)", "runbooks/DatabaseClusterRolloutStuck.md", "describe databasecluster"},
		"no condition Ready":                 {clusterWith(is("Paused", "False", "NotPaused", "")), why.Unknown, "Ready is not known", "troubleshooting.md#the-operator-itself", "logs"},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, cause := why.Explain(c.cluster)
			if verdict != c.verdict || !strings.Contains(cause.Sentence(), c.text) || cause.Page != c.page || !strings.Contains(cause.Command, c.command) {
				t.Errorf("got %d, %q, %s, %s", verdict, cause.Sentence(), cause.Page, cause.Command)
			}
		})
	}
}

func TestAStatusOfAnotherGenerationIsUnknown(t *testing.T) {
	cluster := clusterWith(ready)
	cluster.Generation = 4
	if verdict, cause := why.Explain(cluster); verdict != why.Unknown || !strings.Contains(cause.Sentence(), "generation 4") {
		t.Errorf("got %d, %q", verdict, cause.Sentence())
	}
}

// While a plan is pending, status.observedGeneration is behind, and the conditions are of the current generation.
func TestAPlanThatIsPendingIsTheCauseAndNotTheOperator(t *testing.T) {
	moving := is("Progressing", "True", "ReplacingData", "the members stop")
	moving.ObservedGeneration = 4
	cluster := clusterWith(notReady, moving)
	cluster.Generation = 4
	if verdict, cause := why.Explain(cluster); verdict != why.Unhealthy || cause.Reason != "ReplacingData" {
		t.Errorf("got %d, %q", verdict, cause.Sentence())
	}
}

func TestAClusterThatIsNotObservedHasNoGeneration(t *testing.T) {
	cluster := clusterWith(is("Ready", "False", "Pending", ""))
	cluster.Status.ObservedGeneration = -1
	if verdict, cause := why.Explain(cluster); verdict != why.Unknown || cause.Sentence() != "the operator has not observed the cluster yet." {
		t.Errorf("got %d, %q", verdict, cause.Sentence())
	}
}

func TestADeletionIsExplainedByItsOwnCondition(t *testing.T) {
	cluster := clusterWith(stalled, degraded, is("DeletionBlocked", "True", "HookFailed", "the hook last failed"))
	cluster.DeletionTimestamp = &metav1.Time{}
	if _, cause := why.Explain(cluster); cause.Type != dbv1.ConditionDeletionBlocked {
		t.Errorf("got %q", cause.Sentence())
	}
	if causes := why.Causes(cluster); len(causes) != 1 {
		t.Errorf("got %+v", causes)
	}
}

func TestTheCommandNamesTheMemberThatIsNotReady(t *testing.T) {
	cluster := clusterWith(degraded)
	cluster.Status.Members = []dbv1.MemberStatus{{Pod: "orders-0", Ready: true}, {Pod: "orders-1"}}
	if _, cause := why.Explain(cluster); cause.Command != "kubectl -n shop describe pod orders-1" {
		t.Errorf("got %q", cause.Command)
	}
}

func TestReadyRepeatsNoOtherCause(t *testing.T) {
	if causes := why.Causes(clusterWith(notReady, stalled, old)); len(causes) != 2 || causes[0].Type != "Stalled" || causes[1].Type != "BackupHealthy" {
		t.Errorf("got %+v", causes)
	}
}

// Pages and their sections move, and this package has their names as text.
func TestEveryPageThatACauseNamesExists(t *testing.T) {
	var source []byte
	for _, file := range []string{"rules.go", "object_rules.go"} {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, part...)
	}
	found := map[string]bool{"troubleshooting.md#the-operator-itself": true}
	for _, match := range regexp.MustCompile(`"([a-zA-Z/-]+\.md(#[a-z-]+)?)"`).FindAllStringSubmatch(string(source), -1) {
		found[match[1]] = true
	}
	if len(found) < 20 {
		t.Errorf("found only %d pages", len(found))
	}
	dropped := regexp.MustCompile(`[^a-z0-9 _-]`)
	for page := range maps.Keys(found) {
		name, anchor, _ := strings.Cut(page, "#")
		content, err := os.ReadFile(filepath.Join("../../../../docs", name))
		if err != nil {
			t.Error(err)
			continue
		}
		exists := anchor == ""
		for line := range strings.Lines(string(content)) {
			heading := strings.TrimSpace(strings.TrimLeft(line, "#"))
			exists = exists || strings.HasPrefix(line, "#") && strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading), ""), " ", "-") == anchor
		}
		if !exists {
			t.Errorf("docs/%s does not exist", page)
		}
	}
}

// Each condition of a cluster is a rule, or is one of those that report no problem.
func TestEveryConditionHasARuleOrIsInformation(t *testing.T) {
	information := map[string]bool{"UpdateAvailable": true, "StorageResizing": true, "Paused": true, "Hibernated": true}
	for _, kind := range dbv1.ClusterConditions {
		explained := false
		for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse} {
			explained = explained || len(why.Causes(clusterWith(is(kind, status, "Any", "")))) > 0
		}
		if explained == information[kind] {
			t.Errorf("%s: explained %t", kind, explained)
		}
	}
}
