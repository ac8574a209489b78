//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

// policiesOnSecrets are in force during all tests, so each test shows that they do not hinder the operator.
var policiesOnSecrets = []string{"../../config/secret-access/policy.yaml", "../../config/admission/secret-writes.yaml"}

func restrictSecrets() error {
	for _, file := range policiesOnSecrets {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		objects, err := embedded.Decode(text)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := admin.Create(context.Background(), object); err != nil {
				return err
			}
		}
	}
	return nil
}

// deputy returns a namespace and the client of a user who may write our kinds there, and read no Secret.
func deputy(t *testing.T) (ns, name string, user client.Client) {
	t.Helper()
	ns = namespace(t)
	name = "deputy-of-" + ns
	grantIn(t, ns, "databases", name, []rbacv1.PolicyRule{{
		APIGroups: []string{dbv1.GroupVersion.Group}, Resources: []string{"databaseclusters", "databaseclusters/scale", "databasebackups", "databaserestores", "databases", "databaseusers", "databasecompanions"}, Verbs: []string{"*"},
	}})
	user = as(t, name)
	eventually(t, "the user to have the rights", func() error { return user.Create(t.Context(), smallest(ns, "empty"), client.DryRunAll) })
	naming := smallest(ns, "naming")
	naming.Spec.Credentials.SecretName = "password"
	inForce(t, func() error { return user.Create(t.Context(), naming.DeepCopy(), client.DryRunAll) })
	return ns, name, user
}

// inForce waits until a policy refuses a dry run. A new policy is not in force at once.
func inForce(t *testing.T, dryRun func() error) {
	t.Helper()
	eventually(t, "the policy to be in force", func() error {
		err := dryRun()
		return errorIf(!apierrors.IsForbidden(err), "got %w, want Forbidden", err)
	})
}

// mayGet grants permission to get Secrets; no names: all of them.
func mayGet(t *testing.T, ns, user string, secrets ...string) {
	t.Helper()
	role := "reader-of-" + strings.Join(secrets[:min(len(secrets), 1)], "")
	grantIn(t, ns, role+"secrets", user, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: secrets, Verbs: []string{"get"}}})
}

func mustBeForbidden(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: got %v, want Forbidden", what, err)
		return
	}
	mustContain(t, err.Error(), parts...)
}

// The controller-manager checks the types in the expressions for each matched kind.
func TestTheExpressionsOfAllPoliciesHaveValidTypes(t *testing.T) {
	parallel(t)
	for _, name := range []string{"secret-access", "secret-writes", "databasecluster-operator-protected-clusters",
		"databasecluster-operator-member-pods", "databasecluster-operator-member-configmaps"} {
		policy := &unstructured.Unstructured{}
		policy.SetAPIVersion("admissionregistration.k8s.io/v1")
		policy.SetKind("ValidatingAdmissionPolicy")
		policy.SetName(name)
		await(t, policy, name+" to be checked", func() bool {
			observed, _, _ := unstructured.NestedInt64(policy.Object, "status", "observedGeneration")
			return observed == policy.GetGeneration()
		})
		if warnings, _, _ := unstructured.NestedSlice(policy.Object, "status", "typeChecking", "expressionWarnings"); len(warnings) > 0 {
			t.Errorf("%s: %v", name, warnings)
		}
	}
}

func TestAUserNamesNoSecretThatTheUserMayNotRead(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	checked := 0
	for i, reference := range references(t) {
		if reference.To != "Secret" || reference.Kind == "DatabaseRestore" { // see TestAUserWhoMayNotReadEverySecretCreatesNoRestore
			continue
		}
		secret := fmt.Sprintf("theirs-%d", i)
		attempt := func() error {
			return user.Create(t.Context(), withoutEngine(pointing(t, ns, reference, secret)), client.DryRunAll)
		}
		if reference.Path == "spec.pod.imagePullSecrets[].name" { // no container can read it
			if err := attempt(); err != nil {
				t.Errorf("%s: %v", reference, err)
			}
			continue
		}
		checked++
		err := attempt()
		mustBeForbidden(t, reference.String(), err, reference.Path+" names Secret "+secret+", which "+name+" may not read",
			"Ask for permission to get this Secret in namespace "+ns)
		if checked == 1 {
			t.Log(err)
		}
		mayGet(t, ns, name, secret)
		eventually(t, "a user who may get the Secret to name it in "+reference.String(), attempt)
		other := user.Create(t.Context(), withoutEngine(pointing(t, ns, reference, "another")), client.DryRunAll)
		mustBeForbidden(t, reference.String(), other, reference.Path+" names Secret another, which")
	}
	if checked < 14 {
		t.Errorf("only %d fields name a Secret", checked)
	}
}

// withoutEngine leaves only the Secret to be refused.
func withoutEngine(object *unstructured.Unstructured) *unstructured.Unstructured {
	unstructured.RemoveNestedField(object.Object, "spec", "engine")
	if object.GetKind() == "DatabaseCompanion" {
		_ = unstructured.SetNestedField(object.Object, "None", "spec", "connection", "form")
	}
	return object
}

func TestAUserSelectsNoServiceAccountWhoseTokensTheUserMayNotCreate(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	named := smallest(ns, "named")
	named.Spec.ServiceAccount.Name = "theirs"
	projected := smallest(ns, "projected")
	projected.Spec.Pod.Volumes = []dbv1.ClusterVolume{{Name: "token", Projected: &dbv1.ClusterProjectedVolume{Sources: []dbv1.ClusterVolumeProjection{{
		ServiceAccountToken: &dbv1.ClusterTokenProjection{Audience: "api", Path: "token"},
	}}}}}
	// The operator creates the ServiceAccount, but an administrator may have given rights to its name before.
	generated := smallest(ns, "generated")
	generated.Spec.ServiceAccount.Annotations, generated.Spec.Pod.Volumes = map[string]string{"example.test/role": "any"}, projected.Spec.Pod.Volumes
	for account, cluster := range map[string]*dbv1.DatabaseCluster{"theirs": named, "default": projected, "generated": generated} {
		attempt := func() error { return user.Create(t.Context(), cluster.DeepCopy(), client.DryRunAll) }
		mustBeForbidden(t, cluster.Name, attempt(), "would run as ServiceAccount "+account+", for which "+name+" may not create tokens")
		grantIn(t, ns, "tokens-of-"+account, name, []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, ResourceNames: []string{account}, Verbs: []string{"create"},
		}})
		eventually(t, "a user who may create tokens to select the ServiceAccount "+account, attempt)
	}
	identity := smallest(ns, "identity")
	identity.Spec.ServiceAccount.Annotations = generated.Spec.ServiceAccount.Annotations
	if err := user.Create(t.Context(), identity, client.DryRunAll); err != nil {
		t.Errorf("annotations without a token need no permission: %v", err)
	}
}

// An administrator may have given rights to the name before, and the user selects the image that gets the token.
func TestAUserNamesNoEngineForAServiceAccountWhoseTokensTheUserMayNotCreate(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	engines := map[string]string{"of an engine with roles": replicated(t, nil), "of an engine that does not exist yet": "from-the-next-version"}
	for what, declared := range engines {
		cluster := smallest(ns, "deployer")
		cluster.Spec.Engine, cluster.Spec.Image = declared, "example.test/theirs:1"
		mustBeForbidden(t, what, user.Create(t.Context(), cluster, client.DryRunAll), "spec.engine: members of some engines get a token of ServiceAccount deployer, for which "+name+" may not create tokens")
	}
	existing := smallest(ns, "deployer")
	create(t, existing)
	mustBeForbidden(t, "an update", patched(t, user, existing, `{"spec":{"engine":"from-the-next-version"}}`), "get a token of ServiceAccount deployer")
	own := smallest(ns, "own")
	own.Spec.Engine, own.Spec.ServiceAccount.Name = "from-the-next-version", "theirs"
	mustBeForbidden(t, "a ServiceAccount of its own", user.Create(t.Context(), own, client.DryRunAll), "would run as ServiceAccount theirs")
	grantIn(t, ns, "tokens-of-deployer", name, []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, ResourceNames: []string{"deployer"}, Verbs: []string{"create"},
	}})
	eventually(t, "a user who may create tokens to name an engine", func() error { return patched(t, user, existing, `{"spec":{"engine":"from-the-next-version"}}`) })
	other := smallest(ns, "another")
	other.Spec.Engine = "from-the-next-version"
	mustBeForbidden(t, "another cluster", user.Create(t.Context(), other, client.DryRunAll), "get a token of ServiceAccount another")
	mayGet(t, ns, name)
	other.Spec.Credentials.SecretName = "password"
	eventually(t, "a user who may get every Secret to be refused only for the token", func() error {
		err := user.Create(t.Context(), other.DeepCopy(), client.DryRunAll)
		return errorIf(err == nil || !strings.Contains(err.Error(), "get a token of ServiceAccount another"), "%v", err)
	})
}

// patched sends a merge patch as a dry run.
func patched(t *testing.T, user client.Client, object client.Object, patch string) error {
	t.Helper()
	copied := object.DeepCopyObject().(client.Object)
	return user.Patch(t.Context(), copied, client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
}

func TestAUserWithoutTheSecretMayScaleAndPauseButRunNoOtherCode(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	cluster := smallest(ns, "orders")
	cluster.Spec.Credentials.SecretName = "password"
	withHook(cluster)
	create(t, cluster)
	for _, patch := range []string{
		`{"spec":{"replicas":5}}`, `{"spec":{"paused":true}}`, `{"spec":{"hibernated":true}}`, `{"spec":{"resources":{"requests":{"cpu":"1"}}}}`,
		`{"spec":{"storage":{"size":"2Gi"}}}`, `{"spec":{"updateStrategy":{"paused":true}}}`,
		`{"spec":{"deletion":{"protection":true,"volumes":"Delete","hookFailurePolicy":"Continue","hookDeadlineSeconds":5}}}`,
		`{"metadata":{"annotations":{"database.dbcluster.io/restart":"1"},"labels":{"a":"b"}}}`,
		`{"spec":{"credentials":null,"image":"example.test/theirs:1"}}`,
	} {
		if err := patched(t, user, cluster, patch); err != nil {
			t.Errorf("%s: %v", patch, err)
		}
	}
	if output, err := kubectl(t, name, "-n", ns, "scale databasecluster orders --replicas=2"); err != nil {
		t.Errorf("scale: %v: %s", err, output)
	}
	refused := []string{
		`{"spec":{"image":"example.test/theirs:1"}}`, `{"spec":{"replicas":5,"container":{"command":["cat"]}}}`, `{"spec":{"container":{"args":["-c"]}}}`,
		`{"spec":{"container":{"env":[{"name":"LD_PRELOAD","value":"/x"}]}}}`, `{"spec":{"container":{"readinessProbe":{"exec":{"command":["cat"]}}}}}`,
		`{"spec":{"config":{"files":{"a":"b"}}}}`, `{"spec":{"parameters":{"a":"b"}}}`,
		`{"spec":{"pod":{"sidecars":[{"name":"theirs","image":"theirs"}]}}}`, `{"spec":{"pod":{"initContainers":[{"name":"theirs"}]}}}`,
		`{"spec":{"scheduling":{"nodeSelector":{"a":"b"}}}}`, `{"spec":{"service":{"type":"NodePort"}}}`,
		`{"spec":{"deletion":{"hooks":[{"name":"theirs","type":"Command","command":["cat"]}]}}}`, `{"spec":{"deletion":null}}`,
		`{"spec":{"backup":{"destination":{"url":"s3://bucket","credentialSource":"WorkloadIdentity"},"verification":{"schedule":"@daily","command":["cat"]}}}}`,
	}
	for _, patch := range refused {
		mustBeForbidden(t, patch, patched(t, user, cluster, patch), "spec.credentials.secretName names Secret password")
	}
	mayGet(t, ns, name, "password")
	for _, patch := range refused {
		eventually(t, patch, func() error { return patched(t, user, cluster, patch) })
	}
}

func TestAUserUsesNoSecretsThatABackupNames(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	kept := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "kept"}, Spec: dbv1.DatabaseBackupSpec{Cluster: "orders"}}
	create(t, kept)
	kept.Status.Destination = &dbv1.BackupDestination{URL: "s3://bucket", CredentialsSecretName: "bucket", EncryptionSecretName: "key"}
	if err := admin.Status().Patch(t.Context(), kept.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(
		`{"status":{"destination":{"url":"s3://bucket","credentialsSecretName":"bucket","encryptionSecretName":"key"}}}`))); err != nil {
		t.Fatal(err)
	}
	const verify = `{"metadata":{"annotations":{"database.dbcluster.io/verify":"1"}}}`
	mustBeForbidden(t, "verify", patched(t, user, kept, verify), "status.destination.credentialsSecretName names Secret bucket, which "+name)
	for _, patch := range []string{`{"spec":{"deletionPolicy":"Delete"}}`, `{"metadata":{"annotations":{"a":"b"}}}`} {
		if err := patched(t, user, kept, patch); err != nil {
			t.Errorf("%s: %v", patch, err)
		}
	}
	restored := smallest(ns, "restored")
	restored.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: kept.Name}}
	attempt := func() error { return user.Create(t.Context(), restored.DeepCopy(), client.DryRunAll) }
	mustBeForbidden(t, "restore", attempt(), "spec.bootstrap.fromBackup.name uses the Secrets that the DatabaseBackup names",
		"every Secret in namespace "+ns+", which "+name+" does not have. Use spec.bootstrap.fromBackup.location")

	mayGet(t, ns, name, "bucket")
	eventually(t, "the other Secret to be refused", func() error {
		err := patched(t, user, kept, verify)
		return errorIf(err == nil || !strings.Contains(err.Error(), "status.destination.encryptionSecretName names Secret key"), "%v", err)
	})
	mustBeForbidden(t, "restore", attempt(), "spec.bootstrap.fromBackup.name")
	mayGet(t, ns, name)
	eventually(t, "a user who may get every Secret to verify a backup", func() error { return patched(t, user, kept, verify) })
	if err := attempt(); err != nil {
		t.Error(err)
	}
}

// variables returns variables of a container, each from one of the Secrets.
func variables(count int, secrets []string) (all []corev1.EnvVar) {
	for i := range count {
		all = append(all, corev1.EnvVar{Name: fmt.Sprintf("V%d", i), ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: secrets[i%len(secrets)]}, Key: "key",
		}}})
	}
	return all
}

// A check of a permission uses 3.5 % of the API server's budget for a policy. The spec below has the highest number of variables.
func TestAUserMayNameTenSecretsInTheLargestSpec(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	var secrets []string
	for i := range 11 {
		secrets = append(secrets, fmt.Sprintf("secret-%d", i))
	}
	mayGet(t, ns, name, secrets...)
	largest := func(secrets []string) *dbv1.DatabaseCluster {
		cluster := smallest(ns, "orders")
		cluster.Spec.Container.Env = variables(256, secrets)
		for i := range 8 {
			cluster.Spec.Pod.InitContainers = append(cluster.Spec.Pod.InitContainers, dbv1.ClusterExtraContainer{Name: fmt.Sprintf("init-%d", i), Env: variables(128, secrets)})
			cluster.Spec.Pod.Sidecars = append(cluster.Spec.Pod.Sidecars, dbv1.Sidecar{ClusterExtraContainer: dbv1.ClusterExtraContainer{Name: fmt.Sprintf("side-%d", i), Env: variables(128, secrets)}})
		}
		return cluster
	}
	eventually(t, "ten Secrets to be accepted", func() error { return user.Create(t.Context(), largest(secrets[:10]), client.DryRunAll) })
	mustBeForbidden(t, "eleven Secrets", user.Create(t.Context(), largest(secrets), client.DryRunAll), "names more than 10 different Secrets",
		"ask for permission to get every Secret of the namespace")
	mayGet(t, ns, name)
	eventually(t, "a user who may get every Secret to name eleven", func() error { return user.Create(t.Context(), largest(secrets), client.DryRunAll) })
}
