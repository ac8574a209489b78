/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// record sets the records that prevent repetition: those from before, and the one that the pass has executed. A record of a previous
// version of the operator moves here.
func (p PassResult) record(status *dbv1.DatabaseClusterStatus) {
	status.Requests, status.Configuration = p.Requests(), p.Configured()
	recorded := p.Plan.Recorded
	switch {
	case recorded == nil:
	case recorded.Request != nil:
		status.Requests = slices.DeleteFunc(status.Requests, func(r dbv1.ClusterRequestStatus) bool { return r.Type == recorded.Request.Type })
		status.Requests = append(status.Requests, *recorded.Request)
	case recorded.Configuration != nil:
		status.Configuration = recorded.Configuration
	case recorded.Bootstrap != nil:
		status.Bootstrap = recorded.Bootstrap
	}
	slices.SortFunc(status.Requests, func(a, b dbv1.ClusterRequestStatus) int { return strings.Compare(string(a.Type), string(b.Type)) })
}
