/*
SPDX-License-Identifier: Apache-2.0
*/

package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Object is an object of another kind than DatabaseCluster that names a cluster.
type Object struct {
	metav1.ObjectMeta
	Kind, Cluster string
	Conditions    []metav1.Condition
	// Observed is the generation that the status shows. Message is the progress of a DatabaseBackup.
	Observed int64
	Message  string
}

// OfDatabase is a Database.
func OfDatabase(d *dbv1.Database) Object {
	return Object{ObjectMeta: d.ObjectMeta, Kind: "Database", Cluster: d.Spec.ClusterRef.Name, Conditions: d.Status.Conditions,
		Observed: d.Status.ObservedGeneration}
}

// OfUser is a DatabaseUser.
func OfUser(u *dbv1.DatabaseUser) Object {
	return Object{ObjectMeta: u.ObjectMeta, Kind: "DatabaseUser", Cluster: u.Spec.ClusterRef.Name, Conditions: u.Status.Conditions,
		Observed: u.Status.ObservedGeneration}
}

// OfBackup is a DatabaseBackup.
func OfBackup(b *dbv1.DatabaseBackup) Object {
	return Object{ObjectMeta: b.ObjectMeta, Kind: "DatabaseBackup", Cluster: b.Spec.Cluster, Conditions: b.Status.Conditions,
		Observed: b.Status.ObservedGeneration, Message: b.Status.Message}
}

// OfRestore is a DatabaseRestore.
func OfRestore(r *dbv1.DatabaseRestore) Object {
	return Object{ObjectMeta: r.ObjectMeta, Kind: "DatabaseRestore", Cluster: r.Spec.ClusterRef.Name, Conditions: r.Status.Conditions,
		Observed: r.Status.ObservedGeneration}
}

// Current are the backups of a cluster that can still need attention: those that have not ended or are being deleted, and the newest one.
func Current(backups []dbv1.DatabaseBackup) []Object {
	sorted := slices.SortedFunc(slices.Values(backups), func(a, b dbv1.DatabaseBackup) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	var all []Object
	for i := range sorted {
		if i == 0 || !sorted[i].Status.Phase.Finished() || sorted[i].DeletionTimestamp != nil {
			all = append(all, OfBackup(&sorted[i]))
		}
	}
	return all
}

// NeedsAttention reports whether an object is not as it should be.
func (o Object) NeedsAttention() bool {
	verdict, _ := o.Explain()
	return verdict == Unhealthy
}

// Explain returns the cause why an object is not as it should be.
func (o Object) Explain() (Verdict, Cause) {
	switch {
	case len(o.Conditions) == 0:
		return Unknown, o.unknown("the operator has not reported any condition of it.")
	case o.Observed < o.Generation:
		return Unknown, o.unknown(fmt.Sprintf("the operator has not observed generation %d of the spec yet.", o.Generation))
	}
	for _, r := range objectRules[o.Kind] {
		if c := meta.FindStatusCondition(o.Conditions, r.condition); c != nil && r.matches(*c) {
			return Unhealthy, o.cause(*c, r)
		}
	}
	if strings.HasPrefix(o.Message, retrying) {
		c := metav1.Condition{Message: o.Message}
		return Unhealthy, o.cause(c, rule{page: failedBackups, command: logsOf(dbv1.ComponentBackup)})
	}
	if ready := meta.FindStatusCondition(o.Conditions, dbv1.ConditionReady); ready != nil {
		return Healthy, o.cause(*ready, rule{})
	}
	return Healthy, o.cause(metav1.Condition{Message: "it needs no attention."}, rule{})
}

func (o Object) unknown(message string) Cause {
	cause := *ofOperator(message)
	cause.About = o.Kind + " " + o.Name
	return cause
}

func (o Object) cause(c metav1.Condition, r rule) Cause {
	page, command := r.page, r.command
	if anchor, found := r.pages[c.Reason]; found {
		page = anchor
	}
	if other, found := r.commands[c.Reason]; found {
		command = other
	}
	names := strings.NewReplacer("NS", o.Namespace, "NAME", o.Name, "CLUSTER", o.Cluster, "KIND", strings.ToLower(o.Kind))
	return Cause{Condition: c, About: o.Kind + " " + o.Name, Page: page, Command: names.Replace(command)}
}
