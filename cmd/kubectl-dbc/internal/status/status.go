/*
SPDX-License-Identifier: Apache-2.0
*/

// Package status renders the state of a cluster on one screen.
package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

// Facts are the objects that describe a cluster. Engine is nil if it cannot be read.
type Facts struct {
	Cluster  *dbv1.DatabaseCluster
	Engine   *dbv1.DatabaseEngine
	Pods     []corev1.Pod
	Backups  []dbv1.DatabaseBackup
	Restores []dbv1.DatabaseRestore
	// Objects are the Databases and DatabaseUsers.
	Objects []why.Object
	// Missing are the kinds that the user may not read.
	Missing []string
	Now     time.Time
}

// Screen is the state of a cluster as text.
func (f Facts) Screen(p text.Palette) string {
	sections := []string{f.heading(p), f.members(p), f.facts(p), f.progress(p), f.causes(p), f.missing()}
	return strings.Join(slices.DeleteFunc(sections, func(s string) bool { return s == "" }), "\n")
}

// heading is the verdict, and what runs.
func (f Facts) heading(p text.Palette) string {
	verdict, cause := why.Explain(f.Cluster)
	tone := map[why.Verdict]text.Tone{why.Healthy: text.Good, why.Unhealthy: text.Bad, why.Unknown: text.Warning}[verdict]
	line := p.Paint(fmt.Sprintf("DatabaseCluster %s/%s", f.Cluster.Namespace, f.Cluster.Name), text.Heading) + "   " +
		p.Paint(cmp.Or(cause.Reason, "Unknown"), tone) + "\n"
	spec := f.Cluster.Spec
	what := []string{"no engine"}
	if spec.Engine != "" {
		what = []string{"engine " + spec.Engine}
	}
	if f.Cluster.Status.Version != "" {
		what = append(what, "version "+f.Cluster.Status.Version)
	}
	what = append(what, "image "+spec.Image, "created "+text.Age(f.Cluster.CreationTimestamp.Time, f.Now)+" ago")
	return line + "  " + strings.Join(what, ", ") + "\n"
}

// missing is why the screen is not complete.
func (f Facts) missing() string {
	if len(f.Missing) == 0 {
		return ""
	}
	return "Not shown, because you may not read it: " + strings.Join(f.Missing, ", ") + "\n"
}

func (f Facts) members(p text.Palette) string {
	status := f.Cluster.Status
	head := fmt.Sprintf("Members: %d of %d ready", status.ReadyReplicas, f.Cluster.Spec.Replicas)
	rows := [][]text.Cell{text.Cells("POD", "ROLE", "STATE", "LAG", "VERSION", "VOLUME", "NODE")}
	lags := f.lags()
	for _, m := range status.Members {
		state := string(m.State)
		if m.Outdated {
			state += ", outdated"
		}
		place := cmp.Or(m.Node, "-")
		if m.Zone != "" {
			place += " (" + m.Zone + ")"
		}
		rows = append(rows, []text.Cell{
			{Text: m.Pod}, {Text: cmp.Or(string(m.Role), "-")}, {Text: cmp.Or(state, "-"), Tone: tones[m.State]}, {Text: cmp.Or(lags[m.Pod], "-")},
			{Text: cmp.Or(m.Version, "-")}, {Text: volume(m.Volume)}, {Text: place},
		})
	}
	if len(rows) == 1 {
		return p.Paint(head, text.Heading) + "\n"
	}
	return p.Paint(head, text.Heading) + "\n" + p.Table("  ", rows) + failures(status.Members)
}

var tones = map[dbv1.MemberState]text.Tone{
	dbv1.MemberReady: text.Good, dbv1.MemberStarting: text.Warning, dbv1.MemberTerminating: text.Warning, dbv1.MemberFailing: text.Bad,
}

// failures are the messages of members, below the table because they are long.
func failures(members []dbv1.MemberStatus) string {
	var all strings.Builder
	for _, m := range members {
		if m.Message != "" {
			fmt.Fprintf(&all, "  %s: %s\n", m.Pod, m.Message)
		}
	}
	return all.String()
}

func volume(v *dbv1.MemberVolumeStatus) string {
	switch {
	case v == nil:
		return "-"
	case v.Capacity == nil:
		return v.Requested.String() + ", not bound"
	case v.Capacity.Cmp(v.Requested) < 0:
		return v.Capacity.String() + ", grows to " + v.Requested.String()
	default:
		return v.Capacity.String()
	}
}

// facts are storage, backups, recovery and certificates, a line each.
func (f Facts) facts(p text.Palette) string {
	var rows [][]text.Cell
	add := func(name string, is text.Cell) {
		if is.Text != "" {
			rows = append(rows, []text.Cell{{Text: name, Tone: text.Heading}, is})
		}
	}
	add("Storage", text.Cell{Text: f.storage()})
	add("Backups", f.backups())
	add("Verified", text.Cell{Text: f.verified()})
	add("Recovery", f.recovery())
	add("Certificate", f.certificate())
	return p.Table("", rows)
}

func (f Facts) storage() string {
	spec, status := f.Cluster.Spec.Storage, f.Cluster.Status.Storage
	switch {
	case spec.Ephemeral != nil && *spec.Ephemeral:
		return "ephemeral, at most " + spec.Size.String() + " for each member"
	case status == nil:
		return spec.Size.String() + " for each member, no volume yet"
	default:
		return size(status.Capacity) + " for each member, " + spec.Size.String() + " in the spec"
	}
}

func size(q *resource.Quantity) string {
	if q == nil {
		return "no volume"
	}
	return q.String()
}

func (f Facts) backups() text.Cell {
	if f.Cluster.Spec.Backup == nil {
		return text.Cell{Text: "none: spec.backup is not set", Tone: text.Warning}
	}
	b := f.Cluster.Status.Backup
	if b == nil || b.LastCompletedBackup == "" {
		return text.Cell{Text: "no complete backup yet" + f.next(b), Tone: text.Warning}
	}
	bytes := text.Bytes(b.LastCompletedBytes)
	return text.Cell{Text: fmt.Sprintf("%s, %s ago, %s%s", b.LastCompletedBackup, f.age(b.LastCompletionTime), bytes, f.next(b))}
}

func (f Facts) next(b *dbv1.ClusterBackupStatus) string {
	if b == nil || b.NextScheduleTime == nil {
		return ""
	}
	return fmt.Sprintf("; next at %s, in %s", text.Time(b.NextScheduleTime.Time), text.Duration(b.NextScheduleTime.Sub(f.Now)))
}

func (f Facts) verified() string {
	switch b := f.Cluster.Status.Backup; {
	case f.Cluster.Spec.Backup == nil || b == nil:
		return ""
	case b.LastVerifiedBackup == "":
		return "no backup has been verified"
	case b.LastRecoveryTime != nil:
		took := text.Duration(time.Duration(b.LastRecoveryDurationSeconds) * time.Second)
		return fmt.Sprintf("%s, %s ago; last recovery %s ago, in %s",
			b.LastVerifiedBackup, f.age(b.LastVerificationTime), f.age(b.LastRecoveryTime), took)
	default:
		return fmt.Sprintf("%s, %s ago", b.LastVerifiedBackup, f.age(b.LastVerificationTime))
	}
}

func (f Facts) recovery() text.Cell {
	r := f.Cluster.Status.Recovery
	switch {
	case f.Cluster.Spec.Backup == nil || f.Cluster.Spec.Backup.Archive == nil:
		return text.Cell{}
	case r == nil || r.Oldest == nil || r.Newest == nil:
		return text.Cell{Text: "no time can be recovered yet", Tone: text.Warning}
	}
	said := "any second"
	if len(r.Ranges) > 1 {
		said = fmt.Sprintf("seconds in %d ranges", len(r.Ranges))
	}
	said += fmt.Sprintf(" from %s to %s", text.Time(r.Oldest.Time), text.Time(r.Newest.Time))
	if r.Message != "" {
		return text.Cell{Text: said + "; " + r.Message, Tone: text.Warning}
	}
	return text.Cell{Text: said + "; archive of " + text.Bytes(r.ArchiveBytes)}
}

// soon is how long before its end a certificate should have been renewed: the alert has the same limit.
const soon = 14 * 24 * time.Hour

func (f Facts) certificate() text.Cell {
	tls := f.Cluster.Status.TLS
	switch {
	case f.Cluster.Spec.TLS == nil:
		return text.Cell{}
	case tls == nil || tls.NotAfter == nil:
		return text.Cell{Text: "none yet", Tone: text.Warning}
	}
	left := tls.NotAfter.Sub(f.Now)
	switch {
	case left <= 0:
		return text.Cell{Text: fmt.Sprintf("Secret %s expired at %s", tls.SecretName, text.Time(tls.NotAfter.Time)), Tone: text.Bad}
	case left < soon:
		return text.Cell{Text: fmt.Sprintf("Secret %s expires in %s", tls.SecretName, text.Duration(left)), Tone: text.Warning}
	default:
		return text.Cell{Text: fmt.Sprintf("Secret %s, valid for %s", tls.SecretName, text.Duration(left))}
	}
}

func (f Facts) age(at *metav1.Time) string {
	if at == nil {
		return "-"
	}
	return text.Age(at.Time, f.Now)
}
