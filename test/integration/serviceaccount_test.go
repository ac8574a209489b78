//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func account(cluster *dbv1.DatabaseCluster) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: at(cluster, "")}
}

// withRole asks for a ServiceAccount with an annotation.
func withRole(role string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.ServiceAccount = dbv1.ClusterServiceAccount{Annotations: map[string]string{"example.test/role": role}}
	}
}

// awaitAccount waits until all members run as a ServiceAccount, without a token.
func awaitAccount(t *testing.T, cluster *dbv1.DatabaseCluster, name string) {
	t.Helper()
	eventually(t, "the members to run as "+name, func() error {
		all := podsOf(t, cluster)
		for _, pod := range all {
			if pod.Spec.ServiceAccountName != name || pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken {
				return fmt.Errorf("pod %s runs as %s, token %v", pod.Name, pod.Spec.ServiceAccountName, pod.Spec.AutomountServiceAccountToken)
			}
		}
		return errorIf(len(all) != int(cluster.Spec.Replicas), "%d members", len(all))
	})
}

func TestAServiceAccountIsCreatedFromAnnotationsAndDeletedWhenTheSpecNoLongerAsksForIt(t *testing.T) {
	parallel(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { atOnce(c); withRole("first")(c) }, healthy)
	awaitAccount(t, cluster, "orders")
	is := read(t, account(cluster))
	if is.Annotations["example.test/role"] != "first" || len(is.OwnerReferences) > 0 || is.AutomountServiceAccountToken == nil || *is.AutomountServiceAccountToken {
		t.Errorf("%+v", is)
	}

	before := uids(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.ServiceAccount.Annotations = map[string]string{"example.test/other": "second"}
	})
	await(t, is, "the annotations to follow", func() bool {
		_, old := is.Annotations["example.test/role"]
		return !old && is.Annotations["example.test/other"] == "second"
	})
	awaitReady(t, cluster)
	mustNotBeRestarted(t, cluster, before)

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount = dbv1.ClusterServiceAccount{} })
	awaitAccount(t, cluster, "default")
	awaitDeleted(t, account(cluster))
	awaitReady(t, cluster)
}

func TestTheGeneratedServiceAccountServesTheHooksOfAForegroundDeletionAndIsThenDeleted(t *testing.T) {
	parallel(t)
	finish := make(chan struct{})
	cluster := started(t, func(c *dbv1.DatabaseCluster) { withHook(c); withRole("orders")(c) }, untilFinished(finish))
	remove(t, cluster, client.PropagationPolicy(metav1.DeletePropagationForeground))
	awaitCondition(t, cluster, dbv1.ConditionDeletionBlocked, metav1.ConditionFalse, dbv1.ReasonHookRunning)
	if got := read(t, hookJob(cluster)).Spec.Template.Spec.ServiceAccountName; got != "orders" {
		t.Errorf("the hook runs as %q", got)
	}
	read(t, account(cluster))
	close(finish)
	awaitDeleted(t, cluster)
	awaitDeleted(t, account(cluster))
}

func TestAServiceAccountOfAPreviousClusterIsTakenOverAndThatOfAnotherOwnerIsNot(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	withRole("orders")(cluster)
	foreign := account(cluster)
	foreign.Annotations = map[string]string{"example.test/role": "theirs"}
	create(t, foreign)
	version := foreign.ResourceVersion
	create(t, cluster)
	kubelet(t, cluster.Namespace, healthy)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonNameConflict, "ServiceAccount orders", "the operator does not change it")
	if read(t, foreign).ResourceVersion != version {
		t.Errorf("the operator wrote to the ServiceAccount: %+v", foreign)
	}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(statefulSet(cluster)), statefulSet(cluster)); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("members were created as the ServiceAccount of another owner: %v", err)
	}

	change(t, foreign, func(a *corev1.ServiceAccount) {
		a.Labels = map[string]string{dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelInstance: "orders", dbv1.LabelClusterUID: "earlier"}
	})
	awaitReady(t, cluster)
	if is := read(t, foreign); is.Labels[dbv1.LabelClusterUID] != string(cluster.UID) || is.Annotations["example.test/role"] != "orders" {
		t.Errorf("%+v", is)
	}
	awaitAccount(t, cluster, "orders")
}

// A user who may only write DatabaseClusters must not run a command as a ServiceAccount of another owner.
func TestNoHookRunsAsTheServiceAccountOfAnotherOwner(t *testing.T) {
	parallel(t)
	ns, _, user := deputy(t)
	cluster := smallest(ns, "orders")
	withHook(cluster)
	withRole("orders")(cluster)
	create(t, account(cluster))
	if err := user.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonNameConflict, "ServiceAccount orders")
	if err := user.Delete(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonNameConflict,
		`deletion hook "flush" cannot start: ServiceAccount orders does not exist or was not created for DatabaseCluster orders`,
		"Set spec.serviceAccount.name instead of spec.serviceAccount.annotations", dbv1.AnnotationSkipDeletionHooks)
	if len(cluster.Status.Hooks) != 1 || cluster.Status.Hooks[0].Phase != dbv1.HookFailed {
		t.Errorf("the hook is %+v", cluster.Status.Hooks)
	}
	mustRunNoJob(t, ns)

	// In a deletion, the operator creates no ServiceAccount. So the hook does not wait for one that another owner may create.
	remove(t, account(cluster))
	touch(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonHookFailed, "ServiceAccount orders does not exist")
	mustRunNoJob(t, ns)

	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "databases"}})
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount = dbv1.ClusterServiceAccount{Name: "databases"} })
	eventually(t, "the hook", func() error {
		return admin.Get(t.Context(), client.ObjectKeyFromObject(hookJob(cluster)), hookJob(cluster))
	})
	if got := read(t, hookJob(cluster)).Spec.Template.Spec.ServiceAccountName; got != "databases" {
		t.Errorf("the hook runs as %q", got)
	}
	annotate(t, cluster, dbv1.AnnotationSkipDeletionHooks, "true")
	awaitDeleted(t, cluster)
}

func mustRunNoJob(t *testing.T, ns string) {
	t.Helper()
	for _, job := range listed(t, ns, &batchv1.JobList{}, nil).Items {
		t.Errorf("Job %s runs as ServiceAccount %q", job.Name, job.Spec.Template.Spec.ServiceAccountName)
	}
}

func TestANamedServiceAccountMustExistAndIsNeverChanged(t *testing.T) {
	parallel(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Name = "databases" })
	kubelet(t, cluster.Namespace, healthy)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonReferenceMissing, "ServiceAccount databases, which spec.serviceAccount.name names, does not exist")
	theirs := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "databases"}}
	create(t, theirs)
	version := theirs.ResourceVersion
	awaitReady(t, cluster)
	awaitAccount(t, cluster, "databases")
	remove(t, cluster)
	awaitDeleted(t, cluster)
	if read(t, theirs).ResourceVersion != version {
		t.Errorf("%+v", theirs)
	}
}
