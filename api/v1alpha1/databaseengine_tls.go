/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineTLS describes how the database serves TLS. Members find tls.crt, tls.key and ca.crt in DBC_TLS_DIR, and the
// mode in DBC_TLS_MODE. Both variables are set only in clusters with spec.tls. With spec.tls.clientCertificates Accept, members also
// find clients.crt there, which has the CAs of client certificates. Actions find ca.crt and tls.crt there,
// and must verify the server.
type EngineTLS struct {
	// modes are the values of spec.tls.mode that the database supports.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:Enum=Allow;Require
	Modes []TLSMode `json:"modes"`

	// preamble is what a client and the server send before the TLS handshake. Default: a connection begins with the
	// handshake.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Preamble *EngineTLSPreamble `json:"preamble,omitempty"`
}

// EngineTLSPreamble is what a client and the server send before the TLS handshake.
type EngineTLSPreamble struct {
	// request are the bytes that the client sends, as 2 to 128 hexadecimal digits.
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9a-f]{2})+$')",message="spec.tls.preamble.request must be bytes as pairs of hexadecimal digits, for example 0000000804d2162f"
	Request string `json:"request"`

	// response are the bytes with which the server accepts, as 2 to 128 hexadecimal digits.
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9a-f]{2})+$')",message="spec.tls.preamble.response must be bytes as pairs of hexadecimal digits, for example 53"
	Response string `json:"response"`
}
