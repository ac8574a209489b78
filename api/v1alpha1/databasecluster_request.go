/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RequestStatus is the state of a request by an annotation.
type ClusterRequestStatus struct {
	// type is HandOver, Rebuild, Refresh, Restart or RotateCredentials, for the annotations hand-over, rebuild, refresh, restart and
	// rotate-credentials.
	// +required
	// +kubebuilder:validation:Enum=HandOver;Rebuild;Refresh;Restart;RotateCredentials
	Type ClusterRequestType `json:"type"`

	// request is the value of the annotation. If that has more than 253 characters, it is a hash of the value.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Request string `json:"request"`

	// state is Pending, Accepted, Completed or Refused. The operator executes an accepted request, and no other.
	// +required
	// +kubebuilder:validation:Enum=Pending;Accepted;Completed;Refused
	State ClusterRequestState `json:"state"`

	// message describes the result, what the request waits for, or why it was refused.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// time is when the request got its state. A request that a previous version of the operator recorded has none.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`

	// claimUID is the UID of the claim that a request of type Rebuild deletes, or without which the member starts empty. The operator
	// deletes no other claim.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	ClaimUID string `json:"claimUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID
}

// ClusterRequestType is the type of a request by an annotation.
type ClusterRequestType string

// Types of requests.
const (
	// RequestHandOver: the annotation hand-over names the pod that should become the primary.
	RequestHandOver ClusterRequestType = "HandOver"
	// RequestRebuild: the annotation rebuild names the pod whose volume is deleted.
	RequestRebuild ClusterRequestType = "Rebuild"
	// RequestRefresh: the annotation refresh lets the operator read the Secrets and ConfigMaps of the spec.
	RequestRefresh ClusterRequestType = "Refresh"
	// RequestRestart: the annotation restart restarts the members one by one.
	RequestRestart ClusterRequestType = "Restart"
	// RequestRotateCredentials: the annotation rotate-credentials replaces the generated passwords.
	RequestRotateCredentials ClusterRequestType = "RotateCredentials"
)

// ClusterRequestState is the state of a request by an annotation.
type ClusterRequestState string

// States of a request.
const (
	// RequestPending: the request waits for you, or for another step. The message has the cause.
	RequestPending ClusterRequestState = "Pending"
	// RequestAccepted: the operator executes the request.
	RequestAccepted ClusterRequestState = "Accepted"
	// RequestCompleted: the request was executed. It is not repeated.
	RequestCompleted ClusterRequestState = "Completed"
	// RequestRefused: the request cannot be executed. The operator ignores it.
	RequestRefused ClusterRequestState = "Refused"
)
