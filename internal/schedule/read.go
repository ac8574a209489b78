/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=get;list;watch

// Facts are those that only schedules need.
type Facts struct {
	// Strangers are DatabaseBackups that a schedule of this cluster is not known to have created. Each may have a name that a schedule
	// needs. A cached snapshot contains only those of this cluster.
	Strangers []state.Backup
	// Zones are the time zones that the spec names. A zone that does not exist has no entry.
	Zones map[string]*time.Location
}

// readBackups reads all DatabaseBackups of this cluster, and the time zones that the spec names.
func readBackups(ctx context.Context, o *subject.ClusterReading) {
	if o.Cluster.Spec.Backup == nil || o.Err != nil {
		return
	}
	facts, backups := Facts{Zones: zones(o.Cluster.Spec.Backup)}, &dbv1.DatabaseBackupList{}
	if o.List(ctx, backups, subject.IndexCluster, o.Cluster.Name); o.Err != nil {
		return
	}
	if o.Sources = sources(ctx, o); o.Err != nil {
		return
	}
	for i := range backups.Items {
		object := &backups.Items[i]
		backup := state.BackupOf(object)
		if backup.Cluster == o.Cluster.Name && backup.Of(o.Cluster) {
			backup.Read = isSource(object, o.Sources)
			o.Backups = append(o.Backups, backup)
		}
		if backup.CreatedFor != o.Cluster.UID {
			facts.Strangers = append(facts.Strangers, backup)
		}
	}
	state.Put(&o.Observed, facts)
}

// zones are the existing time zones that a spec names.
func zones(backup *dbv1.ClusterBackup) map[string]*time.Location {
	names := make([]string, 0, len(backup.Schedules)+1)
	for _, schedule := range backup.Schedules {
		names = append(names, schedule.TimeZone)
	}
	if backup.Verification != nil {
		names = append(names, backup.Verification.TimeZone)
	}
	found := map[string]*time.Location{}
	for _, name := range names {
		// "Local" would be the time zone of the operator's node.
		if zone, err := time.LoadLocation(name); err == nil && zone != time.Local {
			found[name] = zone
		}
	}
	return found
}

// sources are the backups that are being restored, or will be. Those of another cluster may be of this one.
func sources(ctx context.Context, o *subject.ClusterReading) []dbv1.BackupSource {
	var all, replacing []dbv1.BackupSource
	if all, o.Err = sourcesIn(ctx, o.Others, o.Cluster.Namespace); o.Err != nil {
		return nil
	}
	if replacing, o.Err = replacingIn(ctx, o.Others, o.Cluster.Namespace); o.Err != nil {
		return nil
	}
	if r := o.Replacement; r != nil && r.Source != nil && r.Asked && r.Failure == "" { // the cache may not have its DatabaseRestore yet
		all = append(all, *r.Source)
	}
	return append(all, replacing...)
}

// sourcesIn are the backups of a namespace that clusters will restore at their start. It reads them from the cache,
// so a cluster may name a backup just after its deletion.
func sourcesIn(ctx context.Context, v kit.View, namespace string) ([]dbv1.BackupSource, error) {
	options := v.By(namespace, indexStarting, "true")
	if v.Indexed {
		options = append(options, client.UnsafeDisableDeepCopy)
	}
	clusters := &dbv1.DatabaseClusterList{}
	if err := v.List(ctx, clusters, options...); err != nil {
		return nil, fmt.Errorf("list the clusters that start with a backup: %w", err)
	}
	var all []dbv1.BackupSource
	for i := range clusters.Items {
		if len(starting(&clusters.Items[i])) > 0 {
			all = append(all, sourceOf(&clusters.Items[i]))
		}
	}
	return all, nil
}

// sourceOf is the backup that a cluster will restore. While it is unknown which one is the newest, its location is their folder.
func sourceOf(cluster *dbv1.DatabaseCluster) dbv1.BackupSource {
	from := *state.FromBackup(cluster)
	if from.Newest != nil {
		from.Location = state.ReadsFrom(cluster, nil)
	}
	return from
}

// replacingIn are the backups of a namespace whose data is to replace that of a cluster, by the cache.
func replacingIn(ctx context.Context, v kit.View, namespace string) (all []dbv1.BackupSource, err error) {
	options := v.By(namespace, indexReplacing, "true")
	if v.Indexed {
		options = append(options, client.UnsafeDisableDeepCopy)
	}
	restores := &dbv1.DatabaseRestoreList{}
	if err := v.List(ctx, restores, options...); err != nil {
		return nil, fmt.Errorf("list the DatabaseRestores that replace data: %w", err)
	}
	for i := range restores.Items {
		restore, cluster := &restores.Items[i], &dbv1.DatabaseCluster{}
		if len(replaces(restore)) == 0 {
			continue
		}
		found, err := v.Else(nil).Find(ctx, client.ObjectKey{Namespace: namespace, Name: restore.Spec.ClusterRef.Name}, cluster)
		if err != nil {
			return nil, fmt.Errorf("read the cluster of DatabaseRestore %s: %w", restore.Name, err)
		}
		if source := state.SourceFor(cluster, restore); found && source != nil {
			all = append(all, *source)
		}
	}
	return all, nil
}

// indexStarting is the name of the index of the clusters that will restore a backup at their start.
const indexStarting = "starting"

// indexReplacing is the name of the index of the DatabaseRestores that ask to replace the data of a cluster.
const indexReplacing = "replacing"

var indexes = []kit.Index{
	{Kind: &dbv1.DatabaseCluster{}, Name: indexStarting, Value: starting},
	{Kind: &dbv1.DatabaseRestore{}, Name: indexReplacing, Value: replaces},
}

// replaces is the value of that index.
func replaces(object client.Object) []string {
	restore, is := object.(*dbv1.DatabaseRestore)
	if !is || restore.Spec.Mode != dbv1.RestoreReplace || restore.DeletionTimestamp != nil {
		return nil
	}
	return []string{"true"}
}

// starting is the value of that index: it has one if the cluster will restore a backup.
func starting(object client.Object) []string {
	cluster, ok := object.(*dbv1.DatabaseCluster)
	if !ok || state.FromBackup(cluster) == nil {
		return nil
	}
	restored := cluster.Status.Restore != nil && cluster.Status.Restore.Phase == dbv1.RestoreCompleted
	if restored || cluster.Status.Replicas > 0 || cluster.DeletionTimestamp != nil {
		return nil
	}
	return []string{"true"}
}

func isSource(backup *dbv1.DatabaseBackup, sources []dbv1.BackupSource) bool {
	for _, source := range sources {
		if source.Name == backup.Name || source.Location != nil && isAt(backup.Status.Location, source.Location.URL) {
			return true
		}
	}
	return false
}

// isAt reports whether a backup is at a URL, or in a folder at that URL.
func isAt(location, url string) bool { return location == url || strings.HasPrefix(location, url+"/") }
