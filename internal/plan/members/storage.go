/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Resizes change the requested size of claims. A volume never shrinks, and one that cannot grow prevents no other operation.
func Resizes(s *situation.Situation) operation.List {
	return operation.Changes(operation.Work{
		Is: operation.Properties{LiveRead: true, Independent: true}, Text: "resize ",
		Event: operation.Normal("VolumeResizing", "Resize", "resizing "), Listed: ", ",
	}, resizes(s))
}

// resizes are the claims whose requested size differs from the spec. They grow in any state of the members, because a full volume
// is often the cause of a failure. A claim that is not bound cannot be changed.
func resizes(s *situation.Situation) []operation.Patch {
	var all []operation.Patch
	size := s.Cluster.Spec.Storage.Size
	for _, v := range s.InUse() {
		grow := v.Requested.Cmp(size) < 0
		giveUp := v.Requested.Cmp(size) > 0 && v.Capacity.Cmp(size) < 0 // the previous expansion has not succeeded
		if !v.Terminating && !v.Capacity.IsZero() && (grow || giveUp) {
			what := fmt.Sprintf("PersistentVolumeClaim %s from %s to %s", v.Claim, v.Requested.String(), size.String())
			all = append(all, setting(s, v, what, size.String(), "spec", "resources", "requests", "storage"))
		}
	}
	return all
}

// Recreate re-creates the StatefulSet if its volumeClaimTemplates have another size or VolumeAttributesClass, because they are
// immutable. Its pods continue to run. Existing claims are changed first: if the API server refuses the change for one of them, or
// it is infeasible, the next member's claim must not request it. The operator does not re-create the StatefulSet while the engine makes the spec unusable, or while the last primary starts alone.
func Recreate(s *situation.Situation) phase.Outcome {
	if len(resizes(s)) > 0 || len(modifications(s)) > 0 || !s.OtherClaims() || s.Start() > 0 || Infeasible(s) != nil || Unmodifiable(s) != nil || s.Incompatible != nil {
		return phase.Over
	}
	storage := s.Cluster.Spec.Storage
	volumes := storage.Size.String()
	if storage.VolumeAttributesClassName != "" {
		volumes += " with VolumeAttributesClass " + storage.VolumeAttributesClassName
	}
	return phase.Do(dbv1.ReasonResizingStorage, fmt.Sprintf(
		"re-creating StatefulSet %s for volumes of %s; its pods continue to run", s.StatefulSet.Name, volumes), recreate(s))
}

func recreate(s *situation.Situation) operation.Recreate {
	set := s.StatefulSet
	revision, _ := s.Revision()
	return operation.Recreate{
		Work: operation.Work{
			Is: operation.Last, Text: "delete the StatefulSet and orphan its pods", Event: operation.Normal("StatefulSetRecreated", "Recreate", ""),
		},
		StatefulSet: operation.TargetOf("StatefulSet", set),
		Revision:    revision, RenderedFrom: set.Annotations[dbv1.AnnotationRenderedFrom],
	}
}

// AwaitSize waits until the volumes have their size. A hibernated cluster does not wait: a file system is expanded while it is
// mounted, which may happen only after the cluster resumes.
func AwaitSize(s *situation.Situation) phase.Outcome {
	text := Resizing(s)
	if all := resizes(s); len(all) > 0 {
		text = "resizing " + operation.Describe(all)
	} else if s.Cluster.Spec.Hibernated {
		return phase.Over
	}
	if text == "" {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonResizingStorage, text)
}

// Resizing describes the volumes that do not have the size of the spec yet, with the cause; "" if all have it. A claim that is not
// bound has no size to compare.
func Resizing(s *situation.Situation) string {
	var texts []string
	all := s.InUse()
	for _, v := range all {
		if v.Capacity.IsZero() || v.Capacity.Cmp(s.Cluster.Spec.Storage.Size) >= 0 {
			continue
		}
		text := fmt.Sprintf("PersistentVolumeClaim %s has %s", v.Claim, v.Capacity.String())
		if v.Resizing != "" {
			text += ": " + v.Resizing
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d volumes have %s; %s", len(all)-len(texts), len(all), s.Cluster.Spec.Storage.Size.String(), strings.Join(texts, "; "))
}

// Infeasible is the stall of a volume that cannot be expanded.
func Infeasible(s *situation.Situation) *situation.Stall {
	for _, v := range s.InUse() {
		if !v.Infeasible || v.Capacity.Cmp(s.Cluster.Spec.Storage.Size) >= 0 {
			continue
		}
		return &situation.Stall{Reason: dbv1.ReasonResizeInfeasible, Message: fmt.Sprintf(
			"PersistentVolumeClaim %[1]s has %[2]s and cannot be expanded to %[3]s: %[4]s. Set spec.storage.size to a size between %[2]s and %[3]s that the storage has room for",
			v.Claim, v.Capacity.String(), v.Requested.String(), v.Resizing)}
	}
	return nil
}
