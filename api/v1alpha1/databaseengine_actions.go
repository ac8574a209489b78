/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineActions are the operations that the operator can run. An engine without an action does not offer the feature
// that needs it.
type EngineActions struct {
	// initialize creates the first data in the empty directory DBC_DATA_DIR, the volume of member 0. It runs once,
	// before the cluster has members. Members with an empty volume must join the others, and never create data.
	// +optional
	Initialize *EngineAction `json:"initialize,omitempty"`

	// handOver makes sure that the member DBC_MEMBER is not the primary. If DBC_TARGETS is set, one of these members should
	// become the primary, if one can. The action succeeds when the new primary accepts writes. Exit code 40: DBC_MEMBER is
	// not the primary. 20: no member can take over now.
	// +optional
	HandOver *EngineAction `json:"handOver,omitempty"`

	// configure puts the parameters DBC_PARAM_... and the passwords in /dbc/secrets in force on the running members
	// DBC_MEMBERS. It restarts the database inside the pods where a parameter needs that, the replicas first. It must
	// succeed if it runs again. Exit code 20: a person has suspended the management of the database. Default: the operator
	// restarts the pods when a parameter changes.
	// +optional
	Configure *EngineAction `json:"configure,omitempty"`

	// memberRemove removes the member DBC_MEMBER, which may be down, from the list of members that the others keep. It
	// succeeds if the member is not in the list. Exit code 20: the others cannot decide that now.
	// +optional
	MemberRemove *EngineAction `json:"memberRemove,omitempty"`

	// probe checks a member. It prints one JSON object and exits with 0 if the member serves clients. It must not change
	// anything. A verification runs it against the restored copy, at DBC_MEMBER=localhost.
	// +optional
	Probe *EngineAction `json:"probe,omitempty"`

	// backup writes the data of the member DBC_MEMBER to standard output. With DBC_OFFLINE=true that member does not
	// run, and its volume is mounted at DBC_DATA_DIR: the action then starts the database itself.
	// +optional
	Backup *EngineAction `json:"backup,omitempty"`

	// restore reads the output of the backup action from standard input and writes the data to the empty directory
	// DBC_DATA_DIR.
	// +optional
	Restore *EngineAction `json:"restore,omitempty"`

	// credentials puts the passwords in /dbc/secrets in force on all members DBC_MEMBERS, without a restart. If the file
	// KEY.previous exists, it has the password so far: the action connects with it, and the database accepts both, if it
	// can. Without that file, the database accepts only the password in KEY. It must succeed if it runs again. Default:
	// a rotation restarts the members one by one.
	// +optional
	Credentials *EngineAction `json:"credentials,omitempty"`

	// check prints facts about the data of the member DBC_MEMBER. A backup records them, and a verification compares
	// them with those of the restored copy. Default: a verification does not compare data.
	// +optional
	Check *EngineCheck `json:"check,omitempty"`

	// reload makes the running member DBC_MEMBER load the certificate in DBC_TLS_DIR of the member again. The operator
	// runs it after a renewal, and then verifies that the member serves the renewed certificate. Default: a renewal
	// restarts the members one by one.
	// +optional
	Reload *EngineAction `json:"reload,omitempty"`

	// archive writes the log of the database to standard output as frames, and reads from standard input what is stored,
	// until it is stopped. It runs in a pod of its own, and reaches the members DBC_MEMBERS. While the variable DBC_ARCHIVE
	// is true in the other actions, the members must keep the log that is not stored. docs/engines.md has the frames.
	// +optional
	Archive *EngineAction `json:"archive,omitempty"`

	// recover replays an archive into the data in DBC_DATA_DIR, which the action restore has left as the backup has it,
	// because DBC_RECOVER was true there. It gets files by the words in DBC_ARCHIVE_FETCH, and stops at the time
	// DBC_RECOVER_UNTIL, at the point DBC_RECOVER_POINT, or at the end of the archive. It must fail if it does not reach that.
	// +optional
	Recover *EngineRecovery `json:"recover,omitempty"`

	// objects makes the databases and users in the database as the Databases and DatabaseUsers of the cluster declare them. It reads a
	// list of them as JSON from standard input, and writes one line of JSON for each to standard output. docs/engines.md has the form.
	// It must succeed if it runs again. Default: the engine has no Databases and DatabaseUsers.
	// +optional
	Objects *EngineObjects `json:"objects,omitempty"`

	// protect makes transactions of clients read-only if DBC_PROTECT is on, and undoes that if it is off. It runs when the volume of
	// DBC_MEMBER is nearly full. Clients can read, the member stays ready, and the database itself can write. It must succeed if it
	// runs again. Default: clients write until the volume is full.
	// +optional
	Protect *EngineAction `json:"protect,omitempty"`

	// measure prints what is on the volume of the member DBC_MEMBER: the sizes of data, log and temporary files in bytes, as one JSON
	// object. It runs while that volume fills, at most every two hours for each size of the volume. It must not change anything.
	// docs/engines.md has the form. Default: the condition DiskPressure does not know what fills a volume.
	// +optional
	Measure *EngineAction `json:"measure,omitempty"`
}

// EngineObjects is the action for databases and users.
type EngineObjects struct {
	// command is the program and its arguments: a program of the image, or a script by its path in /dbc/scripts.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command"`

	// databases is Supported if the action knows Databases. Default: Unsupported, for an engine that has only users.
	// +optional
	// +kubebuilder:default=Unsupported
	// +kubebuilder:validation:Enum=Unsupported;Supported
	Databases EngineDatabases `json:"databases,omitempty"`

	// certificates is Supported if the action knows users who authenticate by a certificate. Then members with the file clients.crt in
	// DBC_TLS_DIR must accept a client certificate of its CAs for such a user, and for no other account. It needs spec.tls.
	// Default: Unsupported.
	// +optional
	// +kubebuilder:validation:Enum=Unsupported;Supported
	Certificates EngineCertificates `json:"certificates,omitempty"`

	// passwordKey is the key in secretKeys for which the templates of connection.entries get the password of a DatabaseUser. They get its
	// name as .owner, and its first database as .database. Templates may use no other key in its Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	PasswordKey string `json:"passwordKey"`

	// entries are the keys of the Secret of a DatabaseUser, in the form of connection.entries. Default: connection.entries.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Entries map[string]EngineTemplate `json:"entries,omitempty"`
}

// EngineDatabases is whether an engine has Databases.
type EngineDatabases string

// Whether an engine has Databases.
const (
	// DatabasesUnsupported means that the engine has only users.
	DatabasesUnsupported EngineDatabases = "Unsupported"
	// DatabasesSupported means that the action objects knows Databases.
	DatabasesSupported EngineDatabases = "Supported"
)

// EngineCertificates is whether users of an engine can authenticate by a certificate.
type EngineCertificates string

// Whether users of an engine can authenticate by a certificate.
const (
	// CertificatesUnsupported means that users have only passwords.
	CertificatesUnsupported EngineCertificates = "Unsupported"
	// CertificatesSupported means that the action objects knows users with a certificate.
	CertificatesSupported EngineCertificates = "Supported"
)

// EngineRecovery is the action that replays an archive.
type EngineRecovery struct {
	// command is the program and its arguments: a program of the image, or a script by its path in /dbc/scripts.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command"`

	// targets are what recoveryTarget can have beside time. Name: the action can stop at the point DBC_RECOVER_POINT in the
	// log. Then it writes the time of that point in RFC 3339 into the file DBC_RECOVERED_TO.
	// Default: only time.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	Targets []EngineRecoveryTarget `json:"targets,omitempty"`
}

// EngineRecoveryTarget is what a recoveryTarget can have.
// +kubebuilder:validation:Enum=Name
type EngineRecoveryTarget string

// RecoverToName means that the action recover knows recoveryTarget.name.
const RecoverToName EngineRecoveryTarget = "Name"

// EngineAction is a command that runs in the cluster's image as a Job. Exit codes: 0 success; 11 temporary failure, run
// again; 20 a precondition is not met; 30 refused as unsafe; 40 not applicable. Other codes are failures.
type EngineAction struct {
	// command is the program and its arguments: a program of the image, or a script by its path in /dbc/scripts.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command"`
}
