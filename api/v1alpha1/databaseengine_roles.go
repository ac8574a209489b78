/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineRoles describe how members report who is the primary. The engine's own software sets a label on its pod. The
// pods get a token for the API server. With it, they may change that label and the annotation "status" of the pods of
// their cluster.
//
// +kubebuilder:validation:XValidation:rule="self.primary != self.replica",message="spec.roles: primary and replica must differ"
type EngineRoles struct {
	// label is the name of the label on the pods, for example database.dbcluster.io/role.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="spec.roles.label must be the name of a label, for example database.dbcluster.io/role"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('app.kubernetes.io/') && !self.startsWith('apps.kubernetes.io/') && !self.startsWith('statefulset.kubernetes.io/') && !self.startsWith('batch.kubernetes.io/') && !(self in ['controller-revision-hash', 'database.dbcluster.io/cluster-uid'])",message="spec.roles.label must not be a label that Kubernetes or the operator sets"
	Label string `json:"label"`

	// primary is the value of the label on the pod of the primary.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="spec.roles.primary must be the value of a label, with 1 to 63 letters, digits, '-', '_' and '.'"
	Primary string `json:"primary"`

	// replica is the value of the label on the pods of replicas.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="spec.roles.replica must be the value of a label, with 1 to 63 letters, digits, '-', '_' and '.'"
	Replica string `json:"replica"`

	// lockSeconds is the time after which another member can become the primary if the primary does not respond, in
	// seconds, 1 to 3600. Two ready primaries for a longer time set SplitBrainSuspected. Default: 30.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	LockSeconds int32 `json:"lockSeconds,omitempty"`

	// lockParameter is the name of a parameter in spec.parameters with that time in seconds, 1 to 3600, if clusters can change
	// it. The default of the parameter must be such a number. It needs the action configure, which puts the parameter in
	// force in all members at once. lockSeconds has no effect then. Default: the time is lockSeconds for all clusters.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	LockParameter string `json:"lockParameter,omitempty"`

	// positionField is the name of a field with the position of the member in the log of changes, in bytes, as an integer.
	// The member writes this field into the annotation "status" of its pod, a JSON object. 0 means that the member does not
	// know its position. The metric databasecluster_member_lag_bytes compares the positions. A backup reads a replica only if
	// its position is at most 16 MiB behind that of the primary. Default: no such metric, and backups read the primary.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][-A-Za-z0-9_.]*$')",message="spec.roles.positionField must be the name of a field, with 1 to 63 letters, digits, '-', '_' and '.', for example xlog_location"
	PositionField string `json:"positionField,omitempty"`

	// timelineField is the name of a field in the same object, for example with the timeline of PostgreSQL. Its value changes
	// when another member becomes the primary. A replica on another timeline can have changes that the primary lacks. If it
	// is ahead of the primary, its lag is unknown. Backups do not read a replica on another timeline. The field has no effect
	// without positionField. Default: the lag of every replica ahead of the primary is 0.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][-A-Za-z0-9_.]*$')",message="spec.roles.timelineField must be the name of a field, with 1 to 63 letters, digits, '-', '_' and '.', for example timeline"
	TimelineField string `json:"timelineField,omitempty"`
}

// EngineState names objects in which the members keep their agreement, for example on the primary. The operator creates
// them empty, with the labels of the members. They belong to the volumes: the operator retains both, and the next cluster of the same name
// adopts both. The operator deletes them when no volume remains. The pods get a token for the API
// server and the right to change these objects.
type EngineState struct {
	// configMaps are the names of ConfigMaps. The name of the cluster and '-' come before each.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",message="spec.state.configMaps: a name must have 1 to 20 lowercase letters, digits and '-', and begin and end with a letter or digit"
	ConfigMaps []string `json:"configMaps"`

	// lock is where the primary keeps its lock. So the operator knows which member was the primary last, also after a failover that
	// it did not see. It needs spec.roles. Default: the operator knows the last primary only after it has stopped the members in order.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Lock *EngineLock `json:"lock,omitempty"`

	// configuration names the entry in which the members keep their configuration. If another client changes it, the operator
	// runs the action configure again, which the engine must have. Default: the operator does not notice such a change.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Configuration *EngineStateEntry `json:"configuration,omitempty"`
}

// EngineLock is the place of the lock of the primary. The engine's software writes it.
type EngineLock struct {
	// configMap is one of spec.state.configMaps.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	ConfigMap string `json:"configMap"`

	// holder is the key of the annotation of the ConfigMap with the name of the pod that has the lock. It may be absent while no
	// pod has the lock.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Holder string `json:"holder"`

	// term is the key of another annotation of the same ConfigMap. Its value has to change whenever another pod gets the lock, before
	// that pod accepts writes. It has to stay when the holder gives the lock up.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Term string `json:"term"`
}

// EngineStateEntry is an entry of a ConfigMap in which the members keep their agreement. The operator watches that ConfigMap, so
// members must not write it all the time.
type EngineStateEntry struct {
	// configMap is one of spec.state.configMaps.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	ConfigMap string `json:"configMap"`

	// key is the key of an annotation of that ConfigMap, or of its data.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`
}
