/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// ClaimLabel puts the label on a claim by which the API server refuses to delete it, or takes it off.
type ClaimLabel struct {
	Volume  state.Volume
	Protect bool
}

func (c ClaimLabel) String() string {
	if c.Protect {
		return "protect PersistentVolumeClaim " + c.Volume.Claim
	}
	return "no longer protect PersistentVolumeClaim " + c.Volume.Claim
}

// labels are the claims that are not protected as the spec says: those of members that are no more, too,
// because their data is kept as well. One that is on its way out is beyond protection, and one that an earlier
// cluster left is first to be this one's. While a backup is restored there is nothing yet that it does not hold, too.
func labels(cluster *dbv1.DatabaseCluster, observed state.Observed) []ClaimLabel {
	var all []ClaimLabel
	protect := cluster.Spec.Deletion.Protection && restoreOf(cluster, observed) == nil
	for _, v := range observed.Volumes {
		former := usable(v) && v.Cluster != cluster.UID
		if v.Protected != protect && !v.Stopping && !former {
			all = append(all, ClaimLabel{v, protect})
		}
	}
	return all
}

// labeling says what is done to the claims, which waits for nothing. A deletion waits for it: claims that the
// operator is to delete would be refused, and those that it keeps would be protected for ever.
func labeling(p *Plan) bool {
	if len(p.Labels) == 0 {
		return false
	}
	p.Reason, p.Why = dbv1.ReasonApplying, describe(p.Labels)
	return true
}

// protected holds back a deletion that the API server should have refused, as where its policies are missing or
// were not in force yet.
func protected(p *Plan, cluster *dbv1.DatabaseCluster) bool {
	if !cluster.Spec.Deletion.Protection {
		return false
	}
	p.Reason, p.Why = dbv1.ReasonProtected, "spec.deletion.protection is true"
	p.Stalled = &Stall{dbv1.ReasonProtected, fmt.Sprintf(
		"the cluster was deleted although spec.deletion.protection is true, because the API server did not refuse it. "+
			"The operator stops and deletes nothing. Set spec.deletion.protection to false to let the deletion go on; it cannot be taken back: "+
			"kubectl -n %s patch databasecluster %s --type=merge -p '{\"spec\":{\"deletion\":{\"protection\":false}}}'",
		cluster.Namespace, cluster.Name)}
	return true
}
