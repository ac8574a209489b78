//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// generating returns an engine whose credentials the operator generates, with a connection Secret.
func generating(t *testing.T, name string) *dbv1.DatabaseEngine {
	t.Helper()
	declared := ledger(t, name)
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{Length: 32}}}
	declared.Spec.Connection = &dbv1.EngineConnection{Type: "ledger", Entries: map[string]dbv1.EngineTemplate{
		"password": `{{ secret "password" }}`, "uri": `ledger://app:{{ secret "password" }}@{{ .host }}`,
	}}
	create(t, declared)
	return declared
}

func secretOf(cluster *dbv1.DatabaseCluster, suffix string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name + suffix}}
}

// The operator creates both Secrets, reverts a manual edit, backs up, and deletes the credentials with the volumes. The
// policies on Secrets are in force.
func TestTheOperatorWritesTheSecretsOfAClusterUntilItIsDeletedWithItsVolumes(t *testing.T) {
	parallel(t)
	declared := generating(t, "generating-v1")
	cluster := smallest(namespace(t), "orders")
	cluster.Spec.Engine, cluster.Spec.Deletion.Volumes = declared.Name, dbv1.VolumesDelete
	cluster.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "s3://backups/prod", CredentialsSecretName: "bucket"}}
	create(t, keys(cluster.Namespace, "bucket"))
	create(t, cluster)
	kubelet(t, cluster.Namespace, func(pod *corev1.Pod) {
		if healthy(pod); pod.Labels[dbv1.LabelComponent] == dbv1.ComponentBackup {
			exits(pod, 0, `{"bytes":1048576,"storedBytes":1024,"sha256":"ab"}`)
		}
	})
	awaitReady(t, cluster)
	credentials, connection := read(t, secretOf(cluster, "-credentials")), secretOf(cluster, "-connection")
	await(t, connection, "the connection Secret", func() bool { return len(connection.Data["uri"]) > 0 })
	if password := credentials.Data["password"]; len(password) != 32 || string(connection.Data["password"]) != string(password) {
		t.Errorf("the passwords have %d and %d characters", len(password), len(connection.Data["password"]))
	}
	change(t, connection, func(s *corev1.Secret) { s.Data["password"] = []byte("another") })
	touch(t, cluster)
	await(t, connection, "the manual edit to be reverted", func() bool {
		return string(connection.Data["password"]) == string(credentials.Data["password"])
	})
	awaitPhase(t, backup(t, cluster, "kept", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	remove(t, cluster)
	awaitDeleted(t, cluster)
	eventually(t, "both Secrets to be deleted", func() error {
		for _, secret := range []*corev1.Secret{credentials, connection} {
			if err := admin.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s: %w", secret.Name, err)
			}
		}
		return nil
	})
}

func TestTheOperatorWritesOnlyItsOwnSecrets(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	name := "system:serviceaccount:" + ns + ":databasecluster-operator-controller-manager"
	everything := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}}}
	grantIn(t, ns, "operator", name, everything)
	grantIn(t, ns, "other", name+"-2", everything)
	operator, other := as(t, name), as(t, name+"-2")
	labels := map[string]string{dbv1.LabelManagedBy: dbv1.LabelManagedByValue}
	secret := func(name string, labels map[string]string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labels}, StringData: map[string]string{"key": "value"}}
	}
	ours, theirs := secret("ours", labels), secret("theirs", nil)
	eventually(t, "the operator to create its Secret", func() error { return operator.Create(t.Context(), ours) })
	inForce(t, func() error { return operator.Create(t.Context(), secret("theirs-2", nil), client.DryRunAll) })
	create(t, theirs)
	const refusal = "the operator may write only Secrets with the label app.kubernetes.io/managed-by=databasecluster-operator, and Secret "
	const label, unlabel = `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"databasecluster-operator"}}}`, `{"metadata":{"labels":null}}`
	for what, err := range map[string]error{
		"create theirs": operator.Create(t.Context(), secret("theirs-2", nil), client.DryRunAll), "adopt theirs": patched(t, operator, theirs, label),
		"change theirs": patched(t, operator, theirs, `{"data":{"key":null}}`), "disown ours": patched(t, operator, ours, unlabel),
		"delete theirs": operator.Delete(t.Context(), theirs, client.DryRunAll),
	} {
		mustBeForbidden(t, what, err, refusal+ns+"/")
	}
	for _, kind := range []corev1.SecretType{corev1.SecretTypeServiceAccountToken, corev1.SecretTypeBootstrapToken} {
		token := secret("token", labels)
		token.Type, token.Annotations = kind, map[string]string{corev1.ServiceAccountNameKey: "default"}
		mustBeForbidden(t, string(kind), operator.Create(t.Context(), token, client.DryRunAll), "may not create Secrets of the types")
	}
	for what, err := range map[string]error{
		"change ours": patched(t, operator, ours, `{"data":{"key":null}}`), "delete ours": operator.Delete(t.Context(), ours.DeepCopy(), client.DryRunAll),
		"another user's create": other.Create(t.Context(), secret("theirs-2", nil), client.DryRunAll), "another user's deletion": other.Delete(t.Context(), theirs, client.DryRunAll),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The suffix in the policy is the name of the ServiceAccount in every installation by manifests and OLM.
func TestThePolicyOnWritesNamesTheOperator(t *testing.T) {
	text, err := os.ReadFile("../../config/admission/secret-writes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, account, _ := strings.Cut(strings.TrimPrefix(operatorUser, "system:serviceaccount:"), ":")
	if !strings.Contains(string(text), "endsWith(':"+account+"')") {
		t.Errorf("the policy does not apply to %s", operatorUser)
	}
}
