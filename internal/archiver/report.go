/*
SPDX-License-Identifier: Apache-2.0
*/

package archiver

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// again is how often the operator reads why the archive is not ready. No watched field shows that the cause changes.
const again = 30 * time.Second

func (f Facts) hearIn(s *situation.Situation) time.Duration {
	if f.Pod == nil || f.Pod.Ready || f.Pod.Terminating || s.Deleting() {
		return 0
	}
	if soon, known := f.Pod.HeardIn(s.At); known {
		return soon
	}
	return again
}

// outdated reports whether the pod may archive to another place than the spec has.
func (f Facts) outdated(s *situation.Situation) bool {
	if s.Engine == nil || s.Engine.Spec.Actions.Archive == nil || f.Deployment == nil {
		return true
	}
	_, differs := operation.ApplyOf(Render(s, f), f.Deployment)
	return differs
}

// report returns the condition if the spec asks for an archive.
func report(s *situation.Situation, found Facts) subject.Report {
	return func(done subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		if !engine.Archives(s.Cluster.Spec) {
			status.Recovery = nil
			return nil
		}
		status.Recovery = recovery(s, found, status.Recovery)
		reason, message := judge(s, found)
		if reason == dbv1.ReasonArchiving {
			message += recoverable(status.Recovery, current(s, found), replaced(s))
		}
		if done.Err != nil && reason == dbv1.ReasonArchiveStarting {
			message += fmt.Sprintf(". The last attempt failed: %v", done.Err)
		}
		return []metav1.Condition{
			subject.Condition(dbv1.ConditionContinuousArchiving, reason == dbv1.ReasonArchiving, reason, message),
		}
	}
}

// judge describes the archive. Only a pod that is ready has shown that it has the last commits.
func judge(s *situation.Situation, found Facts) (reason, message string) {
	name, pod := naming.Archive(s.Cluster.Name), found.Pod
	switch {
	case found.Image == "":
		return dbv1.ReasonArchiveBehind, "the operator runs without its flag --transfer-image. Set it to the image with the transfer program"
	case found.Taken:
		return dbv1.ReasonArchiveBehind, fmt.Sprintf("Deployment %s has another owner. Delete it, or rename this cluster", name)
	case s.Stopping() && len(s.Members) == 0:
		return dbv1.ReasonHibernated, "no member runs, so nothing is written"
	case pod == nil && !s.Serves():
		return dbv1.ReasonArchiveStarting, "the archive waits for a member that serves"
	case pod == nil || pod.Terminating:
		return dbv1.ReasonArchiveStarting, fmt.Sprintf("Deployment %s has no pod yet", name)
	case found.outdated(s):
		return dbv1.ReasonArchiveStarting, fmt.Sprintf("Deployment %s does not match the spec yet", name)
	case pod.Ready:
		return dbv1.ReasonArchiving, fmt.Sprintf("the newest commits in the archive at %s are at most about %s old", Location(s.Cluster),
			lag(s.Cluster)+tolerated)
	default:
		return unready(*pod, pod.Ailing(s.At))
	}
}

// unready describes a pod that is not ready; ailing is the cause if that lasts.
func unready(pod state.Member, ailing string) (reason, message string) {
	switch {
	case ailing != "":
		return dbv1.ReasonArchiveBehind, fmt.Sprintf(
			"pod %s of the archive %s. The database keeps the log, while it has room. See kubectl logs %s", pod.Name, ailing, pod.Name)
	case pod.Problem != "":
		return dbv1.ReasonArchiveStarting, fmt.Sprintf("pod %s of the archive: %s", pod.Name, pod.Problem)
	case pod.Probe != "":
		return dbv1.ReasonArchiveStarting, fmt.Sprintf("pod %s of the archive is not ready: %s", pod.Name, pod.Probe)
	default:
		return dbv1.ReasonArchiveStarting, fmt.Sprintf("pod %s of the archive starts", pod.Name)
	}
}
