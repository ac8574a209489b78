/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// reporter has what a pass has decided about the space.
type reporter struct {
	s *situation.Situation
	f Facts
	v verdict
	g guard
	l insight
}

// report writes the decisions, the rounded use and the condition.
func (r reporter) report(e subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
	before := r.s.Cluster.Status.Storage
	if before == nil {
		before = &dbv1.ClusterStorageStatus{}
	}
	if given := refused(r.s, e); given != nil {
		r.v = cannotExpand(given)
	}
	after := dbv1.ClusterStorageStatus{
		Growth: explained(r.s, r.l, before.Growth), Protection: r.g.next, Usage: usage(r.s, r.f, before.Usage), Parts: r.l.parts,
		Unprotected: cmp.Or(r.g.unprotected, before.Unprotected),
	}
	if r.v.growth != nil {
		after.Growth = r.v.growth
	}
	write(r.s, status, after)
	if !r.f.Asked && (r.g.next == nil || r.g.quiet) {
		meta.RemoveStatusCondition(&status.Conditions, dbv1.ConditionDiskPressure)
		return nil
	}
	if r.v.status == metav1.ConditionTrue {
		r.v.message += r.l.sentences(r.s, r.v.reason)
	}
	return condition(r.v, r.g)
}

// write adds the decisions to what the status has of the volumes.
func write(s *situation.Situation, status *dbv1.DatabaseClusterStatus, after dbv1.ClusterStorageStatus) {
	if status.Storage == nil && after.Growth == nil && after.Protection == nil && after.Unprotected == "" {
		return
	}
	if status.Storage == nil {
		status.Storage = &dbv1.ClusterStorageStatus{}
	}
	next := status.Storage
	next.Growth, next.Protection, next.Usage, next.Parts, next.Desired = after.Growth, after.Protection, after.Usage, after.Parts, nil
	next.Unprotected = after.Unprotected
	if after.Growth != nil || s.Cluster.Spec.Storage.AutoGrow != nil {
		decided := *s.Declared.DeepCopy()
		decided.Status.Storage = &after
		size := situation.Desired(&decided)
		next.Desired = &size
	}
}

// usage is the measurement of the fullest volume. It stays as it was until a rounded number differs, and without a fresh measurement.
func usage(s *situation.Situation, f Facts, before *dbv1.ClusterStorageUsage) *dbv1.ClusterStorageUsage {
	fullest, known := f.fullest()
	if !asked(s.Cluster) {
		return nil
	}
	if !known {
		return before
	}
	if before != nil && state.RoundedUse(before.UsedPercent) == state.RoundedUse(fullest.UsedPercent) &&
		slices.ContainsFunc(f.Measured, func(m Measured) bool { return same(m, before, fullest) }) {
		return before
	}
	seen := fullest.usage()
	return &seen
}

// same reports whether a recorded measurement of a volume still counts as that of the fullest one. While volumes fill, only its own does.
func same(m Measured, before *dbv1.ClusterStorageUsage, fullest Measured) bool {
	is := m.Claim == before.Claim && m.VolumeUsage.Capacity == before.CapacityBytes
	return is && (m.Claim == fullest.Claim || fullest.UsedPercent < defaultAtPercent)
}

// condition is DiskPressure; none if nothing is known yet. A protection is pressure, whatever else is known, until it is lifted.
func condition(v verdict, g guard) []metav1.Condition {
	if g.next != nil && !g.quiet {
		v = protected(v, g)
	} else if g.text != "" && v.status == metav1.ConditionTrue {
		v.message += ". " + sentence(g.text)
	}
	if v.status == "" {
		return nil
	}
	return []metav1.Condition{{Type: dbv1.ConditionDiskPressure, Status: v.status, Reason: v.reason, Message: v.message}}
}

func protected(v verdict, g guard) verdict {
	message := g.refuses
	switch {
	case message != "":
	case inherited(g.next):
		message = "transactions may be read-only, because the volumes were in use before"
	default:
		message = "the volume of the primary is nearly full"
	}
	for _, more := range []string{g.text, v.message} {
		if more != "" {
			message += "; " + more
		}
	}
	v.status, v.reason, v.message = metav1.ConditionTrue, dbv1.ReasonReadOnly, message
	return v
}

// sentence begins with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
