/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Members is an operation on the pods of a cluster: RestartMember, StopMember, ResizeMember, Scale, AddPodFinalizer or
// ReleasePods.
//
//sumtype:decl
type Members interface {
	OnCluster
	members()
}

type ofMembers struct{}

func (ofMembers) onCluster() {}
func (ofMembers) members()   {}

// RestartMember deletes a member's pod; the StatefulSet makes it anew from the current template.
type RestartMember struct {
	ofMembers
	Last
	Member state.Member
}

// StopMember deletes the pod of a member that has no StatefulSet; it does not come back.
type StopMember struct {
	ofMembers
	LastInDeletion
	Member state.Member
}

// ResizeMember gives the database of a running member other resources; where the API server refuses that, the
// member is restarted instead, which may be done under the same conditions.
type ResizeMember struct {
	ofMembers
	Last
	Member    state.Member
	Resources corev1.ResourceRequirements
}

// Scale lowers the replicas of the StatefulSet to To, so that the member with that ordinal stops. Stop
// says that all of them go for good; the StatefulSet is marked, and the hooks never run again.
type Scale struct {
	ofMembers
	LastInDeletion
	To   int32
	Stop bool
}

// AddPodFinalizer puts our finalizer on the pod of a member that is about to stop, so that its end can be read.
type AddPodFinalizer struct {
	ofMembers
	LastInDeletion
	Member state.Member
}

// ReleasePods removes the operator's finalizer from pods. It undoes only what the operator did itself, and a pod with the
// finalizer blocks its node, so a paused cluster releases its pods, too.
type ReleasePods struct {
	ofMembers
	Pods []Pod
}

// Pod names one pod.
type Pod struct {
	Name string
	UID  types.UID
}

// Properties of ReleasePods.
func (ReleasePods) Properties() Properties {
	return Properties{LiveRead: true, WhilePaused: true, WhileDeleting: true}
}

func (r RestartMember) String() string   { return "restart " + r.Member.Name }
func (s StopMember) String() string      { return "stop " + s.Member.Name }
func (r ResizeMember) String() string    { return "resize " + r.Member.Name }
func (s Scale) String() string           { return fmt.Sprintf("scale in to %d", s.To) }
func (h AddPodFinalizer) String() string { return "add the finalizer to pod " + h.Member.Name }
func (r ReleasePods) String() string     { return "remove the finalizer from " + Describe(r.Pods) }
func (p Pod) String() string             { return "pod " + p.Name }
