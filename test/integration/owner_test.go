//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// as returns a client of another user.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig(t, user, ""))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: admin.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// finalizers is the subresource of an owner whose right OwnerReferencesPermissionEnforcement checks.
const finalizers = "/finalizers"

// In a foreground deletion, a cluster waits for its dependents. With the admission plugin
// OwnerReferencesPermissionEnforcement, as here and on OpenShift, blockOwnerDeletion requires the right to set the
// owner's finalizers. The plugin checks the right, so no request shows its use.
func TestTheRightToSetFinalizersLetsAClusterBlockOwnerDeletion(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	manager, err := shipped(managerRole)
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	var owners []string
	for _, rule := range manager.Rules {
		rule.Resources = slices.DeleteFunc(rule.Resources, func(r string) bool {
			owner, is := strings.CutSuffix(r, finalizers)
			if is {
				owners = append(owners, owner)
			}
			return is
		})
		if len(rule.Resources) > 0 {
			rules = append(rules, rule)
		}
	}
	without := "system:serviceaccount:" + ns + ":without"
	grantIn(t, ns, "without", without, rules)
	if len(owners) < 2 {
		t.Errorf("the shipped role sets finalizers of only %v", owners)
	}
	for _, definition := range definitions(t) {
		kind := definition.Spec.Names.Kind
		if !slices.Contains(owners, definition.Spec.Names.Plural) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "owned"}}
			owned.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: dbv1.GroupVersion.String(), Kind: kind, Name: "owner", UID: "1", Controller: new(true), BlockOwnerDeletion: new(true),
			}}
			if err := as(t, operatorUser).Create(t.Context(), owned.DeepCopy(), client.DryRunAll); err != nil {
				t.Errorf("with the shipped rights: %v", err)
			}
			eventually(t, "the role of the other user to be in force", func() error {
				return as(t, without).Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "kube-root-ca.crt"}, &corev1.ConfigMap{})
			})
			err := as(t, without).Create(t.Context(), owned, client.DryRunAll)
			if !apierrors.IsForbidden(err) {
				t.Fatalf("without the right to set finalizers: %v", err)
			}
			mustContain(t, err.Error(), "cannot set blockOwnerDeletion")
		})
	}
}

// An API server without streaming lists, as Kubernetes 1.33, gets list requests.
func TestAnOperatorListsWithoutStreamingLists(t *testing.T) {
	parallel(t)
	ns := ownNamespace(t)
	p := operator(t, kubeconfig(t, operatorUser, ""), []string{"KUBE_FEATURE_WatchListClient=false"}, "--watch-namespace="+ns)
	cluster := smallest(ns, "orders")
	create(t, cluster)
	kubelet(t, ns, healthy)
	awaitReady(t, cluster)
	p.mustStop(t)
	mustLackNoRight(t, p)
}
