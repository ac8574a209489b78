/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// replace prepares the replacement of the data of a cluster, and reports it. The pass of the cluster executes it, because only that knows
// when its members may stop: see package plan/replacement.
func replace(restore *dbv1.DatabaseRestore, seen RestoreFacts) RestorePlan {
	if p, refused := refusal(restore, seen); refused {
		return p
	}
	if r := heldBy(restore, seen); r != nil {
		return progress(restore, seen, *r)
	}
	from, problem := sourceOf(restore, seen)
	if problem != "" {
		return stalled(dbv1.ReasonBackupMissing, problem+". The replacement begins by itself when there is such a backup: to prevent it, "+
			"delete this DatabaseRestore")
	}
	p := because(fmt.Sprintf("DatabaseCluster %s begins to restore %s into new volumes", seen.Cluster.Name, describe(from.BackupSource)))
	p.Reason, p.ClusterUID = dbv1.ReasonReplacing, string(seen.Cluster.UID)
	if from.Name != "" {
		p.Backup = &dbv1.RestoreBackupRef{Name: from.Name}
	}
	if !state.HasFinalizer(restore) {
		p.Operations = operation.List{operation.AddFinalizer()}
	}
	return p
}

// refusal is why the data of the cluster cannot be replaced; the second result is false if it can, or is being replaced.
func refusal(restore *dbv1.DatabaseRestore, seen RestoreFacts) (RestorePlan, bool) {
	cluster := restore.Spec.ClusterRef.Name
	if before := restore.Status.ClusterUID; before != "" && (seen.Cluster == nil || string(seen.Cluster.UID) != before) {
		return stalled(dbv1.ReasonClusterMissing, fmt.Sprintf("DatabaseCluster %s, whose data this DatabaseRestore has replaced, does not exist "+
			"any more. Delete this DatabaseRestore, which also deletes volumes whose restore is not complete, and retains the others",
			cluster)), true
	}
	if p, lacks := lacking(restore, seen); lacks {
		return p, true
	}
	text := ""
	switch now := seen.Cluster.Status.Replacement; {
	case heldBy(restore, seen) != nil:
	case now != nil && now.RestoreRef != nil:
		text = fmt.Sprintf("DatabaseRestore %s retains other volumes of DatabaseCluster %s. If the cluster has the right data, delete "+
			"DatabaseRestore %s, which deletes these volumes", now.RestoreRef.Name, cluster, now.RestoreRef.Name)
	case now != nil && slices.Contains(now.PastRestores, restore.Name):
		text = fmt.Sprintf("a DatabaseRestore with the name %s has already replaced the data of DatabaseCluster %s. To replace it again, "+
			"create one with another name, and delete this one", restore.Name, cluster)
	case restore.Spec.Mode == dbv1.RestoreUndo:
		text = fmt.Sprintf("this DatabaseRestore has not replaced the data of DatabaseCluster %s, so there is nothing to undo. Set spec.mode to "+
			"Replace to replace it", cluster)
	}
	return stalled(dbv1.ReasonReplacementHeld, text), text != ""
}

// heldBy is the replacement of a cluster by a restore; nil if it has not begun.
func heldBy(restore *dbv1.DatabaseRestore, seen RestoreFacts) *dbv1.ClusterReplacementStatus {
	if seen.Cluster == nil {
		return nil
	}
	r := seen.Cluster.Status.Replacement
	if r == nil || r.RestoreRef == nil || r.RestoreRef.UID != string(restore.UID) {
		return nil
	}
	return r
}

// another continues a sentence about a restore that cannot continue.
const another = ". spec.source cannot be changed: for another source, create another DatabaseRestore, and delete this one"

// progress describes how far a replacement is.
func progress(restore *dbv1.DatabaseRestore, seen RestoreFacts, r dbv1.ClusterReplacementStatus) RestorePlan {
	cluster, replaces := seen.Cluster, restore.Spec.Mode == dbv1.RestoreReplace
	has := r.VolumeClaimTemplate == naming.RestoredTemplate(restore.UID)
	data, reason := "the data of this restore", dbv1.ReasonReplaced
	if !replaces {
		data, reason = "its volumes from before", dbv1.ReasonUndone
	}
	p := because(fmt.Sprintf("DatabaseCluster %s gets %s: %s", cluster.Name, data, r.Message))
	p.Reason = dbv1.ReasonReplacing
	switch {
	case r.Reason == dbv1.ReasonRestoreFailed && r.Failure != "":
		return stalled(r.Reason, fmt.Sprintf("%s. DatabaseCluster %s has not changed", r.Message, cluster.Name))
	case r.Reason == dbv1.ReasonRestoreFailed:
		return stalled(r.Reason, fmt.Sprintf("%s. DatabaseCluster %s has not changed%s", r.Message, cluster.Name, another))
	case r.Reason == dbv1.ReasonJobBlocked:
		return stalled(r.Reason, strings.TrimSuffix(r.Message, ".")+another)
	case r.Reason != "":
		return stalled(r.Reason, r.Message)
	case r.Stage != dbv1.ReplacementCompleted || has != replaces:
		return p
	}
	if available := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionAvailable); !isAvailable(cluster) {
		p.Why = fmt.Sprintf("DatabaseCluster %s has %s, and is not available", cluster.Name, data)
		if available != nil {
			p.Why += ": " + available.Message
		}
		return p
	}
	p.Why = fmt.Sprintf("DatabaseCluster %s has %s. Its other volumes are retained as PersistentVolumeClaims %s-%s-*, and are deleted "+
		"with this DatabaseRestore", cluster.Name, data, r.OtherVolumeClaimTemplate, cluster.Name)
	p.Ready, p.Reason = true, reason
	return p
}

func isAvailable(cluster *dbv1.DatabaseCluster) bool {
	return meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionAvailable)
}
