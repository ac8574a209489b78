/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// certificateVolume are the files of the certificate. The database reads its key as a member of the group of the
// volumes.
func certificateVolume(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeApplyConfiguration {
	name := engine.TLSSecret(cluster)
	if name == "" {
		return nil
	}
	keys := []string{pki.CertificateKey, pki.PrivateKeyKey, pki.AuthorityKey}
	if engine.AsksForCertificates(cluster) {
		keys = append(keys, pki.ClientsKey)
	}
	return []*corev1ac.VolumeApplyConfiguration{SecretVolume(naming.TLSVolume, name, keys)}
}

func certificateMount(cluster *dbv1.DatabaseCluster) []*corev1ac.VolumeMountApplyConfiguration {
	if cluster.Spec.TLS == nil {
		return nil
	}
	return []*corev1ac.VolumeMountApplyConfiguration{
		Mount(naming.TLSVolume, naming.TLSPath),
	}
}
