/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

// Reason is a CamelCase reason for the failure of a call.
type Reason string

// Reasons of failures.
const (
	DestinationUnreachable Reason = "DestinationUnreachable"
	CredentialsRefused     Reason = "CredentialsRefused"
	DestinationMissing     Reason = "DestinationMissing"
	ClockSkew              Reason = "ClockSkew"
	DestinationFull        Reason = "DestinationFull"
	BackupMissing          Reason = "BackupMissing"
	BackupCorrupt          Reason = "BackupCorrupt"
	ManifestInvalid        Reason = "ManifestInvalid"
	IDMismatch             Reason = "IdMismatch"
	VersionMismatch        Reason = "VersionMismatch"
	DataDirectoryNotEmpty  Reason = "DataDirectoryNotEmpty"
	DataVolumeFull         Reason = "DataVolumeFull"
	EncryptionKeyMissing   Reason = "EncryptionKeyMissing"
	EmptyBackup            Reason = "EmptyBackup"
	ActionHung             Reason = "ActionHung"
	ActionFailed           Reason = "ActionFailed"
	ActionStoppedReading   Reason = "ActionStoppedReading"
	Interrupted            Reason = "Interrupted"
	ProbeFailed            Reason = "ProbeFailed"
	CheckFailed            Reason = "CheckFailed"
	CertificateNotServed   Reason = "CertificateNotServed"
	TargetNotCovered       Reason = "TargetNotCovered"
	BackupUnclear          Reason = "BackupUnclear"
	Failed                 Reason = "Failed"
)

// ExitCode returns the exit code for this reason. If an action failed, the exit code of the action decides.
func (r Reason) ExitCode(action ExitCode) ExitCode {
	switch r {
	case DestinationUnreachable, ClockSkew, Interrupted, CertificateNotServed:
		return ExitTransient
	case CredentialsRefused, DestinationMissing, DestinationFull, DataVolumeFull, BackupMissing, EncryptionKeyMissing, TargetNotCovered,
		BackupUnclear:
		return ExitPrecondition
	case BackupCorrupt, ManifestInvalid, IDMismatch, VersionMismatch, DataDirectoryNotEmpty:
		return ExitRefused
	case ActionFailed, ProbeFailed, CheckFailed:
		return action.passedThrough()
	case EmptyBackup, ActionHung, ActionStoppedReading, Failed:
	}
	return ExitFailed
}
