/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// withTransfer adds the transfer binary and the location of the backup to a pod.
func (a Spec) withTransfer(cluster *dbv1.DatabaseCluster, spec *corev1ac.PodSpecApplyConfiguration) {
	if a.Transfer == nil {
		return
	}
	spec.WithInitContainers(corev1ac.Container().
		WithName(naming.TransferContainer).
		WithImage(a.Transfer.Image).
		WithCommand(append([]string{"/" + protocol.Program}, protocol.Args(&protocol.Install{Folder: naming.BinPath})...)...).
		WithResources(a.installation(cluster)).
		WithSecurityContext(pods.ContainerSecurityContext(&dbv1.DatabaseCluster{})).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(naming.BinVolume).WithMountPath(naming.BinPath))).
		WithVolumes(corev1ac.Volume().WithName(naming.BinVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	for _, transfer := range []*Transfer{a.Transfer, a.Copy.restore()} {
		spec.WithVolumes(transfer.volumes()...)
	}
}

// Store describes for a call how to reach the location of a backup; nil for none.
func Store(at *dbv1.BackupDestination) protocol.Store {
	if at == nil {
		return protocol.Store{}
	}
	store := protocol.Store{
		Endpoint: at.Endpoint, Region: at.Region, WorkloadIdentity: at.CredentialSource == dbv1.CredentialsWorkloadIdentity,
		Credentials: folder(at.CredentialsSecretName, naming.CredentialsPath),
		Encryption:  folder(at.EncryptionSecretName, naming.EncryptionPath),
		Root:        folder(at.ClaimName, naming.DestinationPath),
	}
	if sse := at.ServerSideEncryption; sse != nil {
		store.SSE, store.KMSKeyID = sse.Type, sse.KMSKeyID
	}
	return store
}

// Compression is what the cluster asks of the compressor.
func Compression(cluster *dbv1.DatabaseCluster) protocol.Compression {
	if cluster.Spec.Backup == nil {
		return protocol.Compression{}
	}
	given := cluster.Spec.Backup.Compression
	return protocol.Compression{Level: int(given.Level), Threads: int(given.Threads)}
}

// folder is the mount path of an object; "" if no object is named.
func folder(name, path string) string {
	if name == "" {
		return ""
	}
	return path
}

// SecretFolder is a Secret that an action reads as files.
type SecretFolder struct {
	// Name is that of the Secret, Volume that of the volume in the pod, and Path where it is mounted.
	Name, Volume, Path string
}

func volumes(all []SecretFolder) []*corev1ac.VolumeApplyConfiguration {
	volumes := make([]*corev1ac.VolumeApplyConfiguration, 0, len(all))
	for _, secret := range all {
		volumes = append(volumes, corev1ac.Volume().WithName(secret.Volume).WithSecret(corev1ac.SecretVolumeSource().WithSecretName(secret.Name)))
	}
	return volumes
}

func mounts(all []SecretFolder) []*corev1ac.VolumeMountApplyConfiguration {
	mounts := make([]*corev1ac.VolumeMountApplyConfiguration, 0, len(all))
	for _, secret := range all {
		mounts = append(mounts, corev1ac.VolumeMount().WithName(secret.Volume).WithMountPath(secret.Path).WithReadOnly(true))
	}
	return mounts
}

// secrets are the Secrets that the destination names.
func (t *Transfer) secrets() []SecretFolder {
	all := []SecretFolder{
		{t.At.CredentialsSecretName, naming.CredentialsVolume, naming.CredentialsPath},
		{t.At.EncryptionSecretName, naming.EncryptionVolume, naming.EncryptionPath},
	}
	return slices.DeleteFunc(all, func(s SecretFolder) bool { return s.Name == "" })
}

// command is the call as the pod runs it.
func (t *Transfer) command() []string {
	return append([]string{naming.BinPath + "/" + protocol.Program}, protocol.Args(t.Call)...)
}

func (t *Transfer) volumes() []*corev1ac.VolumeApplyConfiguration {
	if t == nil || t.At == nil {
		return nil
	}
	all := volumes(t.secrets())
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
	all = append(all, mounts(t.secrets())...)
	if t.At.ClaimName != "" {
		all = append(all, corev1ac.VolumeMount().WithName(naming.DestinationVolume).WithMountPath(naming.DestinationPath))
	}
	return all
}

// withoutData leaves out the mounts of the data volume, which belongs to a member.
func withoutData(mounts []*corev1ac.VolumeMountApplyConfiguration) []*corev1ac.VolumeMountApplyConfiguration {
	return slices.DeleteFunc(mounts, func(m *corev1ac.VolumeMountApplyConfiguration) bool { return *m.Name == naming.DataVolume })
}
