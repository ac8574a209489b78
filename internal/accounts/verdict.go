/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Seen is what a pass of an object reads.
type Seen struct {
	// Cluster and Engine are nil if they do not exist.
	Cluster *dbv1.DatabaseCluster
	Engine  *dbv1.DatabaseEngine
	// All are the objects of the cluster.
	All []Declared
	// Jobs are those of the cluster for its objects.
	Jobs []batchv1.Job
}

// Verdict is the state of an object.
type Verdict struct {
	// Ready is true if the database has the object as declared. Stalled is true if the user must act.
	Ready, Stalled bool
	Reason         string
	Message        string
	// Known is true if the verdict follows from a run of the action that knows the object as it is. Applied is true if that run has found
	// or put in force everything, or another client has changed it since.
	Known, Applied bool
}

func pending(format string, values ...any) Verdict {
	return Verdict{Reason: dbv1.ReasonObjectPending, Message: fmt.Sprintf(format, values...)}
}

func stalled(reason, format string, values ...any) Verdict {
	return Verdict{Stalled: true, Reason: reason, Message: fmt.Sprintf(format, values...)}
}

// Unsupported is why the action cannot get the object; ok is false if it can.
func Unsupported(d Declared, seen Seen) (v Verdict, ok bool) {
	switch older := d.Older(seen.All); {
	case seen.Cluster == nil:
		return Verdict{Reason: dbv1.ReasonClusterMissing, Message: fmt.Sprintf(
			"DatabaseCluster %s, which spec.clusterRef names, does not exist. Create it, or another %s with the correct name", d.Cluster,
			d.Kind)}, true
	case seen.Cluster.DeletionTimestamp != nil:
		return pending("DatabaseCluster %s is being deleted", d.Cluster), true
	case seen.Engine == nil && seen.Cluster.Spec.Engine != "":
		name := seen.Cluster.Spec.Engine
		return pending("DatabaseEngine %s of DatabaseCluster %s does not exist. Create it%s", name, d.Cluster, release(d)), true
	case seen.Engine == nil:
		return stalled(dbv1.ReasonFieldUnsupported, "DatabaseCluster %s has no engine that knows databases and users: see its spec.engine",
			d.Cluster), true
	case seen.Engine.Spec.Actions.Objects == nil:
		return stalled(dbv1.ReasonActionMissing, "engine %s has no action objects, so it has no %ss. Create the object in the database yourself",
			seen.Engine.Name, d.Kind), true
	case d.Kind == KindDatabase && !engine.HasDatabases(seen.Engine):
		return stalled(dbv1.ReasonFieldUnsupported, "engine %s has no databases, only users. Delete this Database", seen.Engine.Name), true
	case uncertified(d, seen.Cluster, seen.Engine):
		return stalled(dbv1.ReasonCertificateUnsupported, "%s", refusal(seen)), true
	case older != nil:
		return stalled(dbv1.ReasonNameTaken, "%s %s, which is older, declares the name %q, too. Delete one of them", d.Kind,
			older.Object.GetName(), d.Name), true
	default:
		return Verdict{}, false
	}
}

// uncertified reports whether a user should log in by a certificate, which the cluster does not accept.
func uncertified(d Declared, cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) bool {
	accepts := engine.HasCertificates(declared) && engine.AsksForCertificates(cluster)
	return d.Authentication == dbv1.AuthenticateCertificate && !accepts && !d.Deleting()
}

// refusal is why a cluster does not accept certificates.
func refusal(seen Seen) string {
	if !engine.HasCertificates(seen.Engine) {
		return fmt.Sprintf("users of engine %s cannot log in by a certificate. Set spec.authentication to Password", seen.Engine.Name)
	}
	return fmt.Sprintf("DatabaseCluster %s does not accept certificates of clients. Set its spec.tls.clientCertificates to Accept, which "+
		"needs spec.tls.selfSigned, or set spec.authentication to Password", seen.Cluster.Name)
}

// Judge returns the state of an object: from the last run of the action, if that knows it as it is now.
func Judge(d Declared, seen Seen) Verdict {
	if v, is := Unsupported(d, seen); is {
		return v
	}
	if result := seen.Cluster.Status.Objects; result != nil {
		if result.JobUID != "" && !strings.HasPrefix(result.Occasion, volumes(seen.Cluster)) {
			return pending("a restore has replaced the data of DatabaseCluster %s. The next Job looks for it there%s", d.Cluster, release(d))
		}
		for _, job := range seen.Jobs {
			if place, known, is := find(VersionsOf(job.Annotations), d); is && string(job.UID) == result.JobUID {
				return judged(d, *result, known, answerAt(*result, d, place, job.Name))
			}
		}
	}
	before, same := meta.FindStatusCondition(d.Status.Conditions, dbv1.ConditionReady), d.Status.ClusterUID == string(seen.Cluster.UID)
	if before != nil && same && d.Status.Version == d.Version() {
		stall := meta.IsStatusConditionTrue(d.Status.Conditions, dbv1.ConditionStalled)
		return Verdict{Ready: before.Status == metav1.ConditionTrue, Stalled: stall, Reason: before.Reason, Message: before.Message, Known: true}
	}
	return waiting(d, seen)
}

// answerAt is the answer about an object, whose message may not have had room in the result.
func answerAt(result dbv1.ClusterObjectsStatus, d Declared, place int, job string) dbv1.ClusterObjectAnswer {
	for _, a := range result.Answers {
		if a.ID == d.ID() {
			return a
		}
	}
	a := dbv1.ClusterObjectAnswer{ID: d.ID(), Result: string(protocol.ResultAt(result.Results, place))}
	if !protocol.ObjectResult(a.Result).InForce() {
		a.Message = fmt.Sprintf("there was no room for the cause: see the log of Job %s", job)
	}
	return a
}

// judged is the state by the result of a Job, which knew a version of the object, and by its answer.
func judged(d Declared, result dbv1.ClusterObjectsStatus, known Version, a dbv1.ClusterObjectAnswer) Verdict {
	switch {
	case result.Message != "":
		return Verdict{Reason: dbv1.ReasonObjectFailed, Message: "the last run of the action objects failed: " + result.Message}
	case known.Held && protocol.ObjectResult(a.Result) == protocol.ObjectCreated && !d.Deleting():
		return Verdict{Ready: true, Known: true, Applied: true, Reason: dbv1.ReasonCreatedAgain, Message: again(d)}
	default:
		return answered(d, a)
	}
}

func again(d Declared) string {
	text := fmt.Sprintf("DatabaseCluster %s has it as declared, but did not have it before the last run: another client has dropped it, or "+
		"the data was restored. The operator has created it again", d.Cluster)
	if d.Kind == KindDatabase {
		text += ", empty"
	}
	return text
}

func answered(d Declared, a dbv1.ClusterObjectAnswer) Verdict {
	v := Verdict{Known: true}
	switch protocol.ObjectResult(a.Result) {
	case protocol.ObjectDone, protocol.ObjectCreated:
		v.Ready, v.Applied, v.Reason = true, true, dbv1.ReasonInDatabase
		v.Message = fmt.Sprintf("DatabaseCluster %s has it as declared", d.Cluster)
		if a.Message != "" {
			v.Message += "; the last change: " + a.Message
		}
	case protocol.ObjectDrifted:
		v.Applied, v.Reason = true, dbv1.ReasonObjectDrifted
		v.Message = "a client or a restore has changed it: " + a.Message + ". Change it back, or set spec.drift to Repair"
	case protocol.ObjectExists:
		v.Stalled, v.Reason = true, dbv1.ReasonObjectExists
		v.Message = "the database has an object of this name that this resource did not create. To take it over, set spec.existing to Adopt"
	case protocol.ObjectRefused:
		v.Stalled, v.Reason, v.Message = true, dbv1.ReasonObjectRefused, a.Message
	case protocol.ObjectFailed, "":
		v.Known, v.Reason, v.Message = false, dbv1.ReasonObjectFailed, a.Message+". The operator retries after five minutes"
	}
	return v
}

// release is how a deletion can end without the database; "" for an object that is not being deleted.
func release(d Declared) string {
	if !d.Deleting() {
		return ""
	}
	return ". To keep it in the database and end the deletion, set spec.reclaimPolicy to Retain"
}

// waiting is the state before a run knows the object.
func waiting(d Declared, seen Seen) Verdict {
	v := awaited(d, seen)
	v.Message += release(d)
	return v
}

func awaited(d Declared, seen Seen) Verdict {
	available := meta.FindStatusCondition(seen.Cluster.Status.Conditions, dbv1.ConditionAvailable)
	switch {
	case !d.Prepared():
		return pending("the operator prepares it")
	case available == nil:
		return pending("DatabaseCluster %s does not accept writes yet", d.Cluster)
	case available.Status != metav1.ConditionTrue:
		return pending("DatabaseCluster %s does not accept writes: %s", d.Cluster, available.Message)
	case seen.Cluster.Status.Objects != nil && seen.Cluster.Status.Objects.Waiting != "":
		return pending("no Job has it yet: %s", seen.Cluster.Status.Objects.Waiting)
	case d.Deleting():
		return pending("a Job deletes it in the database")
	default:
		return pending("a Job puts it in force")
	}
}
