/*
SPDX-License-Identifier: Apache-2.0
*/

// Package why finds the condition that explains the state of a cluster best.
package why

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Verdict is whether a cluster is healthy. Its value is the exit code of the command.
type Verdict int

// Verdicts.
const (
	Healthy Verdict = iota
	Unhealthy
	Unknown
)

// Cause is a condition that needs attention.
type Cause struct {
	metav1.Condition
	// About is the kind and the name of the object that has the condition; empty for the cluster.
	About string
	// Page is the path of the runbook or of the section of troubleshooting.md, below docs.
	Page string
	// Command shows more of the cause.
	Command string
	// Others is the number of other objects of the cluster that need attention, and OthersCommand shows them.
	Others        int
	OthersCommand string
}

// Sentence is the cause in one sentence.
func (c Cause) Sentence() string {
	about := ""
	if c.About != "" {
		about = c.About + ": "
	}
	if c.Type == "" {
		return about + c.Message
	}
	return fmt.Sprintf("%s%s is %s (%s): %s", about, c.Type, c.Status, c.Reason, c.Message)
}

// Text is what the command prints: the sentence, and for a problem the page at an address and a command that shows more.
func (c Cause) Text(address string) string {
	if c.Page == "" {
		return c.Sentence() + "\n"
	}
	text := fmt.Sprintf("%s\nPage:    %s%s\nCommand: %s\n", c.Sentence(), address, c.Page, c.Command)
	if c.Others > 0 {
		text += fmt.Sprintf("Others:  %d more of its objects need attention: %s\n", c.Others, c.OthersCommand)
	}
	return text
}

// Explain returns the one cause that explains the state of a cluster best.
func Explain(cluster *dbv1.DatabaseCluster) (Verdict, Cause) {
	if unknown := unobserved(cluster); unknown != nil {
		return Unknown, *unknown
	}
	if causes := Causes(cluster); len(causes) > 0 {
		return Unhealthy, causes[0]
	}
	ready := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue {
		return Unknown, *ofOperator("the condition Ready is not known yet.")
	}
	return Healthy, Cause{Condition: *ready}
}

const (
	operatorPage = "troubleshooting.md#the-operator-itself"
	operatorLog  = "kubectl -n databasecluster-operator-system logs deployment/databasecluster-operator-controller-manager"
)

// unobserved is why the status does not show the spec; nil if it does.
func unobserved(cluster *dbv1.DatabaseCluster) *Cause {
	message := ""
	switch seen := observed(cluster); {
	case len(cluster.Status.Conditions) == 0:
		message = "the operator has not reported any condition of the cluster."
	case seen >= cluster.Generation:
		return nil
	case seen < 1: // the status is the default of the CRD
		message = "the operator has not observed the cluster yet."
	default:
		message = fmt.Sprintf("the operator has not observed generation %d of the spec yet: its status is of generation %d.",
			cluster.Generation, seen)
	}
	return ofOperator(message)
}

// observed is the newest generation that the operator has read. While a plan is pending, status.observedGeneration is an older one, and
// the conditions have the current one.
func observed(cluster *dbv1.DatabaseCluster) int64 {
	seen := cluster.Status.ObservedGeneration
	for _, c := range cluster.Status.Conditions {
		seen = max(seen, c.ObservedGeneration)
	}
	return seen
}

// ofOperator is a cause that only the log of the operator shows.
func ofOperator(message string) *Cause {
	return &Cause{Condition: metav1.Condition{Message: message}, Page: operatorPage, Command: operatorLog}
}

// Causes are the conditions of a cluster that need attention, the most important one first.
func Causes(cluster *dbv1.DatabaseCluster) []Cause {
	var all []Cause
	for _, r := range rules {
		if r.condition == dbv1.ConditionReady && len(all) > 0 {
			continue // it repeats one of them
		}
		c := meta.FindStatusCondition(cluster.Status.Conditions, r.condition)
		if c == nil || !r.matches(*c) || r.unless != nil && r.unless(cluster) {
			continue
		}
		page := r.page
		if anchor, found := r.pages[c.Reason]; found {
			page = anchor
		}
		all = append(all, Cause{Condition: *c, Page: page, Command: command(r.command, cluster)})
	}
	return all
}

// command inserts the names of a cluster, and of the first member that is not ready.
func command(of string, cluster *dbv1.DatabaseCluster) string {
	member := cluster.Name + "-0"
	if i := slices.IndexFunc(cluster.Status.Members, func(m dbv1.MemberStatus) bool { return !m.Ready }); i >= 0 {
		member = cluster.Status.Members[i].Pod
	}
	return strings.NewReplacer("NS", cluster.Namespace, "NAME", cluster.Name, "CLUSTER", cluster.Name, "MEMBER", member).Replace(of)
}
