/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

// progress is what happens now.
func (f Facts) progress(p text.Palette) string {
	rows := append(append(f.ofCluster(), f.ofOthers()...), f.pending()...)
	if len(rows) == 0 {
		return ""
	}
	return p.Paint("In progress", text.Heading) + "\n" + p.Table("  ", rows)
}

// informative are conditions that report work or a setting, and no problem.
var informative = []string{
	dbv1.ConditionProgressing, dbv1.ConditionStorageResizing, dbv1.ConditionPaused, dbv1.ConditionHibernated, dbv1.ConditionUpdateAvailable,
}

func (f Facts) ofCluster() [][]text.Cell {
	var rows [][]text.Cell
	for _, kind := range informative {
		if c := meta.FindStatusCondition(f.Cluster.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
			rows = append(rows, text.Cells(kind, c.Reason, c.Message))
		}
	}
	for _, kind := range []string{dbv1.ConditionCredentialsRotated, dbv1.ConditionTLSReady} {
		c := meta.FindStatusCondition(f.Cluster.Status.Conditions, kind)
		if c != nil && (c.Reason == dbv1.ReasonRotating || c.Reason == dbv1.ReasonCertificateReloading) {
			rows = append(rows, text.Cells(kind, c.Reason, c.Message))
		}
	}
	for _, r := range f.Cluster.Status.Requests {
		if r.State != dbv1.RequestCompleted {
			rows = append(rows, text.Cells("Request", string(r.Type)+" "+r.Request, string(r.State)+suffix(r.Message)))
		}
	}
	for _, h := range f.Cluster.Status.Hooks {
		rows = append(rows, text.Cells("Deletion hook", h.Name, string(h.Phase)+suffix(h.Message)))
	}
	return rows
}

// ofOthers are the backups, verifications and restores that have not ended.
func (f Facts) ofOthers() [][]text.Cell {
	var rows [][]text.Cell
	for _, b := range f.Backups {
		if !b.Status.Phase.Finished() {
			state := cmp.Or(string(b.Status.Phase), "Pending") + suffix(b.Status.Size) + suffix(b.Status.Message)
			rows = append(rows, text.Cells("Backup", b.Name, state))
		}
		if v := b.Status.Verification; v != nil && v.Phase == dbv1.VerificationRunning {
			rows = append(rows, text.Cells("Verification", b.Name, string(v.Phase)+suffix(v.Message)))
		}
	}
	if r := f.Cluster.Status.Restore; r != nil && r.Phase != dbv1.RestoreCompleted {
		rows = append(rows, text.Cells("Restore", string(r.Phase), r.Message+done(r)))
	}
	for _, r := range f.Restores {
		if c := meta.FindStatusCondition(r.Status.Conditions, dbv1.ConditionReady); c == nil || c.Status != metav1.ConditionTrue {
			said := "not observed yet"
			if c != nil {
				said = c.Message
			}
			rows = append(rows, text.Cells("Restore", r.Name, said))
		}
	}
	return rows
}

func suffix(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

func done(r *dbv1.ClusterRestoreStatus) string {
	if r.TotalBytes == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s of %s)", text.Bytes(r.Bytes), text.Bytes(r.TotalBytes))
}

// causes are the conditions and the objects that need attention. Progressing is above already.
func (f Facts) causes(p text.Palette) string {
	var rows [][]text.Cell
	for _, c := range why.Causes(f.Cluster) {
		if c.Type != dbv1.ConditionProgressing {
			rows = append(rows, []text.Cell{{Text: c.Type + " " + string(c.Status), Tone: text.Bad}, {Text: c.Reason}, {Text: c.Message}})
		}
	}
	rows = append(rows, f.failing()...)
	if len(rows) == 0 {
		return ""
	}
	return p.Paint("Needs attention", text.Heading) + " (kubectl dbc why " + f.Cluster.Name + ")\n" + p.Table("  ", rows)
}
