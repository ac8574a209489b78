/*
SPDX-License-Identifier: Apache-2.0
*/

package identity

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

func orders() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	c.Namespace, c.Name, c.UID = "shop", "orders", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
	return c
}

func TestTheIdentityOfMembersMatchesTheGoldenFiles(t *testing.T) {
	generated := orders()
	generated.Spec.ServiceAccount.Annotations = map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/orders"}
	related, declared := golden.Replicated(orders())
	for name, child := range map[string]objects.Child{
		"replicated.role":           Role(related, declared),
		"replicated.rolebinding":    RoleBinding(related),
		"replicated.serviceaccount": ServiceAccount(related),
		"generated.serviceaccount":  ServiceAccount(generated),
	} {
		t.Run(name, func(t *testing.T) { golden.Compare(t, name, child) })
	}
}

// An integration test shows that these rights are enough.
func TestTheRoleOfMembersNamesTheObjectsThatTheyChange(t *testing.T) {
	cluster, declared := golden.Replicated(orders())
	declared.Spec.State = nil
	for _, rule := range golden.Live[rbacv1.Role](t, Role(cluster, declared)).Rules {
		changes := slices.Contains(rule.Verbs, "patch")
		if changes != (len(rule.ResourceNames) == 9) || !slices.Equal(rule.Resources, []string{"pods"}) || slices.Contains(rule.Verbs, "create") {
			t.Errorf("%+v", rule)
		}
	}
}
