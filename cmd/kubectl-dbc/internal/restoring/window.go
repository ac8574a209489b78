/*
SPDX-License-Identifier: Apache-2.0
*/

package restoring

import (
	"fmt"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// covers returns why the archive does not cover a moment.
func (f Facts) covers(to Moment) error {
	c, windows := f.Cluster, windows(f.Cluster.Status.Recovery)
	switch {
	case c.Spec.Backup == nil || c.Spec.Backup.Archive == nil:
		return fmt.Errorf("DatabaseCluster %s has no archive (spec.backup.archive), so only the data of a backup can be restored: choose one "+
			"with --backup instead of --at", c.Name)
	case len(windows) == 0 && f.unread() != nil:
		return nil // the Job of the restore reads the archive
	case len(windows) == 0:
		return fmt.Errorf("no time of DatabaseCluster %s can be recovered yet: the archive needs a complete backup", c.Name)
	case to.Latest || to.At.After(windows[len(windows)-1].Newest.Time):
		return nil // the archive continues, and the Job refuses a moment that it does not have
	}
	for _, w := range windows {
		if !to.At.Before(w.Oldest.Time) && !to.At.After(w.Newest.Time) {
			return nil
		}
	}
	return fmt.Errorf("%s cannot be recovered: the archive covers %s", text.Time(to.At), list(windows))
}

// unread is a complete backup in the archive that the operator had not seen when it last read the archive; nil for none.
func (f Facts) unread() *dbv1.DatabaseBackup {
	b, seen := state.BestBackup(f.Cluster, f.Backups, &dbv1.RecoveryTarget{}), f.Cluster.Status.Recovery
	if b == nil || seen != nil && !state.EndOf(b.Status).After(seen.CheckedAt.Time) {
		return nil
	}
	return b
}

// window describes the times that can be recovered.
func (f Facts) window() string {
	if all := windows(f.Cluster.Status.Recovery); len(all) > 0 {
		return fmt.Sprintf("Window: %s.", list(all))
	}
	return "Window: unknown. The operator has not read the archive since the backup was complete. If the archive does not have the moment, " +
		"the restore stops and changes nothing."
}

// windows are the times that can be recovered, oldest first.
func windows(r *dbv1.ClusterRecoveryStatus) []dbv1.RecoveryRange {
	switch {
	case r == nil || r.Oldest == nil || r.Newest == nil:
		return nil
	case len(r.Ranges) > 0:
		return r.Ranges
	default:
		return []dbv1.RecoveryRange{{Oldest: *r.Oldest, Newest: *r.Newest}}
	}
}

func list(windows []dbv1.RecoveryRange) string {
	var all []string
	for _, w := range windows {
		all = append(all, text.Time(w.Oldest.Time)+" to "+text.Time(w.Newest.Time))
	}
	return strings.Join(all, ", and ")
}

// describe describes which backup, which window and how long.
func (f Facts) describe(restore *dbv1.DatabaseRestore, b *dbv1.DatabaseBackup, ask Ask) Choice {
	lines := []string{fmt.Sprintf("Backup: DatabaseBackup %s, complete at %s (%s ago), %s%s.",
		b.Name, text.Time(state.EndOf(b.Status)), text.Age(state.EndOf(b.Status), f.Now), text.Bytes(b.Status.Bytes), verified(b))}
	if f.ofPrevious(b) {
		lines = append(lines, fmt.Sprintf("Attention: the backup is of a previous cluster of the same name (UID %s, now %s).",
			b.Status.ClusterUID, f.Cluster.UID))
	}
	if ask.inArchive() {
		lines = append(lines, f.window(), f.moment(ask.Moment, b))
	} else {
		lines = append(lines, fmt.Sprintf("Data: that of the backup. Writes after %s are not in it.", text.Time(state.EndOf(b.Status))))
	}
	lines = append(lines, "Duration: "+f.duration(b, ask))
	choice := Choice{Restore: restore, Lines: lines}
	if ask.Preview {
		choice.Lines = append(choice.Lines, fmt.Sprintf("Result: DatabaseCluster %s-preview has the data. DatabaseCluster %s does not change.",
			restore.Name, f.Cluster.Name))
		return choice
	}
	choice.Lines = append(choice.Lines, fmt.Sprintf("Result: DatabaseCluster %s gets the data. Its members run until the data is restored, "+
		"and then stop once.", f.Cluster.Name))
	choice.Risk = fmt.Sprintf("Clients no longer see writes after that moment. Only the volumes from before have them, until you delete "+
		"DatabaseRestore %s.", restore.Name)
	if f.ofPrevious(b) {
		choice.Risk = "The data is that of a previous cluster of the same name. " + choice.Risk
	}
	return choice
}

func verified(b *dbv1.DatabaseBackup) string {
	v := b.Status.Verification
	switch {
	case v == nil || v.Phase == dbv1.VerificationRunning:
		return ", not verified"
	case v.Phase == dbv1.VerificationFailed:
		return ", its verification FAILED: " + v.Message
	default:
		return ", verified"
	}
}

// moment describes the moment in the archive.
func (f Facts) moment(to Moment, b *dbv1.DatabaseBackup) string {
	if to.Latest {
		return "Data: everything in the archive. The operator replays the log after the backup to its end."
	}
	said := fmt.Sprintf("Data: each commit until %s (%s ago), and no later one. The operator replays %s of log.", text.Time(to.At),
		text.Age(to.At, f.Now), text.Duration(to.At.Sub(state.EndOf(b.Status))))
	if all := windows(f.Cluster.Status.Recovery); len(all) > 0 && to.At.After(all[len(all)-1].Newest.Time) {
		said += " The archive was last read before that moment. If it does not have the moment, the restore stops and changes nothing."
	}
	return said
}

// duration is how long the restore takes, as far as anything was measured.
func (f Facts) duration(b *dbv1.DatabaseBackup, ask Ask) string {
	status, v := f.Cluster.Status.Backup, b.Status.Verification
	switch {
	case ask.inArchive() && status != nil && status.LastRecoveryDurationSeconds > 0:
		took := time.Duration(status.LastRecoveryDurationSeconds) * time.Second
		return fmt.Sprintf("about %s, as the last verification with a recovery took.", text.Duration(took))
	case v != nil && v.StartTime != nil && v.CompletionTime != nil:
		return fmt.Sprintf("about %s, as the verification of this backup took.", text.Duration(v.CompletionTime.Sub(v.StartTime.Time)))
	case b.Status.Duration != "":
		return fmt.Sprintf("unknown, because no restore was measured. The backup took %s.", b.Status.Duration)
	default:
		return "unknown, because no restore was measured."
	}
}
