/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// withTransfer brings the transfer binary and the place of the backup into a pod.
func (a Action) withTransfer(spec *corev1ac.PodSpecApplyConfiguration) {
	if a.Transfer == nil {
		return
	}
	spec.WithInitContainers(corev1ac.Container().
		WithName(naming.TransferContainer).
		WithImage(a.Transfer.Image).
		WithCommand("/transfer", "install", naming.BinPath).
		WithResources(as[corev1ac.ResourceRequirementsApplyConfiguration](installDefaults)).
		WithSecurityContext(containerSecurityContext(&dbv1.DatabaseCluster{})).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(naming.BinVolume).WithMountPath(naming.BinPath))).
		WithVolumes(corev1ac.Volume().WithName(naming.BinVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	for _, transfer := range []*Transfer{a.Transfer, a.Copy.restore()} {
		spec.WithVolumes(transfer.volumes()...)
	}
}

// command lets the binary run a command; without it the command runs alone.
func (t *Transfer) command(command []string) []string {
	if t == nil {
		return command
	}
	all := append([]string{naming.BinPath + "/transfer"}, t.Arguments...)
	all = append(all, t.store()...)
	if len(command) > 0 {
		all = append(append(all, "--"), command...)
	}
	return all
}

// store are the flags that say how the place of the backup is reached.
func (t *Transfer) store() []string {
	if t.At == nil {
		return nil
	}
	var flags []string
	add := func(flag, value string) {
		if value != "" {
			flags = append(flags, flag, value)
		}
	}
	add("--endpoint", t.At.Endpoint)
	add("--region", t.At.Region)
	if t.At.Credentials == dbv1.CredentialsWorkloadIdentity {
		flags = append(flags, "--workload-identity")
	}
	if sse := t.At.ServerSideEncryption; sse != nil {
		add("--server-side-encryption", sse.Type)
		add("--kms-key-id", sse.KMSKeyID)
	}
	for _, secret := range t.secrets() {
		add(secret.flag, secret.path)
	}
	if t.At.ClaimName != "" {
		add("--root", naming.DestinationPath)
	}
	return flags
}

// secretFolder is a Secret that the binary reads as files.
type secretFolder struct {
	name, volume, path, flag string
}

// secrets are those that the destination names.
func (t *Transfer) secrets() []secretFolder {
	all := []secretFolder{
		{t.At.CredentialsSecretName, naming.CredentialsVolume, naming.CredentialsPath, "--credentials"},
		{t.At.EncryptionSecretName, naming.EncryptionVolume, naming.EncryptionPath, "--encryption"},
	}
	return slices.DeleteFunc(all, func(s secretFolder) bool { return s.name == "" })
}

func (t *Transfer) volumes() []*corev1ac.VolumeApplyConfiguration {
	if t == nil || t.At == nil {
		return nil
	}
	var all []*corev1ac.VolumeApplyConfiguration
	for _, secret := range t.secrets() {
		all = append(all, corev1ac.Volume().WithName(secret.volume).
			WithSecret(corev1ac.SecretVolumeSource().WithSecretName(secret.name)))
	}
	if name := t.At.ClaimName; name != "" {
		all = append(all, corev1ac.Volume().WithName(naming.DestinationVolume).
			WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(name)))
	}
	return all
}

func (t *Transfer) mounts() []*corev1ac.VolumeMountApplyConfiguration {
	if t == nil {
		return nil
	}
	all := []*corev1ac.VolumeMountApplyConfiguration{
		corev1ac.VolumeMount().WithName(naming.BinVolume).WithMountPath(naming.BinPath).WithReadOnly(true),
	}
	if t.At == nil {
		return all
	}
	for _, secret := range t.secrets() {
		all = append(all, corev1ac.VolumeMount().WithName(secret.volume).WithMountPath(secret.path).WithReadOnly(true))
	}
	if t.At.ClaimName != "" {
		all = append(all, corev1ac.VolumeMount().WithName(naming.DestinationVolume).WithMountPath(naming.DestinationPath))
	}
	return all
}

// withoutData are the mounts without those of the data volume, which is a member's.
func withoutData(mounts []*corev1ac.VolumeMountApplyConfiguration) []*corev1ac.VolumeMountApplyConfiguration {
	return slices.DeleteFunc(mounts, func(m *corev1ac.VolumeMountApplyConfiguration) bool { return *m.Name == naming.DataVolume })
}
