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
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// storedAfter is after how long a commit is in the archive. If it is later, the recovery is refused.
const storedAfter = 15 * time.Second

func noArchive(t *trial) string {
	switch {
	case t.engine.Spec.Actions.Archive == nil || t.engine.Spec.Actions.Recover == nil:
		return "the engine has no actions archive and recover"
	case !t.client.Stores():
		return "the client file has no durable rows"
	default:
		return noRows(t)
	}
}

// recoverMoment recovers a moment at which the client paused, after the archive and the target of the client were killed. The recovered
// cluster must have the rows of before, and none of the later ones.
func recoverMoment(ctx context.Context, t *trial) (string, error) {
	source, writer, backup, err := t.archived(ctx)
	if err != nil {
		return "", err
	}
	for _, pod := range []func(context.Context, *lab.Cluster) (*corev1.Pod, error){t.archiver, t.targetOf} {
		victim, err := pod(ctx, source)
		if err != nil {
			return "", err
		}
		if err := errors.Join(lab.Signal(victim, syscall.SIGKILL, lab.Any), writer.awaitProgress(ctx)); err != nil {
			return "", fmt.Errorf("after a kill of %s: %w", victim.Name, err)
		}
	}
	moment, before, later, err := writer.interval(ctx)
	if err != nil {
		return "", err
	}
	time.Sleep(storedAfter)
	restored, reader, seen, err := t.restoredFrom(ctx, dbv1.BackupSource{Name: backup, RecoveryTarget: &dbv1.RecoveryTarget{Time: moment}}, before)
	if err != nil {
		return "", err
	}
	if err := reader.lacks(ctx, later); err != nil {
		return "", err
	}
	seen = fmt.Sprintf("%s, and none of %d later ones%s", seen, len(later), lastCommit(ctx, restored))
	return seen, errors.Join(t.remove(ctx, restored), t.remove(ctx, source))
}

// lastCommit continues a sentence about a recovered cluster.
func lastCommit(ctx context.Context, restored *lab.Cluster) string {
	object, err := restored.Object(ctx)
	if err != nil || object.Status.Restore == nil || object.Status.Restore.LastCommitTime == nil {
		return ""
	}
	return "; the engine reports a last commit of " + object.Status.Restore.LastCommitTime.UTC().Format(time.RFC3339)
}

// archived is a new cluster with an archive, a backup and a client.
func (t *trial) archived(ctx context.Context) (cluster *lab.Cluster, writer *visitor, backup string, err error) {
	t.number++
	template := t.template(fmt.Sprintf("archived%d", t.number))
	template.Spec.Backup.Archive = &dbv1.ClusterArchive{MaxLagSeconds: 1}
	if cluster, err = t.Run(ctx, template); err != nil {
		return nil, nil, "", err
	}
	var message string
	err = lab.Await(ctx, dbv1.ConditionContinuousArchiving, func() bool {
		seen := condition(ctx, cluster, dbv1.ConditionContinuousArchiving)
		if seen != nil {
			message = seen.Message
		}
		return seen != nil && seen.Status == "True"
	})
	if err != nil {
		return nil, nil, "", fmt.Errorf("%w: %s", err, message)
	}
	if writer, err = t.visit(ctx, cluster); err != nil {
		return nil, nil, "", err
	}
	if err := writer.awaitProgress(ctx); err != nil {
		return nil, nil, "", err
	}
	created, err := t.create(ctx, cluster.Name)
	if err != nil {
		return nil, nil, "", err
	}
	return cluster, writer, created.Name, nil
}

// archiver is the pod of the archive.
func (t *trial) archiver(ctx context.Context, of *lab.Cluster) (*corev1.Pod, error) {
	var all corev1.PodList
	labels := naming.Selector(of.Name)
	labels[dbv1.LabelComponent] = dbv1.ComponentArchive
	if err := t.List(ctx, &all, client.InNamespace(t.Namespace), client.MatchingLabels(labels)); err != nil || len(all.Items) == 0 {
		return nil, errors.Join(err, errors.New("the archive has no pod"))
	}
	return &all.Items[0], nil
}

// interval lets the client pause around a moment. Before are the rows that the database had acknowledged, and later some that it did
// afterward.
func (v *visitor) interval(ctx context.Context) (moment string, before, later []int, err error) {
	if err := v.pause(ctx, true); err != nil {
		return "", nil, nil, err
	}
	if before, err = v.acknowledged(ctx); err != nil {
		return "", nil, nil, err
	}
	moment = time.Now().UTC().Format(time.RFC3339Nano)
	time.Sleep(time.Second) // clocks differ
	if err := errors.Join(v.pause(ctx, false), v.awaitProgress(ctx)); err != nil {
		return "", nil, nil, err
	}
	all, err := v.acknowledged(ctx)
	return moment, before, all[len(before):], err
}

// lacks reports rows that must not be there.
func (v *visitor) lacks(ctx context.Context, rows []int) error {
	text, err := v.run(ctx, "", v.client.List)
	if err != nil {
		return fmt.Errorf("list the rows: %w", err)
	}
	for _, n := range numbers(text) {
		if slices.Contains(rows, n) {
			return fmt.Errorf("the recovered cluster has row %d, which was written after the target", n)
		}
	}
	return nil
}
