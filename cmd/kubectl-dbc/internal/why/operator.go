/*
SPDX-License-Identifier: Apache-2.0
*/

package why

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	// LeaseName is the name of the Lease that the leader of the operator renews every second or so.
	LeaseName = "databasecluster-operator"
	// silence is how long the leader does not renew it before the operator counts as absent: the clocks of two machines can differ.
	silence = 5 * time.Minute
	// slow is how long the operator does not observe a change before that is reported.
	slow = time.Minute
)

// Absent is the cause that no operator runs, although the conditions look current. The last known state is part of it. A nil lease is
// unknown. An operator that has written a status since then runs with another Lease.
func Absent(lease *coordinationv1.Lease, fields []metav1.ManagedFieldsEntry, last Cause, now time.Time) (cause Cause, found bool) {
	if lease == nil || lease.Spec.RenewTime == nil {
		return Cause{}, false
	}
	at := lease.Spec.RenewTime.Time
	if now.Sub(at) < silence || written(fields, "status").Sub(at) > slow {
		return Cause{}, false
	}
	message := fmt.Sprintf("the operator does not run: its Lease %s in namespace %s was last renewed at %s, %s ago. The last known state: %s",
		lease.Name, lease.Namespace, at.UTC().Format(time.RFC3339), duration.HumanDuration(now.Sub(at)), last.Sentence())
	cause = *ofOperator(message)
	cause.Command = fmt.Sprintf("kubectl -n %s get pods", lease.Namespace)
	return cause, true
}

// Overdue explains a status that does not show the spec. The operator does not run only if nothing of it is recent: neither its status nor
// its Lease, which is nil if it is unknown. A change of the last minute is normal.
func Overdue(cause Cause, cluster *dbv1.DatabaseCluster, lease *coordinationv1.Lease, now time.Time) Cause {
	changed := written(cluster.ManagedFields, "")
	if changed.IsZero() {
		changed = cluster.CreationTimestamp.Time
	}
	age := func(at time.Time) string { return duration.HumanDuration(now.Sub(at)) }
	switch status := written(cluster.ManagedFields, "status"); {
	case now.Sub(changed) < slow:
		cause.Page, cause.Command = "", "" // nothing is wrong
		cause.Message += fmt.Sprintf(" The last change is %s old: %s", age(changed), command(theCluster+" --watch shows the progress", cluster))
	case now.Sub(status) < silence:
		cause.Message += fmt.Sprintf(" The last change is %s old. The operator last wrote the status %s ago.", age(changed), age(status))
	case lease != nil && lease.Spec.RenewTime != nil && now.Sub(lease.Spec.RenewTime.Time) < silence:
		cause.Message += fmt.Sprintf(" The last change is %s old. The operator runs, because its Lease was renewed %s ago. Does it watch "+
			"namespace %s?", age(changed), age(lease.Spec.RenewTime.Time), cluster.Namespace)
	default:
		cause.Message += fmt.Sprintf(" The last change is %s old, so the operator does not run, or does not watch namespace %s.",
			age(changed), cluster.Namespace)
	}
	return cause
}

// written is when a client last wrote an object, or its subresource.
func written(fields []metav1.ManagedFieldsEntry, subresource string) time.Time {
	var last time.Time
	for _, e := range fields {
		if e.Subresource == subresource && e.Time != nil && e.Time.After(last) {
			last = e.Time.Time
		}
	}
	return last
}
