/*
SPDX-License-Identifier: Apache-2.0
*/

package reporting_test

import (
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/reporting"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// parsed are objects as the API server sends them.
func parsed(t *testing.T, manifests ...string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, manifest := range manifests {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	return all
}

func TestTheSecretsOfAClusterAreThoseThatAnyOfItsObjectsNames(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	cluster.Spec.Container.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "of-application"}}}}
	cluster.Spec.TLS = &dbv1.ClusterTLS{SecretName: "certificate"}
	got := reporting.Secrets(cluster, nil, parsed(t,
		"kind: DatabaseBackup\nspec: {destination: {credentialsSecretName: bucket, encryptionSecretName: key}}\nstatus: {destination: {credentialsSecretName: bucket-before}}\n",
		"kind: DatabaseRestore\nspec: {source: {location: {credentialsSecretName: of-restore}}}\n",
		"kind: DatabaseUser\nmetadata: {name: billing}\nspec: {secretName: of-billing}\nstatus: {binding: {name: bound}}\n",
		"kind: Pod\nspec: {imagePullSecrets: [{name: registry}], volumes: [{name: a, secret: {secretName: injected}}, {name: b, projected: {sources: [{secret: {name: projected}}]}}]}\n",
		"kind: Pod\nspec: {containers: [{name: x, env: [{name: A, valueFrom: {secretKeyRef: {name: by-webhook, key: k}}}]}]}\n",
		"kind: DatabaseEngine\nmetadata: {name: any}\nspec: {secretKeys: [{name: password}]}\n",
	))
	want := []string{
		"billing-user", "bound", "bucket", "bucket-before", "by-webhook", "certificate", "injected", "key", "of-application", "of-billing", "of-restore",
		"orders-ca", "orders-connection", "orders-credentials", "orders-tls", "projected", "registry",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The cluster with all fields has all references that the operator knows. A report finds them in its manifest, too.
func TestAReportFindsAllSecretsThatTheOperatorFinds(t *testing.T) {
	content, err := os.ReadFile("../../../../internal/resources/testdata/full.input.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cluster := &dbv1.DatabaseCluster{}
	if err := yaml.Unmarshal(content, cluster); err != nil {
		t.Fatal(err)
	}
	empty := &dbv1.DatabaseCluster{ObjectMeta: cluster.ObjectMeta}
	found := reporting.Secrets(empty, nil, parsed(t, string(content)))
	seen := 0
	for _, r := range pods.References(cluster) {
		if r.Kind != "Secret" {
			continue
		}
		seen++
		if !slices.Contains(found, r.Name) {
			t.Errorf("Secret %s of %s is not among %q", r.Name, r.Where, found)
		}
	}
	if seen < 3 {
		t.Errorf("the operator finds %d Secrets", seen)
	}
}
