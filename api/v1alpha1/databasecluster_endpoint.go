/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// ClusterEndpointRole is what clients reach at an endpoint.
type ClusterEndpointRole string

// Roles of endpoints.
const (
	// EndpointPrimary reaches the member that takes writes.
	EndpointPrimary ClusterEndpointRole = "Primary"
	// EndpointReplica reaches any ready replica.
	EndpointReplica ClusterEndpointRole = "Replica"
	// EndpointAny reaches any ready member.
	EndpointAny ClusterEndpointRole = "Any"
	// EndpointMember reaches one member, ready or not.
	EndpointMember ClusterEndpointRole = "Member"
	// EndpointExternal reaches the same as the first endpoint, from outside the Kubernetes cluster.
	EndpointExternal ClusterEndpointRole = "External"
)

// MaxEndpoints is the limit of status.endpoints.
const MaxEndpoints = 32

// Endpoint is an address of the database.
type ClusterEndpoint struct {
	// name is the name of the Service or of the member's pod. For an external address, it is the name of the Service with
	// "-external-" and a number.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// host is the DNS name or the IP address.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`

	// port is the TCP port of the database at this address.
	// +required
	Port int32 `json:"port"`

	// role is what clients reach there. Primary: the member that takes writes. Replica: any ready replica, to read. Any: any
	// ready member. Member: one member, ready or not. External: as the first endpoint, from outside the Kubernetes cluster.
	// +optional
	// +kubebuilder:validation:Enum=Primary;Replica;Any;Member;External
	Role ClusterEndpointRole `json:"role,omitempty"`
}
