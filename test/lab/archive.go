/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Base is a backup with which a recovery begins.
type Base struct {
	// Name is that of the DatabaseBackup.
	Name, Location string
	// Start is the file of the archive in which the backup begins.
	Start string
	Ended time.Time
}

// Snapshot is an archive as it was at a moment.
type Snapshot struct {
	URL string
	At  time.Time
	// Newest is the newest moment until which the archive had every commit.
	Newest time.Time
}

// AwaitArchiving waits until the operator reports that the archive works.
func (c *Cluster) AwaitArchiving(ctx context.Context) error {
	return Await(ctx, "the archive of "+c.Name, func() bool {
		cluster, err := c.Object(ctx)
		return err == nil && meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionContinuousArchiving)
	})
}

// ArchiveURL is the place of the archive beside a backup.
func (c *Cluster) ArchiveURL(ctx context.Context, base Base) (string, error) {
	cluster, err := c.Object(ctx)
	return protocol.ArchiveBeside(base.Location, string(cluster.UID)), err
}

// archiver is the Deployment of the archive.
func (c *Cluster) archiver(ctx context.Context) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.Get(ctx, c.key(naming.Archive(c.Name)), deployment)
}

// Archiver returns the pod of the archive.
func (c *Cluster) Archiver(ctx context.Context) (*corev1.Pod, error) {
	var pods corev1.PodList
	err := c.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels{
		dbv1.LabelInstance: c.Name, dbv1.LabelComponent: dbv1.ComponentArchive,
	})
	if err != nil {
		return nil, err
	}
	for i, pod := range pods.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			return &pods.Items[i], nil
		}
	}
	return nil, fmt.Errorf("the archive of %s has no pod that runs", c.Name)
}

// SecondArchiver creates another pod with the archive of the cluster, as a node that does not respond could have.
func (c *Cluster) SecondArchiver(ctx context.Context) (*corev1.Pod, error) {
	deployment, err := c.archiver(ctx)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{ObjectMeta: c.meta(deployment.Name + "-second"), Spec: deployment.Spec.Template.Spec}
	pod.Labels, pod.Annotations = map[string]string{dbv1.LabelConnects: "true"}, deployment.Spec.Template.Annotations
	return pod, c.Create(ctx, pod)
}

// BackUp creates a backup, and returns what a recovery needs to know of it.
func (c *Cluster) BackUp(ctx context.Context, b *Bucket, name string) (Base, error) {
	backup := &dbv1.DatabaseBackup{ObjectMeta: c.meta(name), Spec: dbv1.DatabaseBackupSpec{Cluster: c.Name}}
	if err := c.Create(ctx, backup); err != nil {
		return Base{}, fmt.Errorf("create DatabaseBackup: %w", err)
	}
	err := Await(ctx, name+" to be complete", func() bool {
		return c.Get(ctx, client.ObjectKeyFromObject(backup), backup) == nil && backup.Status.Phase.Finished()
	})
	if err != nil {
		return Base{}, err
	}
	if backup.Status.Phase != dbv1.BackupCompleted {
		return Base{}, fmt.Errorf("%s is %s: %s", name, backup.Status.Phase, backup.Status.Message)
	}
	base, err := b.base(ctx, backup.Status.Location)
	base.Name = name
	return base, err
}

// base reads the manifest of a backup.
func (b *Bucket) base(ctx context.Context, location string) (Base, error) {
	text, err := b.Shell(ctx, location, "cat "+protocol.ManifestName)
	if err != nil {
		return Base{}, err
	}
	manifest, err := protocol.DecodeManifest([]byte(text))
	if err != nil {
		return Base{}, fmt.Errorf("the manifest of %s %w", location, err)
	}
	base, stream := Base{Location: location, Ended: manifest.Streams[0].Completed}, manifest.Streams[0]
	if stream.Check == nil || json.Unmarshal(stream.Check.Before[protocol.ArchiveFact], &base.Start) != nil {
		return Base{}, fmt.Errorf("%s does not record where it begins in the archive", location)
	}
	return base, nil
}

// Archiver reports whether a process is the action of an archive.
func Archiver(p Process) bool {
	return strings.Contains(p.Command, "/scripts/archive") && !Transfer(p)
}

// Transfer reports whether a process is the program that stores an archive.
func Transfer(p Process) bool { return strings.Contains(p.Command, "/transfer archive ") }
