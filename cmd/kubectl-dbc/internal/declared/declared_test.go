/*
SPDX-License-Identifier: Apache-2.0
*/

package declared_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/declared"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

func status(ready metav1.ConditionStatus, reason, message string) dbv1.DatabaseObjectStatus {
	return dbv1.DatabaseObjectStatus{Conditions: []metav1.Condition{{Type: dbv1.ConditionReady, Status: ready, Reason: reason, Message: message}}}
}

func database(name, cluster, owner string, s dbv1.DatabaseObjectStatus) dbv1.Database {
	d := dbv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	d.Spec.ClusterRef.Name, d.Spec.Name, d.Spec.Owner, d.Status.DatabaseObjectStatus = cluster, name, owner, s
	return d
}

func user(name, cluster string, s dbv1.DatabaseObjectStatus, grants ...dbv1.DatabaseUserGrant) dbv1.DatabaseUser {
	u := dbv1.DatabaseUser{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	u.Spec.ClusterRef.Name, u.Spec.Name, u.Spec.Databases, u.Status.DatabaseObjectStatus = cluster, name, grants, s
	return u
}

func objects() declared.Objects {
	inForce := status("True", "InDatabase", "DatabaseCluster orders has it as declared")
	billing := user("billing", "orders", inForce, dbv1.DatabaseUserGrant{Name: "invoices", Privileges: []string{"owner"}})
	billing.Status.Binding = &dbv1.ClusterBinding{Name: "billing-user"}
	exists := status("False", "ObjectExists", "the database has an object of this name that this resource did not create. To take it over, set spec.existing to Adopt")
	reporting := user("reporting", "orders", exists, dbv1.DatabaseUserGrant{Name: "invoices", Privileges: []string{"connect", "readOnly"}}, dbv1.DatabaseUserGrant{Name: "app", Privileges: []string{"readOnly"}})
	return declared.Objects{
		Databases: []dbv1.Database{database("ledger", "orders", "billing", dbv1.DatabaseObjectStatus{}), database("invoices", "orders", "", inForce), database("other", "cache", "", inForce)},
		Users:     []dbv1.DatabaseUser{reporting, billing, user("guest", "cache", inForce)},
	}
}

func TestTheTableHasTheDatabasesAndUsersOfACluster(t *testing.T) {
	golden.Text(t, "users", objects().Of("orders").Table(false, false))
	golden.Text(t, "wide", objects().Of("orders").Table(true, false))
}

func TestWithoutANameAllAreListed(t *testing.T) {
	if all := objects().Of(""); len(all.Databases) != 3 || len(all.Users) != 3 || all.Users[0].Name != "guest" {
		t.Errorf("got %d databases and %d users, first %s", len(all.Databases), len(all.Users), all.Users[0].Name)
	}
	if !objects().Of("none").Empty() {
		t.Error("a cluster without any has some")
	}
}
