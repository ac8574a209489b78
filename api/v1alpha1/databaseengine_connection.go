/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineSecretKey is a key of the Secret with the credentials of a cluster.
type EngineSecretKey struct {
	// name is the key: letters, digits, '-', '_' and '.'.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="spec.secretKeys[].name must have letters, digits, '-', '_' and '.' only, like a key of a Secret"
	Name string `json:"name"`

	// description is one sentence about the value. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// usedBy is Members or Companions. Companions: members start without the key, and only companions that list it need it. So a user
	// who provides the Secret adds it with the first companion. Default: Members.
	// +optional
	// +kubebuilder:validation:Enum=Members;Companions
	UsedBy EngineSecretUse `json:"usedBy,omitempty"`

	// generate lets the operator generate the value. At every start, the database container must put the value in
	// force, also on a volume that was created with another value. If all keys have it, a cluster needs no
	// spec.credentials.secretName. Default: the user provides the value.
	// +optional
	Generate *EngineSecretValue `json:"generate,omitempty"`

	// maxBytes is the maximum length of the value in bytes, 16 to 1024. The operator refuses a Secret with a longer one. It applies
	// to keys with generate. Default: 1024.
	// +optional
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=1024
	MaxBytes int32 `json:"maxBytes,omitempty"`
}

// EngineSecretUse is what needs a key of a Secret.
type EngineSecretUse string

// The users of a key of a Secret.
const (
	// UsedByMembers means that no member starts without it.
	UsedByMembers EngineSecretUse = "Members"
	// UsedByCompanions means that only companions need it.
	UsedByCompanions EngineSecretUse = "Companions"
)

// EngineSecretValue describes a generated value.
type EngineSecretValue struct {
	// length is the number of characters, 16 to 256. Default: 32.
	// +optional
	// +kubebuilder:default=32
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=256
	Length int32 `json:"length,omitempty"`

	// characters are the characters of the value, each at most once: 10 to 94 visible ASCII characters. Default:
	// letters and digits.
	// +optional
	// +kubebuilder:validation:MaxLength=94
	// +kubebuilder:validation:XValidation:rule="self.size() >= 10 && self.matches('^[!-~]+$')",message="spec.secretKeys[].generate.characters must have 10 to 94 visible ASCII characters, without spaces"
	Characters string `json:"characters,omitempty"`
}

// EngineBootstrap is the database and its owner that members create at their first start. Members and actions have
// them as the environment variables DBC_DATABASE and DBC_OWNER.
type EngineBootstrap struct {
	// database is the name of the database in clusters that do not set spec.bootstrap.database. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z_][-a-zA-Z0-9_]*$')",message="spec.bootstrap.database must start with a letter or '_' and have letters, digits, '-' and '_' only"
	Database string `json:"database,omitempty"`

	// owner is the name of its owner in clusters that do not set spec.bootstrap.owner. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z_][-a-zA-Z0-9_]*$')",message="spec.bootstrap.owner must start with a letter or '_' and have letters, digits, '-' and '_' only"
	Owner string `json:"owner,omitempty"`
}

// EngineConnection describes the connection Secret. The operator creates it with the name of the cluster and
// "-connection", in the form of the Service Binding specification (https://servicebinding.io).
type EngineConnection struct {
	// type is the kind of the database, for example postgresql. The Secret has the type servicebinding.io/ and this
	// value.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.connection.type must have lowercase letters, digits and '-' only, for example postgresql"
	Type string `json:"type"`

	// provider is the key provider of the Secret. Default: the name of the engine.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Provider string `json:"provider,omitempty"`

	// entries are the keys of the Secret, besides type, provider, host, port and ca.crt. Each value is a template in the
	// syntax of Go. It has the values .host, .port, .database, .owner, .cluster and .namespace, and .tls in clusters with
	// spec.tls. The function secret "KEY" returns the value of a key of secretKeys. The function percent escapes a part of
	// a URI, and escape "CHARACTERS" puts a backslash before these characters. Example: "{{ .host }}:{{ .port }}".
	// Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.matches('^[-._a-zA-Z0-9]+$') && key.size() <= 63 && !(key in ['type', 'provider', 'host', 'port', 'ca.crt']))",message="spec.connection.entries: a key must have at most 63 letters, digits, '-', '_' or '.', and must not be type, provider, host, port or ca.crt, which the operator sets"
	Entries map[string]EngineTemplate `json:"entries,omitempty"`

	// fileVariables are environment variables by which client programs find files of the Secret. The value is a key of the
	// Secret. A DatabaseCompanion that mounts the Secret gets those whose key exists, unless its spec.container.env sets
	// them. Example: PGSSLROOTCERT: ca.crt. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[A-Z_][A-Z0-9_]*$') && name.size() <= 63 && !name.startsWith('DBC_'))",message="spec.connection.fileVariables: a name must have at most 63 upper case letters, digits and '_', and must not start with DBC_, which is reserved for the operator"
	FileVariables map[string]EngineConnectionKey `json:"fileVariables,omitempty"`
}

// EngineConnectionKey is a key of the connection Secret.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
type EngineConnectionKey string

// EngineTemplate is the text of a template.
//
// +kubebuilder:validation:MaxLength=2048
type EngineTemplate string
