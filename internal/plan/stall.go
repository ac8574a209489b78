/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// stall is what waits for a human although the cluster as such may run.
func stall(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	if len(observed.Foreign) > 0 {
		return &Stall{dbv1.ReasonNameConflict, nameConflict(observed.Foreign)}
	}
	return volumeSize(cluster, observed)
}

func nameConflict(foreign []state.Ref) string {
	names := make([]string, 0, len(foreign))
	for _, f := range foreign {
		names = append(names, f.Kind+" "+f.Name)
	}
	return fmt.Sprintf("%s: not made for this cluster, so the operator leaves it alone; delete or rename it, or give the cluster another name",
		strings.Join(names, ", "))
}

// volumeSize compares the size that the spec asks for with the one that the claim template has.
func volumeSize(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	if observed.StatefulSet == nil {
		return nil
	}
	wanted := cluster.Spec.Storage.Size
	for _, template := range observed.StatefulSet.Spec.VolumeClaimTemplates {
		has := template.Spec.Resources.Requests[corev1.ResourceStorage]
		if template.Name == naming.DataVolume && has.Cmp(wanted) != 0 {
			return &Stall{dbv1.ReasonStorageChangeUnsupported, fmt.Sprintf(
				"spec.storage.size is %s but volumes are made with %s: this version of the operator does not grow them; "+
					"set the size on each PersistentVolumeClaim, then kubectl delete statefulset %s --cascade=orphan, and it is made anew",
				wanted.String(), has.String(), observed.StatefulSet.Name)}
		}
	}
	return nil
}
