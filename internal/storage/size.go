/*
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// resizes are the claims whose requested size differs from the spec.
func resizes(s *situation.Situation) []operation.Patch {
	var all []operation.Patch
	size := s.Cluster.Spec.Storage.Size
	for _, v := range state.Only(s.InUse(), s.OtherSize) {
		what := fmt.Sprintf("PersistentVolumeClaim %s from %s to %s", v.Claim, v.Requested.String(), size.String())
		all = append(all, setting(s, v, what, size.String(), "spec", "resources", "requests", "storage"))
	}
	return all
}

// awaitSize waits until the volumes have their size. A hibernated cluster does not wait: a file system is expanded while it is
// mounted, which may happen only after the cluster resumes.
func awaitSize(s *situation.Situation, all []operation.Patch) phase.Outcome {
	text := sizes(s)
	if len(all) > 0 {
		text = "resizing " + operation.Describe(all)
	} else if s.Cluster.Spec.Hibernated {
		return phase.Over
	}
	if text == "" {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonResizingStorage, text)
}

// sizes describes the volumes that do not have the size of the spec yet, with the cause; "" if all have it. A claim that is not
// bound has no size to compare.
func sizes(s *situation.Situation) string {
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
	return fmt.Sprintf("%d of %d volumes have %s; %s", len(all)-len(texts), len(all), s.Cluster.Spec.Storage.Size.String(),
		strings.Join(texts, "; "))
}

// infeasible is the stall of a volume that cannot be expanded.
func infeasible(s *situation.Situation) *situation.Stall {
	for _, v := range s.InUse() {
		// A growth that the operator has decided is no fault of the spec: the condition DiskPressure reports it.
		if !s.CannotGrow(v) || v.Capacity.Cmp(s.Declared.Spec.Storage.Size) >= 0 {
			continue
		}
		return &situation.Stall{Reason: dbv1.ReasonResizeInfeasible, Message: fmt.Sprintf(
			"PersistentVolumeClaim %[1]s has %[2]s and cannot be expanded to %[3]s: %[4]s. Set spec.storage.size to a size between %[2]s and "+
				"%[3]s that the storage has room for",
			v.Claim, v.Capacity.String(), v.Requested.String(), v.Resizing)}
	}
	return nil
}
