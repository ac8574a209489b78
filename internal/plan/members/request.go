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
// be executed is refused there. It is no stall: the cluster matches its spec.

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

// refuse records that a request cannot be executed. It is not executed later, either: the user may have forgotten it.
func refuse(reason string, request dbv1.ClusterRequestStatus, why string) phase.Outcome {
	request.State, request.Message = dbv1.RequestRefused,
		fmt.Sprintf("%s. Correct the annotation, or add text after a slash to request it again", why)
	return phase.Do(reason, "a request is refused: "+why, operation.RecordRequest(request))
}

// podsOf lists the pods that a request may name.
func podsOf(s *situation.Situation) string {
	return fmt.Sprintf("the cluster has the pods %s to %s", naming.Member(s.Cluster.Name, 0),
		naming.Member(s.Cluster.Name, s.Cluster.Spec.Replicas-1))
}
