//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Every namespace of these tests enforces Pod Security "restricted", so the API server admitted all their pods. The
// end of the run reports a component without a pod. The tests in this file create the remaining kinds of pods.

func TestTheTestNamespacesRefusePodsThatAreNotRestricted(t *testing.T) {
	parallel(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace(t), Name: "careless"}}
	pod.Spec.Containers = []corev1.Container{{Name: "careless", Image: "example.test/database:1"}}
	err := admin.Create(t.Context(), pod, client.DryRunAll)
	if !apierrors.IsForbidden(err) {
		t.Fatalf("a privileged pod: %v", err)
	}
	mustContain(t, err.Error(), `violates PodSecurity "restricted:latest"`)
}

func TestTheOperatorsPodsAreAdmittedWhereRestrictedIsEnforced(t *testing.T) {
	parallel(t)
	text, err := os.ReadFile("../../config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(text), "\n---\n")
	shipped, deployment := &corev1.Namespace{}, &appsv1.Deployment{}
	for document, into := range map[string]any{first: shipped, second: deployment} {
		if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
			t.Fatal(err)
		}
	}
	if shipped.Labels[enforce] != "restricted" {
		t.Errorf("the operator's namespace enforces %q", shipped.Labels[enforce])
	}
	pod := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	pod.Namespace, pod.Name = namespace(t), "operator"
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName}})
	create(t, pod)
}

func TestThePodsOfSamplesAndBuiltInEnginesAreAdmitted(t *testing.T) {
	parallel(t)
	sample := &dbv1.DatabaseCluster{}
	if err := load("../../config/samples/database_v1alpha1_databasecluster.yaml", sample); err != nil {
		t.Fatal(err)
	}
	sample.Spec.Deletion.Hooks = nil // no kubelet can run them when the namespace is deleted
	own := &dbv1.DatabaseEngine{}
	if err := load("../../config/samples/database_v1alpha1_databaseengine.yaml", own); err != nil {
		t.Fatal(err)
	}
	createFor(t, own)
	clusters := map[string]*dbv1.DatabaseCluster{"the sample": sample}
	engines := &dbv1.DatabaseEngineList{}
	eventually(t, "the built-in engines", func() error {
		err := admin.List(t.Context(), engines)
		return errorIf(err != nil || len(engines.Items) < 3, "%d engines (%w)", len(engines.Items), err)
	})
	for _, engine := range engines.Items {
		if engine.Name == own.Name || strings.HasSuffix(engine.Name, "-single-v1") { // other engines belong to other tests
			cluster := smallest("", "orders")
			cluster.Spec.Replicas, cluster.Spec.Engine, cluster.Spec.Credentials.SecretName = 1, engine.Name, "orders"
			clusters[engine.Name] = cluster
		}
	}
	if len(clusters) != 4 {
		t.Errorf("the clusters are %v", clusters)
	}
	for what, cluster := range clusters {
		t.Run(what, func(t *testing.T) {
			cluster.Namespace = namespace(t)
			create(t, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "orders"}, StringData: map[string]string{"password": "secret", "owner-password": "owner", "pooler-password": "pooler"},
			})
			kubelet(t, cluster.Namespace, healthy)
			create(t, cluster)
			awaitReady(t, cluster)
		})
	}
}
