//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// accountant is an engine with databases and users.
func accountant(t *testing.T) string {
	t.Helper()
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{GenerateName: "accountant-"}}
	e.Spec.Topology = dbv1.TopologyIndependent
	e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
	e.Spec.Connection = &dbv1.EngineConnection{Type: "any", Entries: map[string]dbv1.EngineTemplate{
		"uri": `any://{{ .owner }}:{{ secret "password" }}@{{ .host }}/{{ .database }}`,
	}}
	e.Spec.Actions.Objects = &dbv1.EngineObjects{Command: []string{"objects"}, Databases: dbv1.DatabasesSupported, PasswordKey: "password"}
	createFor(t, e)
	return e.Name
}

// ends lets the pods of the Jobs for databases and users succeed with an answer that nothing differs, and members be ready.
func ends(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] != dbv1.ComponentObjects {
		healthy(pod)
		return
	}
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: naming.ActionContainer, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Message: `{"objects":{"results":"........"}}`},
	}}}
}

func userOf(cluster *dbv1.DatabaseCluster, name string) *dbv1.DatabaseUser {
	u := &dbv1.DatabaseUser{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name}}
	u.Spec.ClusterRef.Name, u.Spec.Name = cluster.Name, name
	return u
}

func awaitUser(t *testing.T, u *dbv1.DatabaseUser, status metav1.ConditionStatus, reason string) {
	t.Helper()
	await(t, u, reason, func() bool {
		c := meta.FindStatusCondition(u.Status.Conditions, dbv1.ConditionReady)
		return c != nil && c.Status == status && c.Reason == reason && u.Status.ObservedGeneration == u.Generation
	})
}

func TestADatabaseAndItsUserAreMadeByAJobAndRemovedWithTheirObjects(t *testing.T) {
	parallel(t)
	engine := accountant(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, ends)
	database := &dbv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "invoices"}}
	database.Spec.ClusterRef.Name, database.Spec.Name, database.Spec.ReclaimPolicy = cluster.Name, "invoices", dbv1.ReclaimDelete
	u := userOf(cluster, "billing")
	u.Spec.Databases = []dbv1.DatabaseUserGrant{{Name: "invoices", Privileges: []string{"owner"}}}
	u.Spec.ReclaimPolicy = dbv1.ReclaimDelete
	create(t, u)
	create(t, database)
	awaitUser(t, u, metav1.ConditionTrue, dbv1.ReasonInDatabase)
	await(t, database, "Ready", func() bool { return meta.IsStatusConditionTrue(database.Status.Conditions, dbv1.ConditionReady) })

	secret := read(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: u.Status.Binding.Name}})
	uri, password := string(secret.Data["uri"]), string(secret.Data["password"])
	if want := "any://billing:" + password + "@orders." + cluster.Namespace + ".svc/invoices"; uri != want || len(password) != 32 {
		t.Errorf("uri is %s, want %s", uri, want)
	}
	twin := userOf(cluster, "twin")
	twin.Spec.Name = "billing"
	create(t, twin)
	awaitUser(t, twin, metav1.ConditionFalse, dbv1.ReasonNameTaken)

	remove(t, u)
	eventually(t, "the user to be removed", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(u), u)
		return errorIf(!apierrors.IsNotFound(err), "%v", u.Status.Conditions)
	})
	awaitUser(t, twin, metav1.ConditionTrue, dbv1.ReasonInDatabase)
	remove(t, database)
	eventually(t, "the database to be removed", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(database), database)
		return errorIf(!apierrors.IsNotFound(err), "%v", database.Status.Conditions)
	})
}

func TestAUserThatCannotBeMadeIsToldWhy(t *testing.T) {
	parallel(t)
	engine := accountant(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, ends)
	u := userOf(cluster, "billing")
	u.Spec.SecretName = "given"
	create(t, u)
	awaitUser(t, u, metav1.ConditionFalse, dbv1.ReasonPasswordMissing)
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "given"}, StringData: map[string]string{"password": "mine and mine\n"}})
	change(t, u, func(u *dbv1.DatabaseUser) { u.Annotations = map[string]string{dbv1.AnnotationRotateCredentials: "now"} })
	awaitUser(t, u, metav1.ConditionTrue, dbv1.ReasonInDatabase)
	secret := read(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "billing-user"}})
	if string(secret.Data["password"]) != "mine and mine" {
		t.Errorf("the Secret has the password %q", secret.Data["password"])
	}

	without := userOf(created(t, nil), "billing")
	create(t, without)
	awaitUser(t, without, metav1.ConditionFalse, dbv1.ReasonFieldUnsupported)
	lost := userOf(cluster, "lost")
	lost.Spec.ClusterRef.Name = "other"
	create(t, lost)
	awaitUser(t, lost, metav1.ConditionFalse, dbv1.ReasonClusterMissing)
	odd := userOf(cluster, "odd")
	odd.Spec.Attributes = map[string]dbv1.DatabaseObjectAttribute{"../x": "y"}
	if err := admin.Create(t.Context(), odd); err == nil || !strings.Contains(err.Error(), "spec.attributes: a key must begin with a letter") {
		t.Errorf("%v", err)
	}
}
