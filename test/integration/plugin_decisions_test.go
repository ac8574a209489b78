//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestThePluginListsDatabasesAndUsersAndExplainsThem(t *testing.T) {
	parallel(t)
	engine := accountant(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, ends)
	ns := cluster.Namespace
	mustDbc(t, ns, []string{"No Database and no DatabaseUser names DatabaseCluster orders."}, "users", "orders")
	mustDbc(t, ns, []string{"Ready is True"}, "why", "orders")
	mustDbc(t, ns, []string{"No change."}, "diff", "orders")
	u := userOf(cluster, "billing")
	u.Spec.SecretName, u.Spec.Databases = "given", []dbv1.DatabaseUserGrant{{Name: "invoices", Privileges: []string{"owner"}}}
	create(t, u)
	awaitUser(t, u, metav1.ConditionFalse, dbv1.ReasonPasswordMissing)
	table := mustDbc(t, ns, []string{"NAME-IN-DATABASE", "MESSAGE"}, "users", "orders", "-o", "wide")
	if fields := strings.Join(strings.Fields(table), " "); !strings.Contains(fields, "DatabaseUser billing orders billing invoices: owner - False PasswordMissing") {
		t.Errorf("got\n%s", table)
	}
	mustDbc(t, ns, []string{"databaseuser.database.dbcluster.io/billing"}, "users", "-o", "name")
	for _, name := range []string{"orders", "databaseuser/billing", "dbu/billing"} {
		output, code := dbc(t, "", "-n", ns, "why", name)
		if code != 1 {
			t.Errorf("why %s ends with %d", name, code)
		}
		mustContain(t, output, "DatabaseUser billing: Stalled is True (PasswordMissing)", "databases-and-users.md#passwords", "kubectl -n "+ns+" describe databaseuser billing")
	}
	for name, want := range map[string]string{"databaseuser/none": "DatabaseUser none does not exist", "pod/orders-0": "is no kind that why explains"} {
		if output, code := dbc(t, "", "-n", ns, "why", name); code != 2 || !strings.Contains(output, want) {
			t.Errorf("why %s ends with %d:\n%s", name, code, output)
		}
	}
}

// changedManifest writes a cluster as its owner would, with a change.
func changedManifest(t *testing.T, cluster *dbv1.DatabaseCluster, edit func(*dbv1.DatabaseCluster)) string {
	t.Helper()
	c := smallest(cluster.Namespace, cluster.Name)
	edit(c)
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": dbv1.GroupVersion.String(), "kind": "DatabaseCluster", "metadata": map[string]any{"name": c.Name}, "spec": c.Spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "orders.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestThePluginShowsWhatAManifestChanges(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	ns, before := cluster.Namespace, read(t, cluster).Generation
	for name, c := range map[string]struct {
		edit func(*dbv1.DatabaseCluster)
		code int
		want []string
	}{
		"the same spec": {func(*dbv1.DatabaseCluster) {}, 0, []string{"No change."}},
		"another image": {func(c *dbv1.DatabaseCluster) { c.Spec.Image = "example.test/database:2" }, 1, []string{
			"DatabaseCluster orders", "-  image: example.test/database:1", "StatefulSet orders", "+      - image: example.test/database:2",
			"The members restart one after another, the primary last.",
		}},
		"larger volumes": {size("2Gi"), 1, []string{"+          storage: 2Gi", "No member restarts.", "The volumes grow from 1Gi to 2Gi"}},
		"a rollout that waits": {func(c *dbv1.DatabaseCluster) {
			c.Spec.Image, c.Spec.UpdateStrategy.Paused = "example.test/database:2", true
		}, 1, []string{"The members restart when spec.updateStrategy.paused is false."}},
		"another type of Service": {func(c *dbv1.DatabaseCluster) { c.Spec.Service.Type = corev1.ServiceTypeNodePort }, 1, []string{
			"Service orders", "+  type: NodePort", "No member restarts.",
		}},
		"fewer members":             {func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 1 }, 1, []string{"The number of members shrinks from 3 to 1"}},
		"a Secret that is missing":  {credentialsOf("none"), 1, []string{"The operator would need you: Stalled (ReferenceMissing): Secret none"}},
		"an engine that is missing": {func(c *dbv1.DatabaseCluster) { c.Spec.Engine = "none" }, 1, []string{"Stalled (EngineMissing)"}},
		"a spec that is refused":    {func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = -1 }, 2, []string{"the API server refuses the manifest", "spec.replicas"}},
	} {
		t.Run(name, func(t *testing.T) {
			output, code := dbc(t, "", "-n", ns, "diff", "orders", "-f", changedManifest(t, cluster, c.edit))
			if code != c.code {
				t.Errorf("the exit code is %d, want %d:\n%s", code, c.code, output)
			}
			mustContain(t, output, c.want...)
		})
	}
	mustDbc(t, ns, []string{"No change."}, "diff", "orders")
	if after := read(t, cluster).Generation; after != before {
		t.Errorf("the spec has changed from generation %d to %d", before, after)
	}
	if output, code := dbc(t, "", "-n", ns, "diff", "other", "-f", changedManifest(t, cluster, size("2Gi"))); code != 2 || !strings.Contains(output, "has no DatabaseCluster other") {
		t.Errorf("of another cluster: %d\n%s", code, output)
	}
}

// The API server gets the patch of kubectl apply: it removes what the previous manifest had, and keeps what others have set.
func TestThePluginComparesAsKubectlApplies(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Service.Labels = map[string]string{"team": "a", "by": "hand"}
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "example.com/by", "hand")
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, corev1.LastAppliedConfigAnnotation, `{"metadata":{"annotations":{}},"spec":{"service":{"labels":{"team":"a"}}}}`)
	})
	file := changedManifest(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Service.Labels = map[string]string{"tier": "db"} })
	output, code := dbc(t, "", "-n", cluster.Namespace, "diff", "orders", "-f", file)
	if code != 1 || !strings.Contains(output, "\n-      team: a\n") || strings.Contains(output, "\n-      by: hand") || strings.Contains(output, "example.com/by") {
		t.Errorf("got %d\n%s", code, output)
	}
	fresh := smallest(cluster.Namespace, "fresh")
	output, code = dbc(t, "", "-n", cluster.Namespace, "diff", "fresh", "-f", changedManifest(t, fresh, func(*dbv1.DatabaseCluster) {}))
	if code != 1 || !strings.Contains(output, "+kind: StatefulSet") || !strings.Contains(output, "The operator creates the cluster with 3 members.") {
		t.Errorf("of a new cluster: %d\n%s", code, output)
	}
	if clusters := listed(t, cluster.Namespace, &dbv1.DatabaseClusterList{}, nil).Items; len(clusters) != 1 {
		t.Errorf("there are %d clusters", len(clusters))
	}
}

// An idle cluster needs no change, also with a certificate and passwords that only the operator can write.
func TestThePluginShowsNoChangeOfAnIdleClusterWithTLS(t *testing.T) {
	parallel(t)
	c := started(t, withTLS(encrypting(t, "tls-diff-v1", true), dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}), reloading)
	mustDbc(t, c.Namespace, []string{"No change."}, "diff", "orders")
	change(t, c, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	awaitTrue(t, c, dbv1.ConditionHibernated, dbv1.ReasonHibernated)
	eventually(t, "the hibernated cluster to need no change", func() error {
		output, code := dbc(t, "", "-n", c.Namespace, "diff", "orders")
		return errorIf(code != 0, "%d\n%s", code, output)
	})
}

// The plugin does not know the image of the operator, which is in the Deployment of the archive.
func TestThePluginShowsNoChangeOfAnIdleClusterWithAnArchive(t *testing.T) {
	parallel(t)
	cluster := logging(t, "logging-diff")
	create(t, cluster)
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionContinuousArchiving, dbv1.ReasonArchiving, "s3://backups/prod/")
	eventually(t, "the cluster to need no change", func() error {
		output, code := dbc(t, "", "-n", cluster.Namespace, "diff", "orders")
		return errorIf(code != 0 || !strings.Contains(output, "No change."), "%d\n%s", code, output)
	})
}

func size(of string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Size = resource.MustParse(of) }
}

func credentialsOf(secret string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Container.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret}}}}
	}
}

// The operator does what the plugin predicts.
func TestThePluginPredictsWhichChangesRestartMembers(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	pods := uidsOf(t, cluster)
	mustNotChange := func(c *dbv1.DatabaseCluster) {
		c.Spec.Service.Annotations = map[string]string{"example.test/note": "yes"}
	}
	predicted, _ := dbc(t, "", "-n", cluster.Namespace, "diff", "orders", "-f", changedManifest(t, cluster, mustNotChange))
	mustContain(t, predicted, "No member restarts.")
	change(t, cluster, mustNotChange)
	eventually(t, "the Service to have the annotation", func() error {
		s := read(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "orders"}})
		return errorIf(s.Annotations["example.test/note"] == "", "%v", s.Annotations)
	})
	awaitReady(t, cluster)
	if now := uidsOf(t, cluster); now != pods {
		t.Errorf("members have restarted: %s, before %s", now, pods)
	}
	paused := func(c *dbv1.DatabaseCluster) { c.Spec.Paused, c.Spec.Image = true, "example.test/database:2" }
	change(t, cluster, paused)
	awaitTrue(t, cluster, dbv1.ConditionPaused, dbv1.ReasonPaused)
	output, code := dbc(t, "", "-n", cluster.Namespace, "diff", "orders")
	if code != 1 {
		t.Errorf("a step that is pending ends with %d", code)
	}
	mustContain(t, output, "The operator is in the step Paused: spec.paused is true; pending: update StatefulSet orders (spec.template)")
}

func uidsOf(t *testing.T, cluster *dbv1.DatabaseCluster) string {
	t.Helper()
	var all []string
	for _, pod := range listed(t, cluster.Namespace, &corev1.PodList{}, nil).Items {
		all = append(all, pod.Name+"/"+string(pod.UID))
	}
	return strings.Join(all, " ")
}

func TestThePluginDeletesTheJobOfAClientThatDoesNotStart(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, func(pod *corev1.Pod) {
		if pod.Labels[dbv1.LabelComponent] != "client" {
			healthy(pod)
			return
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "client", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
		}}}
	})
	ns := cluster.Namespace
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "mine"}, StringData: map[string]string{"password": "correct-horse", "uri": "any://app:correct-horse@orders"}})
	seen := make(chan batchv1.Job, 1)
	repeatUntilSeen(t, ns, seen)
	output, code := dbc(t, "", "-n", ns, "connect", "orders", "--job", "--secret", "mine", "--command", `echo "$DBC_URI"`)
	if code != 1 || !strings.Contains(output, "does not start: ImagePullBackOff: no such image") {
		t.Errorf("the exit code is %d:\n%s", code, output)
	}
	job := <-seen
	content, err := yaml.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), "correct-horse") || !strings.Contains(string(content), "name: DBC_URI") {
		t.Errorf("the Job is\n%s", content)
	}
	if owner := job.OwnerReferences; len(owner) != 1 || owner[0].UID != cluster.UID || job.Spec.TTLSecondsAfterFinished == nil || job.Spec.ActiveDeadlineSeconds == nil {
		t.Errorf("the Job stays: %+v", job)
	}
	eventually(t, "the Job and its pod to be deleted", func() error {
		jobs, pods := listed(t, ns, &batchv1.JobList{}, clients()).Items, listed(t, ns, &corev1.PodList{}, clients()).Items
		return errorIf(len(jobs)+len(pods) > 0, "%d Jobs and %d pods", len(jobs), len(pods))
	})
	if output, code := dbc(t, "", "-n", ns, "connect", "orders", "--job", "--port", "1"); code != 1 || !strings.Contains(output, "none of the others can be") {
		t.Errorf("two flags that exclude each other: %d\n%s", code, output)
	}
}

func clients() map[string]string { return map[string]string{dbv1.LabelComponent: "client"} }

// repeatUntilSeen sends the first Job of a client.
func repeatUntilSeen(t *testing.T, ns string, seen chan<- batchv1.Job) {
	t.Helper()
	go func() {
		for t.Context().Err() == nil {
			jobs := &batchv1.JobList{}
			if err := admin.List(t.Context(), jobs, client.InNamespace(ns), client.MatchingLabels(clients())); err == nil && len(jobs.Items) > 0 {
				seen <- jobs.Items[0]
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
}

func TestThePluginConnectsAsADatabaseUser(t *testing.T) {
	parallel(t)
	engine := accountant(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, ends)
	other := userOf(cluster, "other")
	other.Spec.ClusterRef.Name = "cache"
	create(t, other)
	for user, want := range map[string]string{
		"none":  "DatabaseUser none does not exist",
		"other": "DatabaseUser other is a user of DatabaseCluster cache, not of orders",
	} {
		output, code := dbc(t, "", "-n", cluster.Namespace, "connect", "orders", "--user", user, "--command", "true")
		if code != 1 || !strings.Contains(output, want) {
			t.Errorf("as %s: %d\n%s", user, code, output)
		}
	}
	u := userOf(cluster, "billing")
	create(t, u)
	awaitUser(t, u, metav1.ConditionTrue, dbv1.ReasonInDatabase)
	output, code := dbc(t, "", "-n", cluster.Namespace, "connect", "orders", "--user", "billing", "--command", "true")
	if code != 1 || !strings.Contains(output, fmt.Sprintf("pod %s", "orders-")) { // no kubelet forwards the port
		t.Errorf("got %d\n%s", code, output)
	}
}
