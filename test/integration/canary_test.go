//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// canaries are values in Secrets that must not occur anywhere else.
type canaries struct {
	mutex sync.Mutex
	// traces has every form that would reveal a canary: the value, its usual encodings, and hashes of the Secret
	// alone. An attacker could check a guess against such a hash for every cluster at once.
	traces map[string]string // trace to its description
}

// value returns a new canary.
func (c *canaries) value(of string) string {
	return c.learn(of, "canary-"+strings.ToLower(rand.Text()))
}

// learn makes a value a canary.
func (c *canaries) learn(of, value string) string {
	sum := sha256.Sum256([]byte(value))
	c.add(of, value)
	c.add(of+" in base64", base64.StdEncoding.EncodeToString([]byte(value)))
	c.add(of+" in hexadecimal", hex.EncodeToString([]byte(value)))
	c.add(of+" as part of a URL", url.QueryEscape(value))
	c.add(of+" as a hash", hex.EncodeToString(sum[:])[:16])
	return value
}

func (c *canaries) add(of, trace string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.traces[trace] = of
}

// secret creates a Secret whose values are canaries.
func (c *canaries) secret(t *testing.T, ns, name string, keys ...string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: map[string][]byte{}}
	for _, key := range keys {
		secret.Data[key] = []byte(c.value("key " + key + " of Secret " + name))
	}
	c.add("Secret "+name+" as a hash", pods.SecretContent(secret)[:16])
	create(t, secret)
	return secret
}

// in returns the canaries that a text reveals.
func (c *canaries) in(text string) []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found := map[string]bool{}
	for trace, of := range c.traces {
		if strings.Contains(text, trace) {
			found[of] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// everything returns all objects of the API server except Secrets, by kind and name.
func everything(t *testing.T) map[string]string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("DBC_TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, group := range lists {
		for _, kind := range group.APIResources {
			if slices.Contains(kind.Verbs, "list") && kind.Kind != "Secret" {
				addObjects(t, all, group.GroupVersion, kind.Kind)
			}
		}
	}
	if len(all) < 50 { // the control plane alone has more objects
		t.Errorf("the search read only %d objects of all kinds", len(all))
	}
	return all
}

func addObjects(t *testing.T, all map[string]string, version, kind string) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(version)
	list.SetKind(kind + "List")
	if err := admin.List(t.Context(), list); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		t.Fatal(err)
	}
	for _, object := range list.Items {
		text, err := json.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())] = string(text)
	}
}

// leaks returns the places that reveal a canary.
func (c *canaries) leaks(t *testing.T, more map[string]string) []string {
	t.Helper()
	all := everything(t)
	maps.Copy(all, more)
	var leaks []string
	for _, where := range slices.Sorted(maps.Keys(all)) {
		if found := c.in(all[where]); len(found) > 0 {
			leaks = append(leaks, fmt.Sprintf("%s: %v", where, found))
		}
	}
	return leaks
}

// mustFind checks that the search finds each form of a canary at each place.
func (c *canaries) mustFind(t *testing.T, ns string) {
	t.Helper()
	c.mutex.Lock()
	traces := slices.Sorted(maps.Keys(c.traces))
	c.mutex.Unlock()
	planted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "planted"}, Data: map[string]string{}}
	for i, trace := range traces {
		planted.Data[fmt.Sprint(i)] = "before " + trace + " after"
	}
	create(t, planted)
	leaks := c.leaks(t, map[string]string{"a log": "x " + traces[0] + " y"})
	if len(leaks) != 2 || !strings.HasPrefix(leaks[0], "ConfigMap "+ns+"/planted: ") || !strings.HasPrefix(leaks[1], "a log: ") {
		t.Errorf("the search found the wrong leaks: %v", leaks)
	}
	for _, of := range c.traces {
		if !strings.Contains(leaks[0], of) {
			t.Errorf("the search did not find %s", of)
		}
	}
	remove(t, planted)
}

// full names a Secret in every field that can name one.
func (c *canaries) full(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	ns := cluster.Namespace
	variable := func(secret string) []corev1.EnvVar {
		c.secret(t, ns, secret, "token")
		return []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: "token",
		}}}}
	}
	source := func(secret string) []corev1.EnvFromSource {
		c.secret(t, ns, secret, "PASSWORD", "USER")
		return []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}}}
	}
	c.secret(t, ns, "password", "password", "not-needed")
	c.secret(t, ns, "bucket", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
	c.secret(t, ns, "registry", ".dockerconfigjson")
	c.secret(t, ns, "files", "tls.key", "ca.crt")
	spec := &cluster.Spec
	spec.Credentials.SecretName, spec.Container.Env, spec.Container.EnvFrom = "password", variable("env"), source("env-from")
	spec.Pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	spec.Pod.Volumes = []dbv1.ClusterVolume{{Name: "files", Secret: &corev1.SecretVolumeSource{SecretName: "files"}}}
	spec.Container.VolumeMounts = []dbv1.ClusterVolumeMount{{Name: "files", MountPath: "/files"}}
	spec.Pod.InitContainers = []dbv1.ClusterExtraContainer{{Name: "prepare", Env: variable("init-env"), EnvFrom: source("init-env-from")}}
	spec.Pod.Sidecars = []dbv1.Sidecar{{ClusterExtraContainer: dbv1.ClusterExtraContainer{Name: "exporter", Env: variable("sidecar-env"), EnvFrom: source("sidecar-env-from")}}}
	spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "s3://backups/prod", Endpoint: "http://s3.example.test:7070", CredentialsSecretName: "bucket"}}
}

// The content of a Secret stays in it during a rollout, backups, a restore, a verification, a deletion with a hook,
// and failures of these. The operator logs at the highest verbosity.
func TestTheContentOfASecretIsNowhereElse(t *testing.T) {
	parallel(t)
	ns, c := ownNamespace(t), &canaries{traces: map[string]string{}}
	p, metrics := offersMetrics(t, ns, "--zap-log-level=9", "--transfer-image=example.test/operator:1")
	declared := ledger(t, "canary-v1")
	declared.Spec.Actions.Restore, declared.Spec.Actions.Probe = &dbv1.EngineAction{Command: []string{"restore"}}, &dbv1.EngineAction{Command: []string{"probe"}}
	create(t, declared)
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine = declared.Name
	atOnce(cluster)
	withHook(cluster)
	c.full(t, cluster)
	var fails atomic.Bool
	kubelet(t, ns, func(pod *corev1.Pod) {
		switch component := pod.Labels[dbv1.LabelComponent]; {
		case component == dbv1.ComponentDatabase, component == dbv1.ComponentHook && !fails.Load():
			broken("example.test/database:bad")(pod)
		case pod.Status.Phase != corev1.PodPending && pod.Status.Phase != corev1.PodRunning:
		case fails.Load():
			exits(pod, 30, `{"reason":"AccessDenied","message":"the bucket refuses the credentials"}`)
		default:
			exits(pod, 0, `{"bytes":1048576,"storedBytes":1024,"sha256":"ab","output":{"role":"primary"}}`)
		}
	})
	create(t, cluster)
	awaitReady(t, cluster)
	c.generate(t, ns)
	c.rollOut(t, cluster)
	kept := c.backUp(t, cluster, &fails)
	c.restore(t, cluster, kept)
	c.delete(t, cluster, &fails)

	status, figures, err := scrape(t.Context(), metrics, reader(t, ns))
	if err != nil || status != http.StatusOK || !strings.Contains(figures, `name="again"`) {
		t.Errorf("the metrics do not include the remaining cluster: %d, %v", status, err)
	}
	p.mustStop(t)
	output := p.output(t)
	mustContain(t, output, "orders", "the bucket refuses the credentials")
	if strings.Contains(output, "Response Body") { // a dump of bytes would hide a canary from the search
		t.Error("the operator logs the bodies of responses")
	}
	more := map[string]string{"the operator's log": output, "the metrics": figures}
	for _, leak := range c.leaks(t, more) {
		t.Error("the content of a Secret is in", leak)
	}
	c.mustFind(t, ns)
}

// generate creates a cluster whose credentials the operator generates. They, and a URI that contains them, are canaries.
func (c *canaries) generate(t *testing.T, ns string) {
	t.Helper()
	cluster := smallest(ns, "generated")
	cluster.Spec.Engine = generating(t, "canary-generating-v1").Name
	create(t, cluster)
	awaitReady(t, cluster)
	connection := secretOf(cluster, "-connection")
	await(t, connection, "the connection Secret", func() bool { return len(connection.Data["uri"]) > 0 })
	for _, key := range []string{"password", "uri"} {
		c.learn("key "+key+" of Secret "+connection.Name, string(connection.Data[key]))
	}
	for _, secret := range []*corev1.Secret{connection, read(t, secretOf(cluster, "-credentials"))} {
		c.add("Secret "+secret.Name+" as a hash", pods.SecretContent(secret)[:16])
	}
}

// rollOut changes a Secret, deletes its key, deletes the Secret, and breaks a member.
func (c *canaries) rollOut(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	before := uids(t, cluster)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "password"}}
	change(t, secret, func(s *corev1.Secret) { s.Data["password"] = []byte(c.value("the second password")) })
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "1"))
	awaitRestarted(t, cluster, before)
	change(t, secret, func(s *corev1.Secret) { delete(s.Data, "password") })
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "2"))
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonSecretIncomplete)
	remove(t, secret)
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "3"))
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonReferenceMissing)
	c.secret(t, cluster.Namespace, "password", "password")
	change(t, cluster, func(s *dbv1.DatabaseCluster) { s.Spec.Image = "example.test/database:bad" })
	awaitTrue(t, cluster, dbv1.ConditionDegraded, dbv1.ReasonMemberFailing)
	change(t, cluster, setSecondImage)
	awaitReady(t, cluster)
}

// backUp creates a backup, verifies it, and creates one that fails. It returns the first.
func (c *canaries) backUp(t *testing.T, cluster *dbv1.DatabaseCluster, fails *atomic.Bool) *dbv1.DatabaseBackup {
	t.Helper()
	kept := awaitPhase(t, backup(t, cluster, "kept", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	change(t, kept, func(b *dbv1.DatabaseBackup) { b.Annotations = map[string]string{dbv1.AnnotationVerify: "1"} })
	awaitEvent(t, kept, corev1.EventTypeNormal, dbv1.ReasonVerified, "")
	fails.Store(true)
	awaitPhase(t, backup(t, cluster, "bad", dbv1.BackupRetain), dbv1.BackupFailed, "the bucket refuses the credentials")
	fails.Store(false)
	deleted := awaitPhase(t, backup(t, cluster, "gone", dbv1.BackupDelete), dbv1.BackupCompleted, "")
	remove(t, deleted)
	awaitDeleted(t, deleted)
	return kept
}

// restore creates a cluster from a backup.
func (c *canaries) restore(t *testing.T, cluster *dbv1.DatabaseCluster, from *dbv1.DatabaseBackup) {
	t.Helper()
	again := smallest(cluster.Namespace, "again")
	cluster.Spec.DeepCopyInto(&again.Spec)
	again.Spec.Deletion.Hooks = nil // no kubelet would run them when the namespace is deleted
	again.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: from.Name}}
	create(t, again)
	awaitReady(t, again)
}

// delete deletes a cluster whose hook fails first and then succeeds.
func (c *canaries) delete(t *testing.T, cluster *dbv1.DatabaseCluster, fails *atomic.Bool) {
	t.Helper()
	fails.Store(true)
	remove(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonHookFailed)
	fails.Store(false)
	if leaks := c.leaks(t, nil); len(leaks) > 0 { // while all objects still exist
		t.Errorf("the content of a Secret is in %v", leaks)
	}
	job := hookJob(cluster)
	remove(t, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
	awaitDeleted(t, cluster)
}
