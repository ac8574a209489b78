//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// restoreOf is a DatabaseRestore of a cluster.
func restoreOf(cluster *dbv1.DatabaseCluster, name string) *dbv1.DatabaseRestore {
	return &dbv1.DatabaseRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name},
		Spec:       dbv1.DatabaseRestoreSpec{ClusterRef: dbv1.RestoreClusterRef{Name: cluster.Name}},
	}
}

func awaitRestore(t *testing.T, restore *dbv1.DatabaseRestore, condition, reason string, parts ...string) {
	t.Helper()
	await(t, restore, condition+" "+reason, func() bool {
		c := meta.FindStatusCondition(restore.Status.Conditions, condition)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason && restore.Status.ObservedGeneration == restore.Generation
	})
	mustContain(t, meta.FindStatusCondition(restore.Status.Conditions, condition).Message, parts...)
}

func TestARestoreShowsTheDataOfABackupInAnotherCluster(t *testing.T) {
	parallel(t)
	engine := restorer(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })
	kubelet := startRestores(t, cluster.Namespace)
	kubelet.message.Store(succeeds)
	awaitReady(t, cluster)
	own := dataClaims(t, cluster)
	restore := restoreOf(cluster, "yesterday")
	create(t, restore)
	awaitRestore(t, restore, dbv1.ConditionStalled, dbv1.ReasonBackupMissing, "DatabaseCluster orders has no complete backup")

	completed(t, cluster, "first")
	awaitRestore(t, restore, dbv1.ConditionReady, dbv1.ReasonPreviewReady, "DatabaseCluster yesterday-preview has the data of DatabaseBackup first",
		"Clients connect to Service yesterday-preview")
	if restore.Status.BackupRef.Name != "first" || restore.Status.PreviewRef.Name != "yesterday-preview" {
		t.Errorf("status %+v", restore.Status)
	}
	preview := read(t, &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "yesterday-preview"}})
	if !metav1.IsControlledBy(preview, restore) || preview.Status.Restore.From != firstBackup || preview.Spec.Replicas != 3 {
		t.Errorf("the preview is %+v", preview)
	}
	mustHaveClaims(t, cluster, 2*len(own))

	remove(t, preview) // alone, it comes back
	eventually(t, "the preview to be created again", func() error {
		before := preview.UID
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(preview), preview)
		return errorIf(err != nil || preview.UID == before, "%v", err)
	})
	remove(t, restore)
	eventually(t, "the preview to be deleted with its volumes", func() error {
		left := dataClaims(t, cluster)
		return errorIf(len(left) != len(own), "%d claims exist", len(left))
	})
	awaitReady(t, cluster)
	for _, claim := range dataClaims(t, cluster) {
		if !strings.HasPrefix(claim.Name, "data-orders-") {
			t.Errorf("claim %s stays", claim.Name)
		}
	}
}

func TestARestoreReplacesTheDataOfAClusterAndGivesItBack(t *testing.T) {
	parallel(t)
	engine := restorer(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })
	kubelet := startRestores(t, cluster.Namespace)
	kubelet.message.Store(succeeds)
	awaitReady(t, cluster)
	own := dataClaims(t, cluster)
	completed(t, cluster, "first")
	restore := restoreOf(cluster, "yesterday")
	restore.Spec.Mode = dbv1.RestoreReplace
	create(t, restore)
	awaitRestore(t, restore, dbv1.ConditionReady, dbv1.ReasonReplaced, "DatabaseCluster orders has the data of this restore", "data-orders-*")
	mustHaveClaims(t, cluster, 2*len(own))
	mustUse(t, cluster, naming.RestoredTemplate(restore.UID))
	if err := patched(t, admin, restore, `{"spec":{"mode":"Preview"}}`); err == nil || !strings.Contains(err.Error(), "spec.mode cannot become Preview again") {
		t.Errorf("got %v", err)
	}

	change(t, restore, func(r *dbv1.DatabaseRestore) { r.Spec.Mode = dbv1.RestoreUndo })
	awaitRestore(t, restore, dbv1.ConditionReady, dbv1.ReasonUndone, "DatabaseCluster orders has its volumes from before")
	mustUse(t, cluster, naming.DataVolume)
	mustHaveClaims(t, cluster, 2*len(own))

	change(t, restore, func(r *dbv1.DatabaseRestore) { r.Spec.Mode = dbv1.RestoreReplace })
	awaitRestore(t, restore, dbv1.ConditionReady, dbv1.ReasonReplaced)
	remove(t, restore)
	eventually(t, "the volumes from before to be deleted", func() error {
		left := dataClaims(t, cluster)
		return errorIf(len(left) != len(own), "%d claims exist", len(left))
	})
	mustUse(t, cluster, naming.RestoredTemplate(restore.UID))
	awaitReady(t, cluster)
	eventually(t, "the cluster to keep only which volumes it uses", func() error {
		r := read(t, cluster).Status.Replacement
		return errorIf(r == nil || r.RestoreRef != nil || r.VolumeClaimTemplate != naming.RestoredTemplate(restore.UID), "status.replacement is %+v", r)
	})
}

// mustUse checks that members of a cluster use the volumes of a volumeClaimTemplate, and no other.
func mustUse(t *testing.T, cluster *dbv1.DatabaseCluster, template string) {
	t.Helper()
	pod := read(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: naming.Member(cluster.Name, 0)}})
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName != naming.ClaimIn(template, cluster.Name, 0) {
			t.Errorf("pod %s uses %s", pod.Name, v.PersistentVolumeClaim.ClaimName)
		}
	}
	if m := pod.Spec.Containers[0].VolumeMounts[0]; m.Name != template {
		t.Errorf("the database has volume %s", m.Name)
	}
}

// completed is a complete backup of a cluster.
func completed(t *testing.T, cluster *dbv1.DatabaseCluster, name string) {
	t.Helper()
	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name}, Spec: dbv1.DatabaseBackupSpec{Cluster: cluster.Name}}
	create(t, backup)
	before := backup.DeepCopy()
	backup.Status = dbv1.DatabaseBackupStatus{
		Phase: dbv1.BackupCompleted, Replicas: 3, Engine: cluster.Spec.Engine, Location: firstBackup, ClusterUID: string(cluster.UID), CompletionTime: new(metav1.Now()),
		Destination: &dbv1.BackupDestination{URL: "s3://bucket", CredentialSource: dbv1.CredentialsWorkloadIdentity},
	}
	if err := admin.Status().Patch(t.Context(), backup, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func TestARestoreNeverUsesAClusterOfAnotherOwner(t *testing.T) {
	parallel(t)
	engine := restorer(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })
	other := smallest(cluster.Namespace, "yesterday-preview")
	other.Spec.Deletion.Volumes = dbv1.VolumesDelete
	create(t, other)
	kubelet := startRestores(t, cluster.Namespace)
	kubelet.message.Store(succeeds)
	awaitReady(t, other)
	completed(t, cluster, "first")
	restore := restoreOf(cluster, "yesterday")
	create(t, restore)
	awaitRestore(t, restore, dbv1.ConditionStalled, dbv1.ReasonNameConflict, "DatabaseCluster yesterday-preview exists but does not belong to this DatabaseRestore")
	remove(t, other)
	awaitRestore(t, restore, dbv1.ConditionReady, dbv1.ReasonPreviewReady, "yesterday-preview has the data of DatabaseBackup first")
	second := restoreOf(cluster, "second")
	other = smallest(cluster.Namespace, "second-preview")
	create(t, other)
	create(t, second)
	awaitRestore(t, second, dbv1.ConditionStalled, dbv1.ReasonNameConflict)
	remove(t, second)
	if still := read(t, other); still.DeletionTimestamp != nil || still.Spec.Bootstrap != nil {
		t.Errorf("the other cluster has changed: %+v", still)
	}
}

func TestTheAPIServerExplainsWhatIsWrongWithARestore(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	for want, change := range map[string]func(*dbv1.DatabaseRestore){
		"metadata.name must start with a letter and have at most 32": func(r *dbv1.DatabaseRestore) { r.Name = strings.Repeat("a", 33) },
		"spec.source must not have both backupRef": func(r *dbv1.DatabaseRestore) {
			r.Spec.Source = dbv1.RestoreSource{BackupRef: &dbv1.RestoreBackupRef{Name: "first"}, Location: &dbv1.BackupDestination{URL: firstBackup, CredentialsSecretName: "keys"}}
		},
		"time must be in RFC 3339 with a time zone": func(r *dbv1.DatabaseRestore) {
			r.Spec.Source.RecoveryTarget = &dbv1.RecoveryTarget{Time: "2026-11-28T14:05:00"} // without a zone
		},
		"spec.source.recoveryTarget.name needs backupRef or location": func(r *dbv1.DatabaseRestore) {
			r.Spec.Source.RecoveryTarget = &dbv1.RecoveryTarget{Name: "before"}
		},
		"name must be the name of a DatabaseCluster":     func(r *dbv1.DatabaseRestore) { r.Spec.ClusterRef.Name = "Orders" },
		`supported values: "Preview", "Replace", "Undo"`: func(r *dbv1.DatabaseRestore) { r.Spec.Mode = "Delete" },
	} {
		restore := restoreOf(cluster, "wrong")
		change(restore)
		err := admin.Create(t.Context(), restore, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	restore := restoreOf(cluster, "fixed")
	create(t, restore)
	for want, patch := range map[string]string{
		"spec.clusterRef cannot be changed": `{"spec":{"clusterRef":{"name":"another"}}}`,
		"spec.source cannot be changed":     `{"spec":{"source":{"backupRef":{"name":"another"}}}}`,
	} {
		if err := patched(t, admin, restore, patch); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	awaitRestore(t, restore, dbv1.ConditionStalled, dbv1.ReasonClusterMissing, "DatabaseCluster orders, which spec.clusterRef names, does not exist")
}

// A preview has the Secrets and the ServiceAccount of its cluster.
func TestAUserWhoMayNotReadEverySecretCreatesNoRestore(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	restore := restoreOf(smallest(ns, "orders"), "theirs")
	attempt := func() error { return user.Create(t.Context(), restore.DeepCopy(), client.DryRunAll) }
	mustBeForbidden(t, "a restore", attempt(), "a DatabaseRestore uses all Secrets and the ServiceAccount of its cluster", "which "+name+" does not have")
	copied := smallest(ns, "theirs-preview")
	copied.Spec.Credentials.SecretName = "password"
	create(t, restore)
	copied.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(restore, dbv1.GroupVersion.WithKind("DatabaseRestore"))}
	grantIn(t, ns, "everything", name, []rbacv1.PolicyRule{{APIGroups: []string{dbv1.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"*"}}})
	eventually(t, "the user to have the rights", func() error {
		if err := user.Create(t.Context(), copied.DeepCopy(), client.DryRunAll); err != nil && strings.Contains(err.Error(), "blockOwnerDeletion") {
			return err // the API server checks this first
		}
		return patched(t, user, restore, `{"metadata":{"labels":{"b":"c"}}}`)
	})
	mustBeForbidden(t, "a cluster like a preview", user.Create(t.Context(), copied, client.DryRunAll), "spec.credentials.secretName names Secret password")
	if err := patched(t, user, restore, `{"metadata":{"labels":{"a":"b"}}}`); err != nil {
		t.Errorf("a label needs no permission: %v", err)
	}
}
