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

// Resizes are the claims that do not ask for the size of the spec. They grow whatever state the members are in:
// a full volume is often why they are down. A claim that is not bound cannot be changed.
func Resizes(s *situation.Situation) []operation.Resize {
	var all []operation.Resize
	size := s.Cluster.Spec.Storage.Size
	for _, v := range s.InUse() {
		grow := v.Requested.Cmp(size) < 0
		giveUp := v.Requested.Cmp(size) > 0 && v.Capacity.Cmp(size) < 0 // what was asked for before has not come about
		if !v.Terminating && !v.Capacity.IsZero() && (grow || giveUp) {
			all = append(all, operation.Resize{Volume: v, Size: size})
		}
	}
	return all
}

// Recreate makes the StatefulSet anew when it would make claims of another size, which cannot be changed
// in place. Its pods are left alone. The claims that there are come first: when the size is refused to one of
// them, or known to be impossible, the next member's claim shall not ask for it either. Nor
// while nothing can be made from what the engine says.
func Recreate(s *situation.Situation) phase.Outcome {
	if _, resizes := operation.Find[operation.ResizeVolumes](s.Upkeep); resizes || !s.OtherSize() || Infeasible(s) != nil || s.Incompatible != nil {
		return phase.Over
	}
	return phase.Do(dbv1.ReasonResizingStorage, fmt.Sprintf(
		"re-creating StatefulSet %s for volumes of %s; its pods continue to run", s.StatefulSet.Name, s.Cluster.Spec.Storage.Size.String()),
		operation.RecreateStatefulSet{})
}

// AwaitSize waits for the volumes to have their size. A cluster that hibernates does not: file systems grow where
// they are mounted, so that may have to wait until it wakes.
func AwaitSize(s *situation.Situation) phase.Outcome {
	text := Resizing(s)
	if resize, resizes := operation.Find[operation.ResizeVolumes](s.Upkeep); resizes {
		text = "resizing " + operation.Describe(resize.Claims)
	} else if s.Cluster.Spec.Hibernated {
		return phase.Over
	}
	if text == "" {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonResizingStorage, text)
}

// Resizing says which volumes do not have the size of the spec yet, and why; "" when all have it. What is
// not bound has no size to be compared.
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

// Infeasible is the stall of a growth that will not come about.
func Infeasible(s *situation.Situation) *situation.Stall {
	for _, v := range s.InUse() {
		if !v.Infeasible || v.Capacity.Cmp(s.Cluster.Spec.Storage.Size) >= 0 {
			continue
		}
		return &situation.Stall{Reason: dbv1.ReasonResizeInfeasible, Message: fmt.Sprintf(
			"PersistentVolumeClaim %s has %s and cannot be expanded to %s: %s. Set spec.storage.size to a smaller size that is more than %s",
			v.Claim, v.Capacity.String(), v.Requested.String(), v.Resizing, v.Capacity.String())}
	}
	return nil
}
