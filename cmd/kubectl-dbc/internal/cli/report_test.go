/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// targetOf is an API server with these objects.
func targetOf(t *testing.T, calls interceptor.Funcs, objects ...client.Object) *target {
	t.Helper()
	known, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	byUID := func(o client.Object) []string { return []string{string(o.(*corev1.Event).InvolvedObject.UID)} }
	c := fake.NewClientBuilder().WithScheme(known).WithObjects(objects...).WithInterceptorFuncs(calls).
		WithIndex(&corev1.Event{}, "involvedObject.uid", byUID).Build()
	return &target{Client: c, namespace: "shop", config: &rest.Config{Host: "http://localhost:1"}}
}

func named(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: labels}
}

// podWithLog is a pod with a container that has started.
func podWithLog(meta metav1.ObjectMeta, container string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: meta, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}}}
}

func secretOf(name string, data map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: named(name, nil), Data: map[string][]byte{}}
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	return secret
}

// logs is an API server that sends logs and the usage of pods. It has the requests by their path.
func logs(t *testing.T, texts map[string]string) (*rest.Config, *sync.Map) {
	t.Helper()
	var requests sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Store(r.URL.Path, r.URL.Query())
		_, _ = fmt.Fprint(w, texts[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, &requests
}

// ofOthers are the objects of another application, which has the label instance of the cluster.
func ofOthers() []client.Object {
	labels := map[string]string{dbv1.LabelInstance: "orders", dbv1.LabelName: "web"}
	return []client.Object{
		podWithLog(named("web-0", labels), "web"), &corev1.Service{ObjectMeta: named("web", labels)}, &corev1.ConfigMap{ObjectMeta: named("web", labels)},
	}
}

func collectionOf(t *testing.T, texts map[string]string, objects ...client.Object) (*collection, *sync.Map) {
	t.Helper()
	s, _, _ := offline(t)
	cluster := &dbv1.DatabaseCluster{ObjectMeta: named("orders", nil)}
	of := targetOf(t, interceptor.Funcs{}, append(objects, cluster)...)
	config, requests := logs(t, texts)
	of.config = config
	c := &collection{session: s, target: of, cluster: cluster, operator: "operator", logs: true, files: map[string]string{}}
	if err := of.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Fatal(err)
	}
	if err := c.collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, requests
}

func TestAReportHasNothingOfAnotherApplication(t *testing.T) {
	own := ofObjects("orders")
	c, requests := collectionOf(t, map[string]string{"/api/v1/namespaces/shop/pods/orders-0/log": "ready\n"}, append(ofOthers(),
		podWithLog(named("orders-0", own), "database"), &corev1.Service{ObjectMeta: named("orders", own)})...)
	files := slices.Sorted(func(yield func(string) bool) {
		for name := range c.files {
			if !yield(name) {
				return
			}
		}
	})
	want := []string{
		"events.txt", "logs/shop/orders-0/database.log", "metrics/pods.json", "objects/DatabaseCluster/orders.yaml", "objects/Pod/orders-0.yaml",
		"objects/Service/orders.yaml", "status.txt",
	}
	if !slices.Equal(files, want) {
		t.Errorf("got  %q\nwant %q", files, want)
	}
	usage, _ := requests.Load("/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods")
	if got := fmt.Sprint(usage); !strings.Contains(got, dbv1.LabelInstance+"=orders,"+dbv1.LabelName+"="+dbv1.LabelNameValue) {
		t.Errorf("the usage is that of the pods %s", got)
	}
	log, _ := requests.Load("/api/v1/namespaces/shop/pods/orders-0/log")
	if got := fmt.Sprint(log); !strings.Contains(got, "limitBytes:[67108864]") {
		t.Errorf("the log has no limit: %s", got)
	}
}

func TestAReportHasNoValueOfASecretThatTheClusterRefersTo(t *testing.T) {
	member := podWithLog(named("orders-0", ofObjects("orders")), "database")
	member.Spec.Containers = []corev1.Container{{Name: "database", EnvFrom: []corev1.EnvFromSource{
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "of-webhook"}}},
	}}}
	backup := &dbv1.DatabaseBackup{ObjectMeta: named("nightly", nil), Spec: dbv1.DatabaseBackupSpec{Cluster: "orders"}}
	backup.Spec.Destination = &dbv1.BackupDestination{CredentialsSecretName: "bucket"}
	c, _ := collectionOf(t, map[string]string{
		"/api/v1/namespaces/shop/pods/orders-0/log": "the words correct-horse, battery-staple and Y29ycmVjdC1ob3JzZQ==, and pin\n",
	}, member, backup, secretOf("of-webhook", map[string]string{"any": "correct-horse", "debug": "true"}),
		secretOf("bucket", map[string]string{"secret-access-key": "battery-staple"}), secretOf("orders-credentials", map[string]string{"password": "pin"}))
	if got, want := c.files["logs/shop/orders-0/database.log"], "the words REDACTED, REDACTED and REDACTED, and REDACTED\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := c.readme(); !strings.Contains(got, "Secret of-webhook, key debug") {
		t.Errorf("README.txt does not name the value that was not searched for:\n%s", got)
	}
}

func TestTheOperatorsLogIsThatOfTheCluster(t *testing.T) {
	line := func(name string) string {
		return `{"msg":"executing","controllerGroup":"database.dbcluster.io","controllerKind":"DatabaseCluster","namespace":"shop","name":"` + name + "\"}\n"
	}
	meta := metav1.ObjectMeta{Namespace: "operator", Name: "manager", Labels: map[string]string{
		"control-plane": "controller-manager", "app.kubernetes.io/name": "databasecluster-operator",
	}}
	c, _ := collectionOf(t, map[string]string{"/api/v1/namespaces/operator/pods/manager/log": line("orders") + line("ledger")}, podWithLog(meta, "manager"))
	if got, want := c.files["logs/operator/manager/manager.log"], "(1 other lines were left out)\n"+line("orders"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheEndOfALongLogIsKept(t *testing.T) {
	if got := end("first\nsecond\nthird\n", 10); got != "(13 bytes were left out)\nthird\n" {
		t.Errorf("got %q", got)
	}
	if got := end("short\n", 10); got != "short\n" {
		t.Errorf("got %q", got)
	}
}
