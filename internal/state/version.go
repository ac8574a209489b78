/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// maxVersion is the maximum number of bytes of a version in a status.
const maxVersion = 63

// versionOf is the version of the database that the init container of a pod has reported: the first line of its termination
// message; "" if unknown.
func versionOf(pod *corev1.Pod) string {
	for _, s := range pod.Status.InitContainerStatuses {
		ended := s.State.Terminated
		if ended == nil {
			ended = s.LastTerminationState.Terminated
		}
		if s.Name == naming.VersionContainer && ended != nil {
			line, _, _ := strings.Cut(strings.TrimSpace(ended.Message), "\n")
			line = strings.TrimSpace(line)
			return pods.Head(line, maxVersion)
		}
	}
	return ""
}
