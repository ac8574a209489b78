/*
SPDX-License-Identifier: Apache-2.0
*/

// Package declared lists the databases and users that a cluster is to have.
package declared

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

// Objects are the Databases and the DatabaseUsers of a namespace, or of a cluster.
type Objects struct {
	Databases []dbv1.Database
	Users     []dbv1.DatabaseUser
}

// Of are the objects of a cluster; all of them without a name. Databases and users are in the order of their clusters and names.
func (o Objects) Of(cluster string) Objects {
	others := func(ref dbv1.DatabaseObjectClusterRef) bool { return cluster != "" && ref.Name != cluster }
	o.Databases = slices.DeleteFunc(slices.Clone(o.Databases), func(d dbv1.Database) bool { return others(d.Spec.ClusterRef) })
	o.Users = slices.DeleteFunc(slices.Clone(o.Users), func(u dbv1.DatabaseUser) bool { return others(u.Spec.ClusterRef) })
	slices.SortFunc(o.Databases, func(a, b dbv1.Database) int {
		return cmp.Or(cmp.Compare(a.Spec.ClusterRef.Name, b.Spec.ClusterRef.Name), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(o.Users, func(a, b dbv1.DatabaseUser) int {
		return cmp.Or(cmp.Compare(a.Spec.ClusterRef.Name, b.Spec.ClusterRef.Name), cmp.Compare(a.Name, b.Name))
	})
	return o
}

// Empty reports whether there are none.
func (o Objects) Empty() bool { return len(o.Databases)+len(o.Users) == 0 }

// Table lists the objects, with the message of Ready if it is wide.
func (o Objects) Table(wide bool, p text.Palette) string {
	headings := []string{"KIND", "OBJECT", "CLUSTER", "NAME-IN-DATABASE", "PRIVILEGES", "SECRET", "READY", "REASON"}
	if wide {
		headings = append(headings, "MESSAGE")
	}
	rows := [][]text.Cell{text.Cells(headings...)}
	add := func(first []string, s dbv1.DatabaseObjectStatus) {
		ready := readiness(s)
		row := append(text.Cells(first...), text.Cell{Text: string(ready.Status), Tone: toneOf(ready)}, text.Cell{Text: ready.Reason})
		if wide {
			row = append(row, text.Cell{Text: ready.Message})
		}
		rows = append(rows, row)
	}
	for _, d := range o.Databases {
		add([]string{"Database", d.Name, d.Spec.ClusterRef.Name, d.Spec.Name, owner(d.Spec.Owner), "-"}, d.Status.DatabaseObjectStatus)
	}
	for _, u := range o.Users {
		secret := "-"
		if u.Status.Binding != nil {
			secret = u.Status.Binding.Name
		}
		add([]string{"DatabaseUser", u.Name, u.Spec.ClusterRef.Name, u.Spec.Name, privileges(u.Spec.Databases), secret},
			u.Status.DatabaseObjectStatus)
	}
	return p.Table("", rows)
}

// readiness is the condition Ready. It is Unknown until the operator has seen the object.
func readiness(s dbv1.DatabaseObjectStatus) metav1.Condition {
	if ready := meta.FindStatusCondition(s.Conditions, dbv1.ConditionReady); ready != nil {
		return *ready
	}
	return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "-", Message: "the operator has not observed it yet"}
}

func toneOf(ready metav1.Condition) text.Tone {
	return map[metav1.ConditionStatus]text.Tone{metav1.ConditionTrue: text.Good, metav1.ConditionFalse: text.Bad}[ready.Status]
}

// owner is the owner of a database.
func owner(name string) string {
	if name == "" {
		return "-"
	}
	return "owner: " + name
}

// privileges are the databases of a user, each with what the user may do there.
func privileges(all []dbv1.DatabaseUserGrant) string {
	var texts []string
	for _, g := range all {
		texts = append(texts, g.Name+": "+strings.Join(g.Privileges, ","))
	}
	return cmp.Or(strings.Join(texts, "; "), "-")
}
