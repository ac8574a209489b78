//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// backUp creates a backup of the cluster if there is none yet.
func (t *trial) backUp(ctx context.Context) error {
	if t.backup != "" {
		return nil
	}
	rows, err := t.rows(ctx)
	if err != nil {
		return err
	}
	backup, err := t.create(ctx, t.Name)
	if err != nil {
		return err
	}
	t.backup, t.backedUp = backup.Name, rows
	return nil
}

// create creates a backup of a cluster, and waits until it is complete.
func (t *trial) create(ctx context.Context, cluster string) (*dbv1.DatabaseBackup, error) {
	t.number++
	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: fmt.Sprintf("backup%d", t.number)}}
	backup.Spec.Cluster = cluster
	if err := t.Create(ctx, backup); err != nil {
		return nil, err
	}
	return backup, t.reports(ctx, backup, dbv1.ConditionReady)
}

// verify requests a verification, and returns its message.
func (t *trial) verify(ctx context.Context, backup *dbv1.DatabaseBackup) (string, error) {
	patch := []byte(`{"metadata":{"annotations":{"` + dbv1.AnnotationVerify + `":"conformance"}}}`)
	if err := t.Patch(ctx, backup, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return "", err
	}
	start := time.Now()
	if err := t.reports(ctx, backup, dbv1.ConditionVerified); err != nil {
		return "", err
	}
	message := ""
	if backup.Status.Verification != nil {
		message = backup.Status.Verification.Message
	}
	return fmt.Sprintf("verified in %.0f s: %s", time.Since(start).Seconds(), message), nil
}

// verifyFacts backs up while the client pauses. Then the action check counts the data, and the verification compares the copy.
func verifyFacts(ctx context.Context, t *trial) (string, error) {
	if t.visitor != nil {
		if err := t.visitor.pause(ctx, true); err != nil {
			return "", err
		}
		defer func() { _ = t.visitor.pause(ctx, false) }()
	}
	backup, err := t.create(ctx, t.Name)
	if err != nil {
		return "", err
	}
	var facts []string
	for _, stream := range backup.Status.Streams {
		if fact := t.engine.Spec.Actions.Check.Identity; fact != "" && stream.Identity == "" {
			return "", fmt.Errorf("the backup of member %d has no identity: check printed no fact %s", stream.Ordinal, fact)
		}
		for name, value := range stream.Facts {
			facts = append(facts, fmt.Sprintf("%s=%s", name, value))
		}
	}
	compared := func(declared dbv1.EngineFact) bool {
		return slices.ContainsFunc(facts, func(f string) bool { return strings.HasPrefix(f, declared.Name+"=") })
	}
	for _, declared := range t.engine.Spec.Actions.Check.Facts {
		if !compared(declared) {
			return "", fmt.Errorf("nothing was written during the backup, but it has no fact %s: %v", declared.Name, facts)
		}
	}
	seen, err := t.verify(ctx, backup)
	slices.Sort(facts)
	return fmt.Sprintf("%s: %s", strings.Join(facts, ", "), seen), err
}

// rows are the rows that are acknowledged until now.
func (t *trial) rows(ctx context.Context) ([]int, error) {
	if t.visitor == nil || !t.client.Stores() {
		return nil, nil
	}
	return t.visitor.acknowledged(ctx)
}

// reports waits until a condition of a backup is True. It does not wait for one that is False for good.
func (t *trial) reports(ctx context.Context, backup *dbv1.DatabaseBackup, name string) error {
	failed := func() bool { return backup.Status.Phase == "Failed" }
	var seen *metav1.Condition
	err := lab.Await(ctx, "the condition "+name+" of DatabaseBackup "+backup.Name, func() bool {
		err := t.Get(ctx, client.ObjectKeyFromObject(backup), backup)
		seen = meta.FindStatusCondition(backup.Status.Conditions, name)
		return err == nil && (failed() || seen != nil && (seen.Status == "True" || name == dbv1.ConditionVerified && seen.Status == "False"))
	})
	if err != nil || failed() || seen.Status != "True" {
		return errors.Join(err, fmt.Errorf("%s is %s: %s", backup.Name, backup.Status.Phase, backup.Status.Message), fmt.Errorf("%s: %+v", name, seen))
	}
	return nil
}

func backupOnline(ctx context.Context, t *trial) (string, error) {
	start := time.Now()
	if err := t.backUp(ctx); err != nil {
		return "", err
	}
	took := time.Since(start)
	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: t.backup}}
	seen, err := t.verify(ctx, backup)
	return fmt.Sprintf("%s in %.0f s, %s", backup.Status.Size, took.Seconds(), seen), err
}

// restore creates a cluster from the backup, and looks for all rows that were acknowledged before it. The backup has the passwords
// of its time, so an edited Secret must be in force, too.
func restore(ctx context.Context, t *trial) (string, error) {
	if err := t.backUp(ctx); err != nil {
		return "", err
	}
	var reader *visitor
	var seen string
	var err error
	t.restored, reader, seen, err = t.restoredFrom(ctx, dbv1.BackupSource{Name: t.backup}, t.backedUp)
	if err != nil || reader == nil || noGenerated(t) != "" {
		return seen, err
	}
	key, err := t.editOf(ctx, t.restored)
	if err != nil {
		return "", err
	}
	return seen + "; its Secret was edited, and a client writes with the new " + key, reader.awaitProgress(ctx)
}

// restoredFrom creates a cluster from a backup, with a client. It returns the cluster also with an error.
func (t *trial) restoredFrom(ctx context.Context, source dbv1.BackupSource, rows []int) (*lab.Cluster, *visitor, string, error) {
	t.number++
	template := t.template(fmt.Sprintf("restored%d", t.number))
	template.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &source}
	start := time.Now()
	restored, err := t.Run(ctx, template)
	if err != nil {
		if restored != nil {
			err = fmt.Errorf("%w\n%s", err, restored.Conditions(ctx))
		}
		return restored, nil, "", err
	}
	took := time.Since(start)
	if !t.client.Stores() {
		return restored, nil, fmt.Sprintf("Ready after %.0f s; its rows are not known", took.Seconds()), nil
	}
	reader, err := t.visit(ctx, restored)
	if err != nil {
		return restored, nil, "", err
	}
	until := "the backup"
	if target := source.RecoveryTarget; target != nil {
		until = target.Time
	}
	seen := fmt.Sprintf("Ready after %.0f s with all %d rows that were acknowledged before %s", took.Seconds(), len(rows), until)
	return restored, reader, seen, reader.has(ctx, "", rows)
}

// backupOffline hibernates the cluster and deletes it with a hook. It restores the backup of the hook.
func backupOffline(ctx context.Context, t *trial) (string, error) {
	rows, err := t.rows(ctx)
	if err != nil {
		return "", err
	}
	if err := t.hibernated(ctx); err != nil {
		return "", err
	}
	if err := t.Spec(ctx, map[string]any{"deletion": map[string]any{"volumes": "Delete", "hookFailurePolicy": "Block",
		"hooks": []map[string]string{{"name": "final", "type": "Backup"}}}}); err != nil {
		return "", err
	}
	object, err := t.Object(ctx)
	if err != nil {
		return "", err
	}
	if err := t.Delete(ctx, object); err != nil {
		return "", err
	}
	if err := t.Gone(ctx, object.DeepCopy()); err != nil {
		return "", fmt.Errorf("%w\n%s", err, t.Conditions(ctx))
	}
	name := t.Name
	t.Cluster, t.visitor = nil, nil
	final, err := t.finalOf(ctx, name)
	if err != nil {
		return "", err
	}
	restored, _, seen, err := t.restoredFrom(ctx, dbv1.BackupSource{Name: final.Name}, rows)
	if err == nil {
		err = t.remove(ctx, restored)
	}
	return fmt.Sprintf("%s of a hibernated cluster before its deletion; a restored cluster is %s", final.Status.Size, seen), err
}

// finalOf returns the last backup of a deleted cluster.
func (t *trial) finalOf(ctx context.Context, cluster string) (*dbv1.DatabaseBackup, error) {
	var all dbv1.DatabaseBackupList
	if err := t.List(ctx, &all, client.InNamespace(t.Namespace)); err != nil {
		return nil, err
	}
	for i := range all.Items {
		if backup := &all.Items[i]; backup.Spec.Cluster == cluster && strings.Contains(backup.Name, "final") {
			return backup, t.reports(ctx, backup, dbv1.ConditionReady)
		}
	}
	return nil, errors.New("the hook has left no DatabaseBackup")
}

// remove deletes a cluster that the checks do not need any more.
func (t *trial) remove(ctx context.Context, cluster *lab.Cluster) error {
	if cluster == nil || keep {
		return nil
	}
	object, err := cluster.Object(ctx)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	return t.DeleteCluster(ctx, object)
}
