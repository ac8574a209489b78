/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Members is an operation on the pods of a cluster: RestartMember, StopMember, HoldMember, ResizeMember, Scale, RebuildMember, RunAction,
// Record, AddPodFinalizer or ReleasePods.
//
//sumtype:decl
type Members interface {
	OnCluster
	members()
}

type ofMembers struct{}

func (ofMembers) onCluster() {}
func (ofMembers) members()   {}

// RestartMember deletes a member's pod. The StatefulSet re-creates it from the current template.
type RestartMember struct {
	ofMembers
	disturbance
	Member state.Member
}

// StopMember deletes the pod of a member that has no StatefulSet. No controller re-creates it.
type StopMember struct {
	ofMembers
	disturbanceInDeletion
	Member state.Member
}

// HoldMember adds the operator's finalizer to the pod of a member and deletes it. The StatefulSet does not re-create the pod before the
// operator removes the finalizer.
type HoldMember struct {
	ofMembers
	last
	Member state.Member
}

// ResizeMember changes the resources of a running database container to those of a revision. If the API server refuses that, the
// operator records the revision on the pod. The next pass decides about the restart.
type ResizeMember struct {
	ofMembers
	disturbance
	Member    state.Member
	Resources corev1.ResourceRequirements
	Revision  string
}

// Scale lowers the replicas of the StatefulSet to To, from the ordinal Start on, which stops Member. If Stop is set, all members stop
// permanently: the operator marks the StatefulSet, and the deletion hooks never run again.
type Scale struct {
	ofMembers
	disturbanceInDeletion
	Start, To, Member int32
	Stop              bool
}

// RebuildMember deletes the volume and the pod of a member. The StatefulSet creates both again, and the member copies the data of the
// others. Pod is false if the pod does not use the volume any more.
type RebuildMember struct {
	ofMembers
	disturbance
	Member state.Member
	Volume state.Volume
	Pod    bool
}

// RunAction creates the Job of an action that changes the roles, the list or the configuration of members.
type RunAction struct {
	ofMembers
	disturbanceInDeletion
	objects.Child
}

// Record records in the status of the cluster what the operator has done, or is about to do, and cannot observe. The status of the pass
// has it, so an action that needs the record starts in a later pass. Request or Configuration is set.
type Record struct {
	ofMembers
	last
	Request       *dbv1.ClusterRequestStatus
	Configuration *dbv1.ClusterConfigurationStatus
	// Changed is the message of the event that another client has changed the configuration; "" for none.
	Changed string
}

// AddPodFinalizer adds the operator's finalizer to the pod of a member that is about to stop, to record its exit code.
type AddPodFinalizer struct {
	ofMembers
	lastInDeletion
	Member state.Member
}

// ReleasePods removes the operator's finalizer from pods. The operator does so for a paused cluster, too: it added the finalizer
// itself, and a pod with a finalizer blocks the drain of its node.
type ReleasePods struct {
	ofMembers
	Pods []Pod
}

// Pod identifies a pod.
type Pod struct {
	Name string
	UID  types.UID
}

// Properties of ReleasePods.
func (ReleasePods) Properties() Properties {
	return Properties{LiveRead: true, WhilePaused: true, WhileDeleting: true}
}

func (r RestartMember) String() string { return "restart " + r.Member.Name }
func (s StopMember) String() string    { return "stop " + s.Member.Name }
func (h HoldMember) String() string    { return "hold " + h.Member.Name }
func (r ResizeMember) String() string  { return "resize " + r.Member.Name }
func (r RebuildMember) String() string { return "rebuild " + r.Member.Name }
func (r RunAction) String() string     { return "create " + r.Child.String() }
func (r Record) String() string {
	if r.Request != nil {
		return fmt.Sprintf("record the request %s %s: %s", r.Request.Type, r.Request.Request, r.Request.State)
	}
	return fmt.Sprintf("record the configuration %s: %s", r.Configuration.Hash, r.Configuration.State)
}

func (s Scale) String() string {
	if s.Start > 0 {
		return fmt.Sprintf("scale in to %d from %d", s.To, s.Start)
	}
	return fmt.Sprintf("scale in to %d", s.To)
}
func (h AddPodFinalizer) String() string { return "add the finalizer to pod " + h.Member.Name }
func (r ReleasePods) String() string     { return "remove the finalizer from " + Describe(r.Pods) }
func (p Pod) String() string             { return "pod " + p.Name }
