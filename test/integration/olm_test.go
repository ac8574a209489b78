//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// grantAsOLM gives a user the rights of the bundle as OLM does. Its permissions apply in the operator's own namespace
// and in each namespace of its OperatorGroup, or in all namespaces if the group names none. Its clusterPermissions
// apply in all namespaces.
func grantAsOLM(t *testing.T, to, own string, group []string) {
	t.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := load("../../bundle/manifests/databasecluster-operator.clusterserviceversion.yaml", csv); err != nil {
		t.Fatal(err)
	}
	strategy := csv.Spec.InstallStrategy.StrategySpec
	namespaced, everywhere := strategy.Permissions[0].Rules, strategy.ClusterPermissions[0].Rules
	if len(group) == 0 {
		everywhere = slices.Concat(everywhere, namespaced)
	}
	name := "olm-" + own
	for _, ns := range slices.Compact(slices.Sorted(slices.Values(append([]string{own}, group...)))) {
		grantIn(t, ns, name, to, namespaced)
	}
	at := metav1.ObjectMeta{Name: name}
	createFor(t, &rbacv1.ClusterRole{ObjectMeta: at, Rules: everywhere})
	createFor(t, &rbacv1.ClusterRoleBinding{ObjectMeta: at, RoleRef: clusterRole(name), Subjects: user(to)})
}

// An operator works only in the configured namespaces, with the rights that OLM grants there. Policies and engines
// are cluster-scoped. The lease is in the operator's namespace, all other objects in that of the cluster.
func TestAnOperatorWorksInTheNamespacesOfEveryInstallMode(t *testing.T) {
	for mode, c := range map[string]struct {
		group func(own, a, b string) []string
		works [3]bool // in its own namespace, in a and in b
	}{
		"OwnNamespace":    {func(own, _, _ string) []string { return []string{own} }, [3]bool{true, false, false}},
		"SingleNamespace": {func(_, a, _ string) []string { return []string{a} }, [3]bool{false, true, false}},
		"MultiNamespace":  {func(_, a, b string) []string { return []string{a, b} }, [3]bool{false, true, true}},
		"AllNamespaces":   {func(_, _, _ string) []string { return nil }, [3]bool{true, true, true}},
	} {
		t.Run(mode, func(t *testing.T) {
			if mode != "AllNamespaces" { // it would act in the namespaces of other tests, too
				t.Parallel()
			}
			spaces := [3]string{ownNamespace(t), ownNamespace(t), ownNamespace(t)}
			own, group := spaces[0], c.group(spaces[0], spaces[1], spaces[2])
			user := "system:serviceaccount:" + own + ":operator"
			grantAsOLM(t, user, own, group)
			create(t, ledger(t, "ledger-of-"+own))
			clusters := [3]*dbv1.DatabaseCluster{}
			for i, ns := range spaces {
				clusters[i] = smallest(ns, "orders")
				leavesItTo("ledger-of-" + own)(clusters[i])
				protected(clusters[i])
				create(t, secretWith(clusters[i], "password"))
				create(t, clusters[i])
				kubelet(t, ns, healthy)
			}
			p := operator(t, kubeconfig(t, user, ""), []string{"WATCH_NAMESPACE=" + strings.Join(group, ",")},
				"--leader-elect", "--leader-election-namespace="+own)
			for i, works := range c.works {
				if works {
					awaitReady(t, clusters[i])
					awaitTrue(t, clusters[i], dbv1.ConditionProtectionEnforced, dbv1.ReasonPoliciesInPlace)
				}
				change(t, clusters[i], unprotected)
			}
			for i, works := range c.works {
				if works {
					remove(t, clusters[i])
					awaitDeleted(t, clusters[i])
				} else if s := read(t, clusters[i]); len(s.Finalizers) > 0 || len(s.Status.Conditions) > 0 || len(uids(t, s)) > 0 {
					t.Errorf("the operator acted in a namespace outside its configuration: %+v", s)
				}
			}
			p.mustStop(t)
			if output := p.output(t); strings.Contains(output, "in API group") || strings.Contains(output, "left out") {
				t.Errorf("a right is missing:\n%s", output)
			}
		})
	}
}

// Users apply the samples unchanged, including the status. Catalogs show that status as the expected state.
func TestTheAPIServerAcceptsSamplesWithTheirStatus(t *testing.T) {
	ns := ownNamespace(t)
	for _, definition := range definitions(t) {
		kind, sample := definition.Spec.Names.Kind, sampleOf(t, definition, ns)
		status, hasStatus := sample.Object["status"]
		strict := client.FieldValidation("Strict")
		if err := admin.Create(t.Context(), sample, strict); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		t.Cleanup(func() { _ = admin.Delete(context.WithoutCancel(t.Context()), sample) })
		if conditions, _, _ := unstructured.NestedSlice(sample.Object, "status", "conditions"); len(conditions) > 0 {
			t.Errorf("%s: the API server stored the status of the manifest: %v", kind, conditions)
		}
		if !hasStatus {
			continue
		}
		eventually(t, kind+" to have such a status", func() error { // the operator may write it, too
			if err := admin.Get(t.Context(), client.ObjectKeyFromObject(sample), sample); err != nil {
				return err
			}
			sample.Object["status"] = status
			return admin.Status().Update(t.Context(), sample, strict, client.DryRunAll)
		})
	}
}
