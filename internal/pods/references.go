/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// CredentialsField is the field that names the Secret with the credentials.
const CredentialsField = "spec.credentials.secretName"

// References are the Secrets, ConfigMaps and the ServiceAccount that the spec names, each once, without their contents.
//
// Objects that only Jobs need, such as the credentials of a bucket, are not among them: a change of those restarts
// no member.
func References(cluster *dbv1.DatabaseCluster) []Reference {
	spec := cluster.Spec
	var all references
	if spec.Credentials.SecretName != "" {
		all.add("Secret", spec.Credentials.SecretName, CredentialsField, nil)
	}
	all.environment("spec.container", spec.Container.Env, spec.Container.EnvFrom)
	for _, v := range spec.Pod.Volumes {
		if v.Name == naming.ExporterVolume {
			continue // its Secrets are those of the credentials and the certificate, and a change restarts the exporter only
		}
		all.volume(fmt.Sprintf("spec.pod.volumes[%s]", v.Name), v)
	}
	for _, c := range spec.Pod.InitContainers {
		all.environment(fmt.Sprintf("spec.pod.initContainers[%s]", c.Name), c.Env, c.EnvFrom)
	}
	for _, c := range spec.Pod.Sidecars {
		all.environment(fmt.Sprintf("spec.pod.sidecars[%s]", c.Name), c.Env, c.EnvFrom)
	}
	if name := spec.ServiceAccount.Name; name != "" {
		all.add("ServiceAccount", name, "spec.serviceAccount.name", nil)
	}
	return all
}

// ActionReferences are the references that the pods of Jobs need, too. Those pods have none of the template's
// containers.
func ActionReferences(cluster *dbv1.DatabaseCluster) []Reference {
	bare := *cluster
	bare.Spec.Pod.InitContainers, bare.Spec.Pod.Sidecars = nil, nil
	return References(&bare)
}

type references []Reference

func (r *references) volume(at string, v dbv1.ClusterVolume) {
	if v.Secret != nil {
		r.add("Secret", v.Secret.SecretName, at+".secret", v.Secret.Optional)
	}
	if v.ConfigMap != nil {
		r.add("ConfigMap", v.ConfigMap.Name, at+".configMap", v.ConfigMap.Optional)
	}
	if v.CSI != nil && v.CSI.NodePublishSecretRef != nil {
		r.add("Secret", v.CSI.NodePublishSecretRef.Name, at+".csi.nodePublishSecretRef", nil)
	}
	if v.Projected == nil {
		return
	}
	for _, source := range v.Projected.Sources {
		if source.Secret != nil {
			r.add("Secret", source.Secret.Name, at+".projected", source.Secret.Optional)
		}
		if source.ConfigMap != nil {
			r.add("ConfigMap", source.ConfigMap.Name, at+".projected", source.ConfigMap.Optional)
		}
	}
}

func (r *references) environment(at string, variables []corev1.EnvVar, sources []corev1.EnvFromSource) {
	for _, v := range variables {
		from := v.ValueFrom
		switch {
		case from == nil:
		case from.SecretKeyRef != nil:
			r.add("Secret", from.SecretKeyRef.Name, fmt.Sprintf("%s.env[%s]", at, v.Name), from.SecretKeyRef.Optional)
		case from.ConfigMapKeyRef != nil:
			r.add("ConfigMap", from.ConfigMapKeyRef.Name, fmt.Sprintf("%s.env[%s]", at, v.Name), from.ConfigMapKeyRef.Optional)
		}
	}
	for _, source := range sources {
		if from := source.SecretRef; from != nil {
			r.add("Secret", from.Name, at+".envFrom", from.Optional)
		}
		if from := source.ConfigMapRef; from != nil {
			r.add("ConfigMap", from.Name, at+".envFrom", from.Optional)
		}
	}
}

// add records an object once. The object is optional if all fields that name it are optional.
func (r *references) add(kind, name, where string, optional *bool) {
	may := optional != nil && *optional
	for i, seen := range *r {
		if seen.Kind == kind && seen.Name == name {
			if seen.Optional && !may {
				(*r)[i].Optional, (*r)[i].Where = false, where
			}
			return
		}
	}
	*r = append(*r, Reference{Kind: kind, Name: name, Where: where, Optional: may})
}

// ReferencesHash is a hash of the contents of the Secrets and ConfigMaps that the spec names; "" without any. It
// includes the UID, so that equal hashes do not reveal that two clusters share a password.
func ReferencesHash(cluster *dbv1.DatabaseCluster, all []Reference) string {
	if len(all) == 0 {
		return ""
	}
	contents := []string{string(cluster.UID)}
	for _, r := range all {
		contents = append(contents, r.Kind, r.Name, r.Content)
	}
	return objects.Hash(contents)
}
