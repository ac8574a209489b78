/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// RequestStatus is the state of a request by an annotation.
type ClusterRequestStatus struct {
	// type is HandOver or Rebuild, for the annotations hand-over and rebuild.
	// +required
	// +kubebuilder:validation:Enum=HandOver;Rebuild
	Type ClusterRequestType `json:"type"`

	// request is the value of the annotation. If that has more than 253 characters, it is a hash of the value.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Request string `json:"request"`

	// state is Accepted, Completed or Refused. The operator executes an accepted request, and no other.
	// +required
	// +kubebuilder:validation:Enum=Accepted;Completed;Refused
	State ClusterRequestState `json:"state"`

	// message describes the result, or why the request was refused.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

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
)

// ClusterRequestState is the state of a request by an annotation.
type ClusterRequestState string

// States of a request.
const (
	// RequestAccepted: the operator executes the request.
	RequestAccepted ClusterRequestState = "Accepted"
	// RequestCompleted: the request was executed. It is not repeated.
	RequestCompleted ClusterRequestState = "Completed"
	// RequestRefused: the request cannot be executed. The operator ignores it.
	RequestRefused ClusterRequestState = "Refused"
)
