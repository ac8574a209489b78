/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// ClaimResize makes the claim of a data volume ask for a size.
type ClaimResize struct {
	Volume state.Volume
	Size   resource.Quantity
}

func (c ClaimResize) String() string {
	return fmt.Sprintf("PersistentVolumeClaim %s from %s to %s", c.Volume.Claim, c.Volume.Requested.String(), c.Size.String())
}

// claims are those that do not ask for the size of the spec. They grow whatever state the members are in:
// a full volume is often why they are down. A claim that is not bound cannot be changed.
func claims(cluster *dbv1.DatabaseCluster, observed state.Observed) []ClaimResize {
	var all []ClaimResize
	size := cluster.Spec.Storage.Size
	for _, v := range inUse(cluster, observed) {
		grow := v.Requested.Cmp(size) < 0
		giveUp := v.Requested.Cmp(size) > 0 && v.Capacity.Cmp(size) < 0 // what was asked for before has not come about
		if !v.Stopping && !v.Capacity.IsZero() && (grow || giveUp) {
			all = append(all, ClaimResize{v, size})
		}
	}
	return all
}

// inUse are the volumes of the members that there are or should be, not those that were kept when members
// went, nor those of an earlier cluster that are not this one's.
func inUse(cluster *dbv1.DatabaseCluster, observed state.Observed) []state.Volume {
	members := max(cluster.Spec.Replicas, running(observed))
	var all []state.Volume
	for _, v := range observed.Volumes {
		former := usable(v) && v.Cluster != cluster.UID
		if v.Ordinal < members && !former {
			all = append(all, v)
		}
	}
	return all
}

// recreate makes the StatefulSet anew when it would make claims of another size, which cannot be changed
// in place. Its pods are left alone. The claims that there are come first: when the size is refused to one of
// them, or known to be impossible, the next member's claim shall not ask for it either. Nor
// while nothing can be made from what the engine says.
func recreate(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if len(p.Claims) > 0 || !otherSize(cluster, observed) || infeasible(cluster, observed) != nil || misfit(cluster, observed) != nil {
		return false
	}
	p.Step = RecreateStatefulSet{}
	p.Reason, p.Why = dbv1.ReasonResizingStorage, fmt.Sprintf(
		"making StatefulSet %s anew for volumes of %s; its pods go on running", observed.StatefulSet.Name, cluster.Spec.Storage.Size.String())
	return true
}

// otherSize tells whether the StatefulSet makes claims of another size than the spec's.
func otherSize(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if observed.StatefulSet == nil {
		return false
	}
	size, makes := resources.ClaimSize(observed.StatefulSet)
	return makes && size.Cmp(cluster.Spec.Storage.Size) != 0
}

// resizing waits for the volumes to have their size. A cluster that hibernates does not: file systems grow where
// they are mounted, so that may have to wait until it wakes.
func resizing(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	text := Resizing(cluster, observed)
	switch {
	case len(p.Claims) > 0:
		text = "resizing " + describe(p.Claims)
	case cluster.Spec.Hibernated:
		return false
	}
	if text != "" {
		p.Reason, p.Why = dbv1.ReasonResizingStorage, text
	}
	return text != ""
}

// Resizing says which volumes do not have the size of the spec yet, and why; "" when all have it. What is
// not bound has no size to be compared.
func Resizing(cluster *dbv1.DatabaseCluster, observed state.Observed) string {
	var texts []string
	all := inUse(cluster, observed)
	for _, v := range all {
		if v.Capacity.IsZero() || v.Capacity.Cmp(cluster.Spec.Storage.Size) >= 0 {
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
	return fmt.Sprintf("%d of %d volumes have %s; %s", len(all)-len(texts), len(all), cluster.Spec.Storage.Size.String(), strings.Join(texts, "; "))
}

// infeasible is the stall of a growth that will not come about.
func infeasible(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	for _, v := range inUse(cluster, observed) {
		if !v.Infeasible || v.Capacity.Cmp(cluster.Spec.Storage.Size) >= 0 {
			continue
		}
		return &Stall{dbv1.ReasonResizeInfeasible, fmt.Sprintf(
			"PersistentVolumeClaim %s has %s and cannot get %s: %s; set spec.storage.size to less than that, but more than %s",
			v.Claim, v.Capacity.String(), v.Requested.String(), v.Resizing, v.Capacity.String())}
	}
	return nil
}
