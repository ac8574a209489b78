//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// accompanied is an engine with a connection and a companion that can pause.
func accompanied(t *testing.T) string {
	t.Helper()
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{GenerateName: "accompanied-"}}
	e.Spec.Topology = dbv1.TopologyIndependent
	e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
	e.Spec.Connection = &dbv1.EngineConnection{Type: "any", Entries: map[string]dbv1.EngineTemplate{"password": `{{ secret "password" }}`}}
	e.Spec.Companions = []dbv1.EngineCompanion{{
		Name: "pooler", Image: "pooler:1", Port: 6432, SecretKeys: []string{"password"}, Pause: dbv1.PauseSupported,
		Parameters: []dbv1.EngineCompanionParameter{{Name: "mode", Default: "transaction", Enum: []string{"transaction", "session"}}},
	}}
	createFor(t, e)
	return e.Name
}

func companionOf(cluster *dbv1.DatabaseCluster, name string) *dbv1.DatabaseCompanion {
	c := &dbv1.DatabaseCompanion{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name}}
	c.Spec.ClusterRef.Name = cluster.Name
	return c
}

func awaitCompanion(t *testing.T, c *dbv1.DatabaseCompanion, kind string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	await(t, c, reason, func() bool {
		found := meta.FindStatusCondition(c.Status.Conditions, kind)
		return found != nil && found.Status == status && found.Reason == reason && c.Status.ObservedGeneration == c.Generation
	})
}

// awaitScale scales a companion as an autoscaler does, and returns its Deployment.
func awaitScale(t *testing.T, c *dbv1.DatabaseCompanion, replicas int32) *appsv1.Deployment {
	t.Helper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	if err := admin.SubResource("scale").Update(t.Context(), c, client.WithSubResourceBody(scale)); err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	eventually(t, "the scale of an autoscaler", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(c), deployment)
		return errorIf(err != nil || *deployment.Spec.Replicas != replicas, "%v, %v", err, deployment.Spec.Replicas)
	})
	return deployment
}

func TestACompanionGetsItsObjectsAndDriftIsRepaired(t *testing.T) {
	parallel(t)
	engine := accompanied(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, healthy)
	web, pool := companionOf(cluster, "web"), companionOf(cluster, "pool")
	web.Spec.Image, web.Spec.Port = "web:1", 8080
	pool.Spec.Companion = "pooler"
	create(t, web)
	create(t, pool)
	awaitCompanion(t, web, dbv1.ConditionReady, metav1.ConditionTrue, dbv1.ReasonReady)
	awaitCompanion(t, pool, dbv1.ConditionAvailable, metav1.ConditionTrue, dbv1.ReasonPodReady)

	named := metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "web"}
	deployment := read(t, &appsv1.Deployment{ObjectMeta: named})
	if *deployment.Spec.Replicas != 2 || web.Status.Selector == "" {
		t.Errorf("%d replicas, selector %q", *deployment.Spec.Replicas, web.Status.Selector)
	}
	if err := admin.Delete(t.Context(), &corev1.Service{ObjectMeta: named}); err != nil {
		t.Fatal(err)
	}
	if err := admin.Delete(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: named}); err != nil {
		t.Fatal(err)
	}
	changed := deployment.DeepCopy()
	changed.Spec.Template.Spec.Containers = append(changed.Spec.Template.Spec.Containers, corev1.Container{Name: "other", Image: "other:1"})
	if err := admin.Patch(t.Context(), changed, client.StrategicMergeFrom(deployment)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the changes to be repaired", func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return err
		}
		other := slices.ContainsFunc(deployment.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "other" })
		gone := admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), &corev1.Service{})
		unguarded := admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), &policyv1.PodDisruptionBudget{})
		return errorIf(other || gone != nil || unguarded != nil, "container %v, Service %v, budget %v", other, gone, unguarded)
	})

	awaitScale(t, web, 5)

	addresses := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: naming.Companions(cluster.Name)}}
	eventually(t, "the name of the companions that can pause", func() error {
		return admin.Get(t.Context(), client.ObjectKeyFromObject(addresses), addresses)
	})
	remove(t, pool)
	eventually(t, "the name to be deleted with the last one", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(addresses), addresses)
		return errorIf(!apierrors.IsNotFound(err), "%v", err)
	})
}

func TestAnApplicationRestartsWhenItsConnectionSecretChanges(t *testing.T) {
	parallel(t)
	engine := accompanied(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine, c.Spec.Credentials.SecretName = engine, "mine" })
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "mine"}}
	secret.Data = map[string][]byte{"password": []byte("first")}
	create(t, secret)
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "1"))
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	web := companionOf(cluster, "web")
	web.Spec.Image, web.Spec.Port = "web:1", 8080
	create(t, web)
	awaitCompanion(t, web, dbv1.ConditionReady, metav1.ConditionTrue, dbv1.ReasonReady)
	before := read(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "web"}})

	change(t, secret, func(s *corev1.Secret) { s.Data["password"] = []byte("second") })
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "2"))
	eventually(t, "other pods", func() error {
		now := &appsv1.Deployment{}
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(before), now)
		return errorIf(err != nil || equality.Semantic.DeepEqual(now.Spec.Template, before.Spec.Template), "%v, the template is unchanged", err)
	})
}

// The name of this Service leads actions to the companions that can pause. They must not connect to pods of another owner.
func TestAServiceOfAnotherOwnerWithTheNameOfTheCompanionsIsReported(t *testing.T) {
	parallel(t)
	engine := accompanied(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, healthy)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: naming.Companions(cluster.Name)}}
	service.Spec.ClusterIP, service.Spec.Selector = corev1.ClusterIPNone, map[string]string{"app": "another"}
	create(t, service)
	pool := companionOf(cluster, "pool")
	pool.Spec.Companion = "pooler"
	create(t, pool)
	awaitCondition(t, cluster, dbv1.ConditionStalled, metav1.ConditionTrue, dbv1.ReasonNameConflict, "Service "+service.Name+" already exists and does "+
		"not belong to this cluster, so the operator does not change it. Delete it, delete the DatabaseCompanions whose clients can be paused, or give the cluster another name")
	remove(t, service)
	eventually(t, "the Service of the cluster", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(service), service)
		return errorIf(err != nil || !metav1.IsControlledBy(service, cluster) || !service.Spec.PublishNotReadyAddresses, "%v, %+v", err, service)
	})
	awaitCondition(t, cluster, dbv1.ConditionStalled, metav1.ConditionFalse, dbv1.ReasonNotStalled, "no action required")
}

func TestACompanionOutlivesItsCluster(t *testing.T) {
	parallel(t)
	cluster := started(t, func(*dbv1.DatabaseCluster) {}, healthy)
	web := companionOf(cluster, "web")
	web.Spec.Image, web.Spec.Port, web.Spec.Connection.Form = "web:1", 8080, dbv1.ConnectionNone
	create(t, web)
	awaitCompanion(t, web, dbv1.ConditionReady, metav1.ConditionTrue, dbv1.ReasonReady)
	remove(t, cluster)
	awaitCompanion(t, web, dbv1.ConditionStalled, metav1.ConditionTrue, dbv1.ReasonClusterMissing)
	named := metav1.ObjectMeta{Namespace: web.Namespace, Name: "web"}
	before := read(t, &appsv1.Deployment{ObjectMeta: named})
	if before.DeletionTimestamp != nil {
		t.Error("the Deployment is deleted with the cluster")
	}

	// An obstacle prevents rollouts. It prevents neither the scale of an autoscaler nor repairs.
	change(t, web, func(c *dbv1.DatabaseCompanion) { c.Spec.Image = "web:2" })
	if err := admin.Delete(t.Context(), &corev1.Service{ObjectMeta: named}); err != nil {
		t.Fatal(err)
	}
	after := awaitScale(t, web, 5)
	eventually(t, "the Service to be created again", func() error {
		return admin.Get(t.Context(), client.ObjectKeyFromObject(web), &corev1.Service{})
	})
	if !equality.Semantic.DeepEqual(after.Spec.Template, before.Spec.Template) {
		t.Errorf("the template was %v, and is %v", before.Spec.Template, after.Spec.Template)
	}
	awaitCompanion(t, web, dbv1.ConditionStalled, metav1.ConditionTrue, dbv1.ReasonClusterMissing)
}

func TestAnInvalidCompanionIsRefusedWithTheWayOut(t *testing.T) {
	parallel(t)
	namespace := namespace(t)
	for want, change := range map[string]func(*dbv1.DatabaseCompanion){
		"set spec.companion to a companion of the engine, or spec.image and spec.port": func(c *dbv1.DatabaseCompanion) { c.Spec.Port = 0 },
		"spec.parameters are settings of a companion of the engine": func(c *dbv1.DatabaseCompanion) {
			c.Spec.Parameters = map[string]dbv1.CompanionParameter{"mode": "session"}
		},
		"spec.connection is for an application of your own": func(c *dbv1.DatabaseCompanion) {
			c.Spec.Companion, c.Spec.Port, c.Spec.Connection.Form = "pooler", 0, dbv1.ConnectionFiles
		},
		"spec.port is for an application of your own": func(c *dbv1.DatabaseCompanion) { c.Spec.Companion = "pooler" },
		"an environment variable does not change while a pod runs": func(c *dbv1.DatabaseCompanion) {
			c.Spec.Connection.Form, c.Spec.Connection.OnChange = dbv1.ConnectionEnvironment, dbv1.ConnectionReload
		},
		"metadata.name must start with a letter": func(c *dbv1.DatabaseCompanion) { c.Name = "1web" },
		"metadata.name must not be the name of the cluster with the suffix -companions": func(c *dbv1.DatabaseCompanion) {
			c.Name = "orders-companions"
		},
	} {
		c := &dbv1.DatabaseCompanion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		c.Spec.ClusterRef.Name, c.Spec.Image, c.Spec.Port = "orders", "web:1", 8080
		change(c)
		if err := admin.Create(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
