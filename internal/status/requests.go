/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Each request by an annotation has a row. A row never has a text that changes by itself, or each change would be a write of the status.

// requests returns the rows of all requests, in the order of their types. Records are those of requests that are executed once.
func (p PassResult) requests(records []dbv1.ClusterRequestStatus, now metav1.Time) []dbv1.ClusterRequestStatus {
	var rows []dbv1.ClusterRequestStatus
	for _, kind := range situation.RequestTypes {
		if p.Asked(kind) != "" {
			rows = append(rows, p.timed(p.request(kind, records), now))
		}
	}
	return rows
}

// request returns the row of a request. One that has ended stays as it is: after a restart, for example, members become outdated again
// for other reasons. A record that prevents repetition stays until the next request has one: the user may take that back.
func (p PassResult) request(kind dbv1.ClusterRequestType, records []dbv1.ClusterRequestStatus) dbv1.ClusterRequestStatus {
	asked, _ := p.Request(kind)
	row := dbv1.ClusterRequestStatus{Type: kind, Request: asked.Request}
	known, found := state.First(records, func(r dbv1.ClusterRequestStatus) bool { return r.Type == kind })
	same, once := found && known.Request == row.Request, slices.Contains(situation.OnceTypes, kind)
	switch {
	case same && (once || p.Deleting() || situation.Ended(known)):
		return withNext(known, "")
	case p.Deleting():
		row.State, row.Message = dbv1.RequestRefused, "the cluster is being deleted"
	case once && found:
		return withNext(known, fmt.Sprintf("%s%q waits: %s", nextRequest, row.Request, p.unexecuted()))
	case once:
		row.State, row.Message = dbv1.RequestPending, p.unexecuted()
	default:
		row.State, row.Message = p.seen(kind)
	}
	return row
}

// nextRequest begins the text about the request that waits behind the one of a row.
const nextRequest = "Next request: "

// withNext returns a row whose message ends with that text, instead of the one that it had; "" for none.
func withNext(row dbv1.ClusterRequestStatus, next string) dbv1.ClusterRequestStatus {
	message, _, _ := strings.Cut(row.Message, nextRequest)
	message = strings.TrimSuffix(message, ". ")
	if message != "" && next != "" {
		message += ". "
	}
	row.Message = message + next
	return row
}

// timed returns a row with the time at which the request got its state.
func (p PassResult) timed(row dbv1.ClusterRequestStatus, now metav1.Time) dbv1.ClusterRequestStatus {
	row.Message = pods.Head(row.Message, maxRequestMessage)
	before, known := state.First(p.Cluster.Status.Requests, func(r dbv1.ClusterRequestStatus) bool {
		return r.Type == row.Type && r.Request == row.Request && r.State == row.State
	})
	if row.Time = before.Time; !known {
		row.Time = &now
	}
	return row
}

// maxRequestMessage is the bound of the field.
const maxRequestMessage = 1024

// seen returns the state of a request that no record prevents from repetition: what the pass has observed, before its operations.
func (p PassResult) seen(kind dbv1.ClusterRequestType) (is dbv1.ClusterRequestState, message string) {
	if !p.EngineKnown() {
		return dbv1.RequestPending, p.unexecuted()
	}
	switch kind {
	case dbv1.RequestRestart:
		return p.restart()
	case dbv1.RequestRotateCredentials:
		return p.rotation()
	case dbv1.RequestRefresh: // each pass reads the objects before it reports
		return dbv1.RequestCompleted, "the Secrets and ConfigMaps of the spec were read"
	case dbv1.RequestHandOver, dbv1.RequestRebuild: // their records decide
	}
	return dbv1.RequestPending, p.unexecuted()
}

// unexecuted is why nothing is executed for a request.
func (p PassResult) unexecuted() string {
	switch {
	case p.Cluster.Spec.Paused:
		return "spec.paused is true"
	case p.Cluster.Spec.Hibernated:
		return "spec.hibernated is true"
	default:
		return "another step precedes it: see the conditions Progressing and Stalled"
	}
}

// restart is the state of a restart. The pods of a cluster that was created with the request have it from the beginning.
func (p PassResult) restart() (is dbv1.ClusterRequestState, message string) {
	update := p.Cluster.Spec.UpdateStrategy
	switch {
	case p.restarted():
		return dbv1.RequestCompleted, "all members have started since the request"
	case p.Cluster.Spec.Paused, p.Wanted == 0, p.TemplateBlocked():
		return dbv1.RequestPending, p.unexecuted()
	case update.Paused:
		return dbv1.RequestPending, "spec.updateStrategy.paused is true"
	case update.Type == dbv1.UpdateOnDelete:
		return dbv1.RequestPending, "spec.updateStrategy.type is OnDelete: delete the pods to restart them"
	default:
		return dbv1.RequestAccepted, ""
	}
}

// restarted reports whether all members are ready with a template that has the request.
func (p PassResult) restarted() bool {
	_, known := p.Revision()
	return known && p.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationRestart] == p.Asked(dbv1.RequestRestart) &&
		p.Wanted > 0 && p.Ready() >= p.Wanted && len(p.Outdated()) == 0
}

// rotation is the state of a rotation. It is complete when clients have the new passwords: the database may still accept the previous ones.
func (p PassResult) rotation() (is dbv1.ClusterRequestState, message string) {
	executed := p.Credentials.Request == p.Asked(dbv1.RequestRotateCredentials) && p.Credentials.InForce()
	switch {
	case !p.GeneratesCredentials():
		return dbv1.RequestRefused, p.unrotatable()
	case executed && !p.CredentialsPending() && !p.AwaitsReferences():
		return dbv1.RequestCompleted, "clients have the new passwords"
	case p.Replacement != nil && p.Credentials.Rotation == "":
		return dbv1.RequestPending, fmt.Sprintf("DatabaseRestore %s exists, and the volumes that it retains have the present passwords. "+
			"Delete it first", p.Replacement.Restore.Name)
	case p.Cluster.Spec.Paused, p.CredentialsPending():
		return dbv1.RequestPending, p.unexecuted()
	default:
		return dbv1.RequestAccepted, ""
	}
}

// unrotatable is why a cluster has no passwords that the operator generates.
func (p PassResult) unrotatable() string {
	if name := p.Declared.Spec.Credentials.SecretName; name != "" {
		return fmt.Sprintf("Secret %s in spec.credentials.secretName is yours, and the operator does not change it. "+
			"Change its passwords yourself", name)
	}
	return "the operator generates no passwords for this cluster, because no DatabaseEngine declares any. Change them in the database yourself"
}
