/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// tokenSeconds is how long a token is valid. The kubelet renews it after four fifths of that time.
const tokenSeconds = 3600

// tokenMode lets the group of the volumes read the token.
const tokenMode = 0o440

// HasRights reports whether the members of an effective cluster call the API server.
func HasRights(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.ServiceAccount.Annotations[dbv1.AnnotationRights] != ""
}

// withToken projects a token into the database container alone: sidecars and Jobs get none.
func withToken(spec *corev1ac.PodSpecApplyConfiguration, database *corev1ac.ContainerApplyConfiguration, cluster *dbv1.DatabaseCluster) {
	if !HasRights(cluster) {
		return
	}
	spec.WithVolumes(corev1ac.Volume().WithName(naming.TokenVolume).WithProjected(corev1ac.ProjectedVolumeSource().
		WithDefaultMode(tokenMode).
		WithSources(
			corev1ac.VolumeProjection().WithServiceAccountToken(corev1ac.ServiceAccountTokenProjection().
				WithExpirationSeconds(tokenSeconds).WithPath(corev1.ServiceAccountTokenKey)),
			corev1ac.VolumeProjection().WithConfigMap(corev1ac.ConfigMapProjection().WithName("kube-root-ca.crt").
				WithItems(corev1ac.KeyToPath().WithKey(corev1.ServiceAccountRootCAKey).WithPath(corev1.ServiceAccountRootCAKey))),
			corev1ac.VolumeProjection().WithDownwardAPI(corev1ac.DownwardAPIProjection().
				WithItems(corev1ac.DownwardAPIVolumeFile().WithPath(corev1.ServiceAccountNamespaceKey).
					WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath("metadata.namespace")))),
		)))
	database.WithVolumeMounts(corev1ac.VolumeMount().WithName(naming.TokenVolume).WithMountPath(naming.TokenPath).WithReadOnly(true))
}
