/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"slices"
	"strconv"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// What a cluster has requested and what is in force are records of its status: they prevent repetition, so they outlive all objects that
// the operator or a user may re-create. An action starts only after a pass has recorded it. Without a status, nothing is known about the
// requests of a cluster, so none of them is executed.
//
// Other records are beside what they are about. If one is lost, the operator repeats a step:
//
//	status.configuration            what configure has put in force, and the longest lifetime of the lock: configure runs again
//	claims                          the last primary and the voters, because the data outlives the cluster: see Contents
//	StatefulSet, newest revision    the inputs of the template: a new template is rendered
//	StatefulSet                     the stored spec: it is written again. The service account and the generation of resources: each
//	                                pass derives them again. The end of the members: in a deletion, it is not created again
//	pods                            what is about the pod: its template, its references, a refused resize
//
// While members may still use another configuration, none counts as in force, so no member leaves. An engine without configure has a fixed
// lifetime of the lock: during a rollout, members with both values would run beside each other.

// requestAnnotations are the annotations of the types of requests.
var requestAnnotations = map[dbv1.ClusterRequestType]string{
	dbv1.RequestHandOver: dbv1.AnnotationHandOver, dbv1.RequestRebuild: dbv1.AnnotationRebuild,
	dbv1.RequestRefresh: dbv1.AnnotationRefresh, dbv1.RequestRestart: dbv1.AnnotationRestart,
	dbv1.RequestRotateCredentials: dbv1.AnnotationRotateCredentials,
}

// RequestTypes are all types, in the order of the status. OnceTypes are those whose records prevent repetition. What the others have asked
// for is in force or not, whatever the status has: their records are for users, except that a refused request is not executed later.
var (
	RequestTypes = []dbv1.ClusterRequestType{
		dbv1.RequestHandOver, dbv1.RequestRebuild, dbv1.RequestRefresh, dbv1.RequestRestart, dbv1.RequestRotateCredentials,
	}
	OnceTypes = []dbv1.ClusterRequestType{dbv1.RequestHandOver, dbv1.RequestRebuild}
)

// Request is the record of what the user requests now, and whether it is still to be executed. A request that has no record is neither
// accepted nor refused yet.
func (s *Situation) Request(kind dbv1.ClusterRequestType) (request dbv1.ClusterRequestStatus, open bool) {
	asked := s.asked(kind)
	row, found := state.First(s.Requests(), func(r dbv1.ClusterRequestStatus) bool { return r.Type == kind })
	if !found || row.Request != asked {
		row = dbv1.ClusterRequestStatus{Type: kind, Request: asked}
	}
	return row, asked != "" && !Ended(row)
}

// Requests are the records of the status. A record ends with its annotation, so that the same request can come again. A request that only
// waits has none.
func (s *Situation) Requests() []dbv1.ClusterRequestStatus {
	rows := state.Only(s.Cluster.Status.Requests, func(r dbv1.ClusterRequestStatus) bool {
		return s.asked(r.Type) != "" && r.State != dbv1.RequestPending
	})
	for _, kind := range OnceTypes {
		known := slices.ContainsFunc(s.Cluster.Status.Requests, func(r dbv1.ClusterRequestStatus) bool { return r.Type == kind })
		if row, found := s.earlier(kind); !known && found {
			rows = append(rows, row)
		}
	}
	return rows
}

// Asked is the value of the annotation of a request; "" for none.
func (s *Situation) Asked(kind dbv1.ClusterRequestType) string {
	return s.Cluster.Annotations[requestAnnotations[kind]]
}

// Ended reports whether a request has its last state.
func Ended(request dbv1.ClusterRequestStatus) bool {
	return request.State == dbv1.RequestCompleted || request.State == dbv1.RequestRefused
}

// Accepted reports whether a request has been recorded, so that it may be executed.
func Accepted(request dbv1.ClusterRequestStatus) bool { return request.State == dbv1.RequestAccepted }

// longestRequest is the bound of the field.
const longestRequest = 253

// asked identifies what the user requests; "" for nothing.
func (s *Situation) asked(kind dbv1.ClusterRequestType) string {
	value := s.Asked(kind)
	if len(value) > longestRequest {
		return objects.Hash(value)
	}
	return value
}

// earlier is the record of a request of which the status knows nothing: one that a cluster has before its first status may be old, as
// that of a cluster that was created again from its manifest. Previous versions of the operator recorded requests on the StatefulSet.
func (s *Situation) earlier(kind dbv1.ClusterRequestType) (row dbv1.ClusterRequestStatus, found bool) {
	row = dbv1.ClusterRequestStatus{Type: kind, Request: s.asked(kind)}
	rebuilt, claim := cutLast(s.annotated(dbv1.AnnotationRebuilt))
	switch {
	case row.Request == "":
		return row, false
	case len(s.Cluster.Status.Conditions) == 0:
		row.State = dbv1.RequestRefused
		row.Message = "the cluster had this annotation before its first status, so the request may be an old one. To request it now, add text " +
			"after a slash"
		return row, true
	case kind == dbv1.RequestHandOver && s.annotated(dbv1.AnnotationHandedOver) == row.Request:
		row.State = dbv1.RequestCompleted
		return row, true
	case kind == dbv1.RequestRebuild && rebuilt == row.Request:
		row.State, row.ClaimUID = dbv1.RequestAccepted, claim
		return row, true
	default:
		return row, false
	}
}

// cutLast cuts a text at its last slash.
func cutLast(text string) (before, after string) {
	end := strings.LastIndex(text, "/")
	if end < 0 {
		return "", ""
	}
	return text[:end], text[end+1:]
}

// annotated is an annotation of the StatefulSet; "" without one.
func (s *Situation) annotated(key string) string {
	if s.StatefulSet == nil {
		return ""
	}
	return s.StatefulSet.Annotations[key]
}

// Configured is the record of what the action configure has put in force; nil if it is unknown.
func (s *Situation) Configured() *dbv1.ClusterConfigurationStatus {
	if s.Engine != nil && !engine.Configures(s.Engine) {
		return nil
	}
	if s.Cluster.Status.Configuration != nil {
		return s.Cluster.Status.Configuration
	}
	hash, lock, _ := strings.Cut(s.annotated(dbv1.AnnotationConfigured), "/") // of a previous version of the operator
	if hash == "" {
		return nil
	}
	seconds, _ := strconv.ParseInt(lock, 10, 32)
	return &dbv1.ClusterConfigurationStatus{State: dbv1.ConfigurationInForce, Hash: hash, LockSeconds: int32(max(0, seconds))}
}

// Configuration is a hash of what the action configure should put in force; "" for an engine without it.
func (s *Situation) Configuration() string { return s.configurationAfter(s.ConfigurationChanged()) }

func (s *Situation) configurationAfter(changed string) string {
	if !engine.Configures(s.Engine) {
		return ""
	}
	return resources.Configuration(s.Cluster, s.References, changed)
}

// ConfigurationChanged identifies the last change of the configuration by another client; "" for none.
func (s *Situation) ConfigurationChanged() string {
	if record := s.Configured(); record != nil {
		return record.ChangedHash
	}
	return ""
}

// Applying is the record before the action puts the configuration in force. From then on, members may use it.
func (s *Situation) Applying() *dbv1.ClusterConfigurationStatus {
	return s.ApplyingAfter(s.ConfigurationChanged())
}

// ApplyingAfter is that record after a change by another client.
func (s *Situation) ApplyingAfter(changed string) *dbv1.ClusterConfigurationStatus {
	record := s.InForce()
	record.State, record.Hash = dbv1.ConfigurationApplying, s.configurationAfter(changed)
	record.MembersHash, record.ChangedHash = "", changed
	if before := s.Configured(); before != nil && engine.HasLockParameter(s.Engine) {
		record.LockSeconds = max(record.LockSeconds, before.LockSeconds)
	}
	return record
}

// InForce is the record after the action has succeeded.
func (s *Situation) InForce() *dbv1.ClusterConfigurationStatus {
	record := &dbv1.ClusterConfigurationStatus{
		State: dbv1.ConfigurationInForce, Hash: s.Configuration(), MembersHash: s.KeptConfiguration(), ChangedHash: s.ConfigurationChanged(),
	}
	if engine.HasLockParameter(s.Engine) {
		record.LockSeconds = engine.LockSeconds(s.Engine.Spec, s.Cluster.Spec.Parameters)
	}
	return record
}
