/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// answer is what the action measure prints.
type answer struct {
	Data      int64           `json:"data"`
	Log       int64           `json:"log"`
	Temporary int64           `json:"temporary"`
	KeptFor   *dbv1.LogKeeper `json:"keptFor"`
}

// maxName bounds the texts of an answer, as the CRD does.
const maxName = 253

// partsOf is the answer of a Job that has succeeded, and why it has none; "" if it has one.
func partsOf(job LookJob) (parts *dbv1.ClusterStorageParts, problem string) {
	if job.Result == nil || job.Result.Output == nil {
		return nil, fmt.Sprintf("the answer of Job %s is lost", job.Name)
	}
	a := answer{}
	if err := json.Unmarshal(job.Result.Output, &a); err != nil {
		return nil, fmt.Sprintf("Job %s printed another form than docs/engines.md has: %s", job.Name, err)
	}
	if min(a.Data, a.Log, a.Temporary) < 0 || !a.names() {
		return nil, fmt.Sprintf("Job %s printed values that docs/engines.md does not allow", job.Name)
	}
	return &dbv1.ClusterStorageParts{
		Claim: job.Claim, CapacityBytes: job.Capacity, Time: job.EndTime,
		DataBytes: a.Data, LogBytes: a.Log, TemporaryBytes: a.Temporary, KeptFor: a.KeptFor,
	}, ""
}

// other is the size of what the database does not know; 0 if that is so little that it may have been written between the measurement of
// the kubelet and the answer.
func (f *Facts) other(p *dbv1.ClusterStorageParts) int64 {
	m, measured := f.volume(p.Claim)
	if !measured || !alike(m.VolumeUsage.Capacity, p.CapacityBytes) {
		return 0
	}
	rest := m.VolumeUsage.Capacity - m.Available - p.DataBytes - p.LogBytes - p.TemporaryBytes
	if rest < m.VolumeUsage.Capacity/20 {
		return 0
	}
	return rest
}

// names reports whether the answer names correctly for what the log is kept.
func (a answer) names() bool {
	k := a.KeptFor
	if k == nil {
		return true
	}
	named := k.Type == dbv1.KeptForArchive || (k.Type == dbv1.KeptForSlot || k.Type == dbv1.KeptForMember) && k.Name != ""
	return named && max(len(k.Name), len(k.From)) <= maxName
}

// cause is what fills the volumes, and for what the log is kept if that is the cause; nil if it has its usual size. Without an answer of
// the action measure, only the condition of the archive shows a cause.
func cause(s *situation.Situation, l insight) (dbv1.StorageCause, *dbv1.LogKeeper) {
	is, keeper := dbv1.StorageCauseLog, (*dbv1.LogKeeper)(nil)
	if l.counts {
		is, keeper = largest(l.parts), l.parts.KeptFor
	}
	fails := archiveFailsSince(s) != nil
	switch {
	case is != dbv1.StorageCauseLog:
		return is, nil
	case keeper == nil && fails:
		return is, &dbv1.LogKeeper{Type: dbv1.KeptForArchive}
	case !l.counts:
		return dbv1.StorageCauseUnknown, nil
	}
	return is, keeper
}

// largest is the largest part.
func largest(p *dbv1.ClusterStorageParts) dbv1.StorageCause {
	switch most := max(p.DataBytes, p.LogBytes, p.TemporaryBytes, p.OtherBytes); {
	case most == 0:
		return dbv1.StorageCauseUnknown
	case p.DataBytes == most:
		return dbv1.StorageCauseData
	case p.LogBytes == most:
		return dbv1.StorageCauseLog
	case p.TemporaryBytes == most:
		return dbv1.StorageCauseTemporaryFiles
	default:
		return dbv1.StorageCauseOther
	}
}

// archiveFailsSince is since when the archive does not store the log; nil if it does.
func archiveFailsSince(s *situation.Situation) *metav1.Time {
	archiving := meta.FindStatusCondition(s.Cluster.Status.Conditions, dbv1.ConditionContinuousArchiving)
	if archiving == nil || archiving.Status != metav1.ConditionFalse {
		return nil
	}
	return &archiving.LastTransitionTime
}

// grownFor reports whether the volumes have grown for this log, of which nothing was read since. The operator repairs a member, and the
// database bounds what it keeps for one.
func grownFor(s *situation.Situation, keeper *dbv1.LogKeeper, last *dbv1.ClusterStorageGrowth) bool {
	if keeper == nil || keeper.Type == dbv1.KeptForMember || last == nil || last.KeptFor == nil || last.KeptFor.Type != keeper.Type {
		return false
	}
	if since := archiveFailsSince(s); keeper.Type == dbv1.KeptForArchive && since != nil {
		return !last.Time.Before(since)
	}
	return *last.KeptFor == *keeper && keeper.From != ""
}

// explained is a growth with the cause that is known after it was decided: it did not wait for the answer.
func explained(s *situation.Situation, l insight, last *dbv1.ClusterStorageGrowth) *dbv1.ClusterStorageGrowth {
	unknown := last != nil && (last.Cause == "" || last.Cause == dbv1.StorageCauseUnknown) && l.parts != nil
	if !unknown || l.parts.Claim != last.Usage.Claim || !alike(l.parts.CapacityBytes, last.Usage.CapacityBytes) {
		return last
	}
	next := *last
	l.counts = true
	next.Cause, next.KeptFor = cause(s, l)
	return &next
}

// describe is a sentence with the parts, the largest first; "" for nothing to report.
func describe(p *dbv1.ClusterStorageParts) string {
	type part struct {
		bytes int64
		of    string
	}
	all := []part{
		{p.DataBytes, "data"}, {p.LogBytes, "log" + relative(p.KeptFor)}, {p.TemporaryBytes, "temporary files"}, {p.OtherBytes, "other files"},
	}
	slices.SortStableFunc(all, func(a, b part) int { return cmp.Compare(b.bytes, a.bytes) })
	var texts []string
	for _, one := range all {
		if one.bytes >= mebi {
			texts = append(texts, amount(one.bytes)+" of "+one.of)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	list, last := strings.Join(texts[:len(texts)-1], ", "), texts[len(texts)-1]
	if list != "" {
		last = list + " and " + last
	}
	return fmt.Sprintf("PersistentVolumeClaim %s has %s", p.Claim, last)
}

// relative continues a sentence about the log.
func relative(k *dbv1.LogKeeper) string {
	if k == nil {
		return ""
	}
	return " that " + keeps(*k)
}

// keeps is why log is kept.
func keeps(k dbv1.LogKeeper) string {
	switch k.Type {
	case dbv1.KeptForSlot:
		return fmt.Sprintf("replication slot %s keeps", k.Name)
	case dbv1.KeptForMember:
		return fmt.Sprintf("is kept for member %s", k.Name)
	case dbv1.KeptForArchive:
	}
	return "the archive does not store"
}

// remedy is what lets the database delete log.
func remedy(s *situation.Situation, k *dbv1.LogKeeper) string {
	switch {
	case k.Type == dbv1.KeptForSlot:
		return "Drop the slot, or let its client read"
	case k.Type == dbv1.KeptForMember:
		return "Repair that member, or remove it"
	case archiveFailsSince(s) != nil:
		return "Repair what the condition ContinuousArchiving reports, or remove spec.backup.archive"
	default:
		return "Repair the archive, or remove it"
	}
}

// amount is a number of bytes for people.
func amount(bytes int64) string {
	if bytes < gibi {
		return fmt.Sprintf("%dMi", bytes/mebi)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/gibi), ".0") + "Gi"
}

// remedies are for the causes that have one, apart from log: see remedy.
var remedies = map[dbv1.StorageCause]string{
	dbv1.StorageCauseTemporaryFiles: ". End the queries that write temporary files",
	dbv1.StorageCauseOther:          ". Remove the files that are not the database's",
}

// sentences follow a message: they name the parts, and the remedy for log unless the message has it.
func (l *insight) sentences(s *situation.Situation, reason string) (text string) {
	switch {
	case l.counts:
	case l.text != "":
		return ". Its parts are unknown: " + l.text
	default:
		return ""
	}
	if has := describe(l.parts); has != "" {
		text = ". " + has
	}
	text += remedies[largest(l.parts)]
	if k := l.parts.KeptFor; k != nil && reason != dbv1.ReasonLogKept {
		text += ". " + remedy(s, k)
	}
	return text
}
