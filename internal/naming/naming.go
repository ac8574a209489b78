/*
SPDX-License-Identifier: Apache-2.0
*/

// Package naming defines every name, label and selector of the operator, and their length limits.
//
// A CEL rule limits a cluster's name to 40 characters. The longest name derived from it is a hook's Job: 40 + "-" +
// 12 + "-" + 8 = 62. The limit is 63, because the Job's pods have the name as a label value. A StatefulSet's name
// must not exceed 52 characters, because its pods have "<name>-<revision hash>" as a label. The Service for clients has
// the cluster's name, so that name starts with a letter.
//
// A name must not be wanted by two clusters. Names of Jobs and of the backups of hooks contain a part of a UID. Others
// consist of the cluster's name and a fixed suffix, or end with parts without a hyphen, so they can be read in one way
// only. Two names can still meet: the Service for replicas, and a cluster of that name.
package naming

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	// Container is the name of the database container in every member.
	Container = "database"
	// VersionContainer is the init container that reports the version of the database.
	VersionContainer = "dbc-version"
	// ActionContainer is the name of the main container in every Job.
	ActionContainer = "action"
	// RestoreContainer is the name of the container that fills the temporary copy of a verification.
	RestoreContainer = "restore"
	// TransferContainer is the name of the container that copies the transfer binary into a Job's pod.
	TransferContainer = "transfer"
	// DataVolume is the name of the data volume of Jobs, and of the first volumeClaimTemplate of a cluster.
	DataVolume = "data"
	// ConfigVolume is the name of the volume with the files of spec.config.
	ConfigVolume = "config"
	// BinVolume is, in the pods of Jobs, the name of the volume with the transfer binary.
	BinVolume = "dbc-bin"
	// CredentialsVolume is, in the pods of Jobs, the name of the volume with the Secret of a backup's destination.
	CredentialsVolume = "dbc-credentials"
	// EncryptionVolume is, in the pods of Jobs, the name of the volume with the encryption key of backups.
	EncryptionVolume = "dbc-encryption"
	// DestinationVolume is, in the pods of Jobs, the name of the volume that is a backup's destination.
	DestinationVolume = "dbc-destination"
	// ScriptsVolume is the name of the volume with the engine's scripts.
	ScriptsVolume = "dbc-scripts"
	// SecretsVolume is the name of the volume with the Secret of spec.credentials.secretName.
	SecretsVolume = "dbc-secrets"
	// TLSVolume is the name of the volume with the certificate of the cluster.
	TLSVolume = "dbc-tls"
	// TokenVolume is the name of the volume with the token of members that call the API server.
	TokenVolume = "dbc-token"
	// ExporterContainer is the name of the sidecar that serves metrics of the database.
	ExporterContainer = "dbc-exporter"
	// ExporterVolume is the name of the volume with the keys and the CA of the exporter.
	ExporterVolume = "dbc-exporter"
	// MetricsPort is the name of the exporter's port.
	MetricsPort = "dbc-metrics"
	// Port is the name of the database's port.
	Port = "db"
)

// Paths in pods.
const (
	// TokenPath is the path of the token in the database container, where clients of the API server look for it.
	TokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"
	// BinPath is the path of the transfer binary in the pods of Jobs.
	BinPath = "/dbc/bin"
	// ScriptsPath is the path of the engine's scripts in members and Jobs.
	ScriptsPath = "/dbc/scripts"
	// SecretsPath is the path of the keys of spec.credentials.secretName in members and Jobs.
	SecretsPath = "/dbc/secrets"
	// TLSPath is the path of the certificate in members and Jobs.
	TLSPath = "/dbc/tls"
	// CredentialsPath is the path of the Secret of a backup's destination in the pods of Jobs.
	CredentialsPath = "/dbc/credentials"
	// EncryptionPath is the path of the encryption key of backups in the pods of Jobs.
	EncryptionPath = "/dbc/encryption"
	// DestinationPath is the path of the claim of a backup's destination in the pods of Jobs.
	DestinationPath = "/dbc/destination"
)

// CompanionContainer is the name of the container of a companion, and CompanionPort that of its port.
const (
	CompanionContainer = "companion"
	CompanionPort      = "main"
)

// BindingsPath is where applications find connection Secrets as files: https://servicebinding.io/spec/core/1.1.0/#workload-projection
const BindingsPath = "/bindings"

// BindingVolume is the name of the volume with the connection Secret of an application.
const BindingVolume = "dbc-binding"

// TemporaryVolume is the name of the volume for files that a companion writes.
const TemporaryVolume = "dbc-tmp"

// Companions is the name of the headless Service with the addresses of the companions of a cluster that can pause.
func Companions(cluster string) string { return cluster + "-companions" }

// CompanionCertificate is the name of the Secret with the certificate of a companion.
func CompanionCertificate(companion string) string { return companion + "-companion-tls" }

// CompanionSelector are the labels that select the pods of a companion, and nothing else.
func CompanionSelector(cluster, companion string) map[string]string {
	all := Selector(cluster)
	all[dbv1.LabelComponent], all[dbv1.LabelCompanion] = dbv1.ComponentCompanion, companion
	return all
}

// Preview is the name of the DatabaseCluster that shows the data of a DatabaseRestore.
func Preview(restore string) string { return restore + "-preview" }

// Service is the name of the Service for clients: in front of the primary if there is one, else of all members.
func Service(cluster string) string { return cluster }

// ReplicasService is the name of the Service in front of the replicas.
func ReplicasService(cluster string) string { return cluster + "-replicas" }

// Role is the name of the Role and the RoleBinding of members that call the API server.
func Role(cluster string) string { return cluster }

// State is the name of an object in which members keep their agreement.
func State(cluster, name string) string { return cluster + "-" + name }

// HeadlessService is the name of the Service that gives each member a DNS name.
func HeadlessService(cluster string) string { return cluster + "-headless" }

// StatefulSet is the name of the StatefulSet.
func StatefulSet(cluster string) string { return cluster }

// PodDisruptionBudget is the name of the PodDisruptionBudget.
func PodDisruptionBudget(cluster string) string { return cluster }

// PrimaryBudget is the name of the PodDisruptionBudget of the primary. No cluster has a dot in its name, so none has it, too.
func PrimaryBudget(cluster string) string { return PodDisruptionBudget(cluster) + ".primary" }

// ServiceAccount is the name of the ServiceAccount that the operator creates for the pods.
func ServiceAccount(cluster string) string { return cluster }

// NetworkPolicy is the name of the NetworkPolicy of the members.
func NetworkPolicy(cluster string) string { return cluster }

// Member is the name of the pod with an ordinal.
func Member(cluster string, ordinal int32) string {
	return StatefulSet(cluster) + "-" + strconv.Itoa(int(ordinal))
}

// MemberHost is the DNS name of a member inside its namespace.
func MemberHost(cluster string, ordinal int32) string {
	return Member(cluster, ordinal) + "." + HeadlessService(cluster)
}

// Archive is the name of the Deployment of the continuous archive.
func Archive(cluster string) string { return cluster + "-archive" }

// ConfigMap is the name of the ConfigMap with the files of spec.config that have a hash. Other files have another
// name, so members that still use the previous files keep them.
func ConfigMap(cluster, hash string) string { return cluster + "-config-" + hash }

// Credentials is the name of the Secret with generated credentials.
func Credentials(cluster string) string { return cluster + "-credentials" }

// Connection is the name of the connection Secret.
func Connection(cluster string) string { return cluster + "-connection" }

// Monitoring is the name of the PodMonitor and the PrometheusRule.
func Monitoring(cluster string) string { return cluster + "-metrics" }

// ServiceHost is the DNS name of a Service for clients of all namespaces.
func ServiceHost(service, namespace string) string { return service + "." + namespace + ".svc" }

// ClaimTemplate is the name of the volumeClaimTemplate whose volumes the members use.
func ClaimTemplate(cluster *dbv1.DatabaseCluster) string {
	if r := cluster.Status.Replacement; r != nil && r.VolumeClaimTemplate != "" {
		return r.VolumeClaimTemplate
	}
	return DataVolume
}

// restoredTemplate begins the name of a volumeClaimTemplate for restored data. No name of a cluster starts with a digit, so no claim has
// the name of a claim of another cluster.
const restoredTemplate = DataVolume + "-0"

// RestoredTemplate is the name of the volumeClaimTemplate whose volumes get the data of a DatabaseRestore.
func RestoredTemplate(restore types.UID) string { return restoredTemplate + digest(string(restore)) }

// Lineage identifies the data of a cluster in its archive. Restored data has another one than the data before: its log has other records
// under the same names.
func Lineage(cluster, template string) string {
	if template == "" {
		return cluster
	}
	return cluster + strings.TrimPrefix(template, DataVolume)
}

// Claim is the name of the claim that the member with an ordinal uses.
func Claim(cluster *dbv1.DatabaseCluster, ordinal int32) string {
	return ClaimIn(ClaimTemplate(cluster), cluster.Name, ordinal)
}

// ClaimIn is the name of the claim of a volumeClaimTemplate for the member with an ordinal.
func ClaimIn(template, cluster string, ordinal int32) string {
	return template + "-" + Member(cluster, ordinal)
}

// ClaimOrdinal is the ordinal in the name of a claim that a member uses; ok is false for any other name.
func ClaimOrdinal(cluster *dbv1.DatabaseCluster, claim string) (ordinal int32, ok bool) {
	template, ordinal, ok := TemplateOf(cluster.Name, claim)
	return ordinal, ok && template == ClaimTemplate(cluster)
}

// TemplateOf is the volumeClaimTemplate and the ordinal in the name of a claim of a cluster; ok is false for any other name.
func TemplateOf(cluster, claim string) (template string, ordinal int32, ok bool) {
	template = DataVolume
	if strings.HasPrefix(claim, restoredTemplate) {
		_, after, _ := strings.Cut(claim, "-")
		hash, _, _ := strings.Cut(after, "-")
		template += "-" + hash
	}
	member, found := strings.CutPrefix(claim, template+"-")
	if !found {
		return "", 0, false
	}
	ordinal, ok = Ordinal(cluster, member)
	return template, ordinal, ok
}

// Ordinal is the ordinal in a member's pod name; ok is false for any other name.
func Ordinal(cluster, pod string) (ordinal int32, ok bool) {
	digits, found := strings.CutPrefix(pod, StatefulSet(cluster)+"-")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != digits {
		return 0, false
	}
	return int32(n), true
}

// Selector are the labels that select the members of a cluster, and nothing else.
func Selector(cluster string) map[string]string {
	return map[string]string{
		dbv1.LabelName:      dbv1.LabelNameValue,
		dbv1.LabelInstance:  cluster,
		dbv1.LabelComponent: dbv1.ComponentDatabase,
	}
}

// SelectorText is Selector in the form that kubectl and the scale subresource accept.
func SelectorText(cluster string) string {
	return labels.SelectorFromSet(Selector(cluster)).String()
}

// Labels are the labels of a cluster's objects. The component, one of the Component constants of the API,
// identifies the kind of object. Only members and their objects match Selector. Otherwise the Service would send
// connections to a Job.
func Labels(cluster *dbv1.DatabaseCluster, component string) map[string]string {
	all := Selector(cluster.Name)
	all[dbv1.LabelComponent] = component
	all[dbv1.LabelManagedBy] = dbv1.LabelManagedByValue
	all[dbv1.LabelClusterUID] = string(cluster.UID)
	return all
}
