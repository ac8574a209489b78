/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// withoutObjects lets the pod of a Job start without objects that a foreground deletion may have deleted: an action on a
// volume needs no TLS. Only a copy of the database needs the private key, and only members know clients by their certificates.
func (a Spec) withoutObjects(spec *corev1ac.PodSpecApplyConfiguration) {
	for i := range spec.Volumes {
		switch v := &spec.Volumes[i]; *v.Name {
		case naming.ConfigVolume:
			v.ConfigMap.WithOptional(true)
		case naming.TLSVolume:
			v.Secret.WithOptional(true)
			v.Secret.Items = slices.DeleteFunc(v.Secret.Items, func(item corev1ac.KeyToPathApplyConfiguration) bool {
				return *item.Key == pki.PrivateKeyKey && a.Copy == nil || *item.Key == pki.ClientsKey
			})
		}
	}
}
