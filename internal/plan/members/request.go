/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// A request of the user is accepted, then executed, then completed: each is a record of the status before the next step. One that cannot
// be executed is refused there. It is no stall and no progress: the cluster matches its spec.

// Refused records the requests that cannot be executed. It is not executed later, either: the user may have forgotten it. A record disturbs
// no member, so a paused cluster gets it, too.
func Refused(s *situation.Situation) operation.List {
	var all operation.List
	for _, one := range []struct {
		kind dbv1.ClusterRequestType
		why  func(*situation.Situation, dbv1.ClusterRequestStatus) string
	}{{dbv1.RequestHandOver, cannotHandOver}, {dbv1.RequestRebuild, cannotRebuild}} {
		request, open := s.Request(one.kind)
		if why := one.why(s, request); open && why != "" {
			record := operation.RecordRequest(refused(request, why))
			record.Is = operation.Properties{LiveRead: true, Independent: true, WhilePaused: true}
			all = append(all, record)
		}
	}
	return all
}

// refused is the record of a request that cannot be executed.
func refused(request dbv1.ClusterRequestStatus, why string) dbv1.ClusterRequestStatus {
	request.State = dbv1.RequestRefused
	request.Message = fmt.Sprintf("%s. Correct the annotation, or add text after a slash to request it again", why)
	return request
}

// podOf is the pod that a request names. With text after a slash, a request differs from the last one for the same pod.
func podOf(request string) string {
	pod, _, _ := strings.Cut(request, "/")
	return pod
}

// accept records a request before its first step.
func accept(reason string, request dbv1.ClusterRequestStatus, message string) phase.Outcome {
	request.State, request.Message = dbv1.RequestAccepted, ""
	return phase.Do(reason, message, operation.RecordRequest(request))
}

// complete records that a request was executed.
func complete(reason string, request dbv1.ClusterRequestStatus, message string) phase.Outcome {
	request.State, request.Message = dbv1.RequestCompleted, message
	return phase.Do(reason, message, operation.RecordRequest(request))
}

// refuse ends a request whose first step cannot be executed, after the operator has deleted what it began.
func refuse(reason string, request dbv1.ClusterRequestStatus, why string, began operation.List) phase.Outcome {
	return phase.Do(reason, "a request is refused: "+why, append(began, operation.RecordRequest(refused(request, why)))...)
}

// podsOf lists the pods that a request may name.
func podsOf(s *situation.Situation) string {
	return fmt.Sprintf("the cluster has the pods %s to %s", naming.Member(s.Cluster.Name, 0),
		naming.Member(s.Cluster.Name, s.Cluster.Spec.Replicas-1))
}
