/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// engine is the built-in engine for the image of the sample.
const engine = "postgresql-single-v1"

// again is the name of the cluster that is restored from the backup.
func (w *world) again() string { return w.name + "-again" }

// database creates a cluster of one member with an engine and backups on a volume, and waits for a condition.
func (w *world) database(ctx context.Context, name, becomes string, change func(*dbv1.DatabaseCluster)) (*dbv1.DatabaseCluster, error) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: w.object(name), Spec: dbv1.DatabaseClusterSpec{
		Replicas: 1, Engine: engine, Image: w.sample.Spec.Image, Credentials: dbv1.ClusterCredentials{SecretName: w.name},
		Storage: w.sample.Spec.Storage,
		Backup: &dbv1.ClusterBackup{
			Destination:    dbv1.BackupDestination{URL: "file:///scorecard", ClaimName: w.name},
			UnhealthyAfter: &metav1.Duration{Duration: time.Hour},
			Verification:   &dbv1.BackupVerificationSchedule{Schedule: "@yearly", Command: sql("localhost", answer), DeadlineSeconds: 120},
		},
		Deletion: dbv1.ClusterDeletion{Volumes: dbv1.VolumesDelete},
	}}
	change(cluster)
	if name == w.name {
		if err := w.surroundings(ctx); err != nil {
			return nil, err
		}
	}
	return cluster, w.brings(ctx, cluster, becomes)
}

// surroundings returns the password and the volume for backups.
func (w *world) surroundings(ctx context.Context) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: w.object(w.name), Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: w.sample.Spec.Storage.StorageClassName,
		AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	if err := w.secret(ctx, "password", "owner-password", "pooler-password"); err != nil {
		return err
	}
	return w.Create(ctx, claim)
}

const (
	question = "CREATE TABLE IF NOT EXISTS scorecard AS SELECT 42 AS answer"
	answer   = "SELECT 1 / (answer = 42)::int FROM scorecard" // fails without the table, and for any other answer
)

// sql returns a command that fails unless the database accepts the statement.
func sql(host, statement string) []string {
	return []string{"sh", "-ec",
		`PGPASSWORD=$(cat "$DBC_SECRETS_DIR/password") exec psql -X -q -v ON_ERROR_STOP=1 -h "$1" -p "$DBC_PORT" -U postgres -c "$2"`, "sh", host,
		statement}
}

// whenReady makes a member ready once its database accepts the statement. So the test writes and reads data only
// through features that every user has.
func whenReady(statement string) dbv1.MemberProbes {
	return dbv1.MemberProbes{ReadinessProbe: &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: sql("127.0.0.1", statement)}},
		TimeoutSeconds: 5, PeriodSeconds: 2,
	}}
}

// backupIsRestored backs up a cluster, verifies the backup, and restores it into another cluster with the same data.
func (w *world) backupIsRestored(ctx context.Context) error {
	_, err := w.database(ctx, w.name, dbv1.ConditionAvailable,
		func(c *dbv1.DatabaseCluster) { c.Spec.Container.MemberProbes = whenReady(question) })
	if err != nil {
		return err
	}
	backup := &dbv1.DatabaseBackup{ObjectMeta: w.object(w.name), Spec: dbv1.DatabaseBackupSpec{Cluster: w.name}}
	if err := w.brings(ctx, backup, dbv1.ConditionReady); err != nil {
		return err
	}
	if err := w.isProved(ctx, backup); err != nil {
		return err
	}
	restored, err := w.database(ctx, w.again(), dbv1.ConditionAvailable, func(c *dbv1.DatabaseCluster) {
		c.Spec.Container.MemberProbes = whenReady(answer)
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: backup.Name}}
	})
	if err != nil {
		return err
	}
	if err := w.delete(ctx, restored); err != nil {
		return err
	}
	return w.leavesVolumesAlone(ctx, restored.Name, restored.Spec.Deletion.Volumes, 1)
}

// isProved requests a restore into a temporary copy, which must return the answer.
func (w *world) isProved(ctx context.Context, backup *dbv1.DatabaseBackup) error {
	if err := complete(backup, ofABackup); err != nil {
		return err
	}
	before := backup.DeepCopy()
	metav1.SetMetaDataAnnotation(&backup.ObjectMeta, dbv1.AnnotationVerify, "scorecard")
	if err := w.Patch(ctx, backup, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("ask for a verification: %w", err)
	}
	return w.reaches(ctx, backup, dbv1.ConditionVerified, append(ofABackup, dbv1.ConditionVerified))
}
