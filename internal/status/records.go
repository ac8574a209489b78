/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// record sets the records that prevent repetition: those from before, and those that the pass has executed. A record of a previous
// version of the operator moves here.
func (p PassResult) record(status *dbv1.DatabaseClusterStatus, now metav1.Time) {
	rows := p.Requests()
	status.Configuration = p.Configured()
	for _, recorded := range p.Plan.Recorded {
		switch {
		case recorded.Request != nil:
			rows = append(without(rows, recorded.Request.Type), *recorded.Request)
		case recorded.Configuration != nil:
			status.Configuration = recorded.Configuration
		case recorded.Bootstrap != nil:
			status.Bootstrap = recorded.Bootstrap
		}
	}
	status.Requests = p.requests(rows, now)
}

func without(rows []dbv1.ClusterRequestStatus, kind dbv1.ClusterRequestType) []dbv1.ClusterRequestStatus {
	return slices.DeleteFunc(rows, func(r dbv1.ClusterRequestStatus) bool { return r.Type == kind })
}
