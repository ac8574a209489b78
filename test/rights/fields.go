/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Field is a field of type text that a user may set.
type Field struct {
	Kind string
	// Path has [] for each element of a list, and {} for each value of a map.
	Path string
}

func (f Field) String() string { return f.Kind + " " + f.Path }

// Fields returns the fields in the specs of all our kinds, from the CRDs in a folder.
func Fields(dir string) ([]Field, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []Field
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the caller names the folder
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		for i := range crd.Spec.Versions {
			spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
			for _, path := range texts("spec", &spec) {
				all = append(all, Field{crd.Spec.Names.Kind, path})
			}
		}
	}
	return all, nil
}

// texts returns the paths of fields that can contain a text or any value.
func texts(at string, schema *apiextensionsv1.JSONSchemaProps) []string {
	switch {
	case schema.XPreserveUnknownFields != nil || schema.XEmbeddedResource:
		return []string{at + "?"}
	case schema.Type == "string" || schema.XIntOrString:
		return []string{at}
	case schema.Type == "array":
		return texts(at+"[]", schema.Items.Schema)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		all = append(all, texts(at+"."+name, &property)...)
	}
	if schema.AdditionalProperties != nil {
		all = append(all, texts(at+"{}", schema.AdditionalProperties.Schema)...)
	}
	return all
}

// verdict records the objects that fields can reach.
type verdict struct {
	fields *regexp.Regexp
	// reaches is a kind, or "" for none.
	reaches string
	// everywhere means that the kind is cluster-scoped.
	everywhere bool
}

func local(kind string, fields ...string) verdict { return verdict{anyOf(fields), kind, false} }
func global(kind string, fields ...string) verdict {
	return verdict{anyOf(fields), kind, true}
}
func nothing(fields ...string) verdict { return verdict{anyOf(fields), "", false} }

func anyOf(fields []string) *regexp.Regexp {
	return regexp.MustCompile(`^(` + strings.Join(fields, "|") + `)$`)
}

const (
	// A companion has the fields of pods and Services under the names that a cluster has.
	ofCluster    = `Database(Cluster|Companion) spec\.`
	ofEngine     = `DatabaseEngine spec\.`
	container    = `(container\.|pod\.(initContainers|sidecars)\[\]\.)`
	environment  = ofCluster + container + `env\[\]\.`
	destinations = `(DatabaseCluster spec\.(backup\.destination|bootstrap\.fromBackup\.(location|newest\.destination))|DatabaseBackup spec\.destination|DatabaseRestore spec\.source\.location)\.`
)

// verdicts judge every field. The operator looks for a "local" kind in the namespace of the object that names it. The
// kubelet does the same, because it gets no namespace.
var verdicts = []verdict{
	local("Secret", ofCluster+`(credentials|tls)\.secretName`, `DatabaseUser spec\.secretName`, ofCluster+`pod\.imagePullSecrets\[\]\.name`,
		environment+`valueFrom\.secretKeyRef\.name`,
		ofCluster+container+`envFrom\[\]\.secretRef\.name`,
		ofCluster+`pod\.volumes\[\]\.(secret\.secretName|projected\.sources\[\]\.secret\.name|csi\.nodePublishSecretRef\.name)`,
		destinations+`(credentialsSecretName|encryptionSecretName)`),
	local("ConfigMap", environment+`valueFrom\.configMapKeyRef\.name`, ofCluster+container+`envFrom\[\]\.configMapRef\.name`,
		ofCluster+`pod\.volumes\[\]\.(|projected\.sources\[\]\.)configMap\.name`),
	local("ServiceAccount", ofCluster+`serviceAccount\.name`),
	local("PersistentVolumeClaim", destinations+`claimName`),
	// cert-manager reads the issuer. A ClusterIssuer is for all namespaces.
	// cert-manager looks for the issuer in the namespace of the Certificate, which is that of the cluster.
	nothing(ofCluster + `tls\.issuerRef\.(name|kind|group)`),
	// Names in a certificate. An issuer may refuse them.
	nothing(ofCluster + `tls\.dnsNames\[\]`),
	// The operator creates these ConfigMaps. If another owner has one of the same name, members do not start.
	nothing(ofEngine + `state\.(configMaps\[\]|lock\.(configMap|holder|term)|configuration\.(configMap|key))`),
	local("DatabaseBackup", ofCluster+`bootstrap\.fromBackup\.name`, `DatabaseRestore spec\.source\.backupRef\.name`),
	// Parts of the URL of a folder: the server at the address decides.
	nothing(ofCluster+`bootstrap\.fromBackup\.newest\.(clusterNamespace|clusterName)`, ofCluster+`bootstrap\.fromBackup\.ifMissing`),
	local("DatabaseCluster", `DatabaseBackup spec\.cluster`, `(DatabaseRestore|Database|DatabaseUser|DatabaseCompanion) spec\.clusterRef\.name`),
	local("DatabaseUser", `DatabaseCompanion spec\.connection\.userRef\.name`),
	local("VerticalPodAutoscaler", ofCluster+`autoResize\.autoscalerRef\.name`),
	global("DatabaseEngine", ofCluster+`engine`),
	global("StorageClass", ofCluster+`storage\.storageClassName`),
	global("VolumeAttributesClass", ofCluster+`storage\.volumeAttributesClassName`),
	global("CSIDriver", ofCluster+`pod\.volumes\[\]\.csi\.driver`),
	global("ClusterTrustBundle",
		ofCluster+`pod\.volumes\[\]\.projected\.sources\[\]\.clusterTrustBundle\.(name|signerName|labelSelector\..*)`),
	global("PriorityClass", ofCluster+`scheduling\.priorityClassName`),
	global("GMSACredentialSpec", ofCluster+`(container|pod)\.securityContext\.windowsOptions\.gmsaCredentialSpecName`),

	// Scheduling of pods, including pod affinity, as in every pod.
	nothing(ofCluster+`scheduling\.(affinity|spread|topologySpreadConstraints\[\]|tolerations\[\])\..*`,
		ofCluster+`scheduling\.nodeSelector\{\}`),
	// Keys and paths within an object that another field names; names within the pod.
	nothing(environment+`(name|value)`, environment+`valueFrom\.(secretKeyRef|configMapKeyRef|fileKeyRef)\.key`,
		environment+`valueFrom\.(fieldRef|resourceFieldRef)\..*`,
		environment+`valueFrom\.fileKeyRef\.(path|volumeName)`, ofCluster+container+`envFrom\[\]\.prefix`,
		ofCluster+`pod\.volumes\[\]\.(name|(secret|configMap)\.items\[\]\.(key|path)|emptyDir\.(medium|sizeLimit))`,
		ofCluster+
			`pod\.volumes\[\]\.projected\.sources\[\]\.((secret|configMap)\.items\[\]\.(key|path)|downwardAPI\..*|clusterTrustBundle\.path)`,
		// A token of the pod's own ServiceAccount, for a named audience.
		ofCluster+`pod\.volumes\[\]\.projected\.sources\[\]\.serviceAccountToken\.(audience|path)`,
		ofCluster+`pod\.volumes\[\]\.csi\.(fsType|volumeAttributes\{\})`,
		ofCluster+container+`volumeMounts\[\]\.(name|mountPath|subPath)`,
		ofCluster+`pod\.(initContainers|sidecars)\[\]\.name`, ofCluster+`pod\.sidecars\[\]\.ports\[\]\.name`),
	// Labels and limits of the objects for Prometheus, and the container of the exporter, which gets only keys of the cluster's Secret.
	nothing(ofCluster+`monitoring\.(mode|labels\{\}|exporter\.(image|imagePullPolicy|resources\.(claims\[\]\.(name|request)|limits\{\}|requests\{\})))`,
		ofEngine+`metrics\.(path|requests|errors|duration|saturation|sidecar\.(image|command\[\]|secretKeys\[\]|env\[\]\.(name|value)))`),
	// Addresses: the server at the address decides.
	nothing(destinations+`(url|endpoint|region|credentialSource|serverSideEncryption\.(type|kmsKeyID))`,
		ofCluster+`(container|pod\.sidecars\[\])\.(startup|readiness|liveness)Probe\..*`,
		ofEngine+`container\.(startup|readiness|liveness)Probe\..*`,
		ofCluster+`(|pod\.(initContainers|sidecars)\[\]\.)image`, ofCluster+container+`imagePullPolicy`),
	// The input of a container and its permissions. A resource claim names an entry of the pod, which has none.
	nothing(ofCluster+container+`(command|args)\[\]`, ofCluster+`container\.versionCommand\[\]`,
		ofCluster+
			`(backup\.(archive\.)?|helpers\.|deletion\.hooks\[\]\.|pod\.(initContainers|sidecars)\[\]\.)?resources\.(claims\[\]\.(name|request)|limits\{\}|requests\{\})`,
		ofCluster+`(container|pod)\.securityContext\.(appArmorProfile|capabilities|seLinuxOptions|seccompProfile|sysctls\[\])\..*`,
		ofCluster+`container\.securityContext\.procMount`,
		ofCluster+`pod\.securityContext\.(fsGroupChangePolicy|seLinuxChangePolicy|supplementalGroupsPolicy)`,
		ofCluster+`(container|pod)\.securityContext\.windowsOptions\.(gmsaCredentialSpec|runAsUserName)`),
	// Peers of a NetworkPolicy: it can only restrict who connects to the members.
	nothing(ofCluster + `(networkPolicy\.mode|(networkPolicy|monitoring)\.from\[\]\..*)`),
	// Names in the database and settings of it, which the action of the engine gets as data.
	nothing(`Database spec\.owner`, `DatabaseUser spec\.databases\[\]\.(name|privileges\[\])`, `(Database|DatabaseUser) spec\.(name|attributes\{\})`),
	// The content of a companion of an engine, and how an application gets the connection Secret.
	nothing(`DatabaseCompanion spec\.(companion|connection\.(form|environmentPrefix|onChange))`,
		ofEngine+`companions\[\]\.(name|description|image|pause|(command|scripts|secretKeys)\[\]|(startup|readiness|liveness)Probe\..*)`,
		ofEngine+`companions\[\]\.parameters\[\]\.(name|default|preview|description|pattern|enum\[\])`),
	// Our own keywords.
	nothing(`(Database|DatabaseUser) spec\.(existing|drift|reclaimPolicy)`, `DatabaseUser spec\.authentication`, ofEngine+`actions\.objects\.(databases|certificates|passwordKey|entries\{\})`),
	nothing(ofCluster+
		`(parameters\{\}|bootstrap\.(database|owner|fromBackup\.recoveryTarget\.(time|name))|tls\.(mode|clientCertificates)|credentials\.rotation\.(period|overlap)|config\.(mountPath|files\{\})|container\.dataPath|storage\.(size|usage|whenNearlyFull|autoGrow\.limit)|autoResize\.(cpu|memory)\.(min|max)|serviceAccount\.annotations\{\}|service\.(type|(annotations|labels)\{\}|loadBalancerClass|loadBalancerSourceRanges\[\]|externalTrafficPolicy)|pod\.(labels|annotations)\{\}|updateStrategy\.type|disruption\.onCordon)`,
		ofCluster+
			`backup\.(unhealthyAfter|unchangedData|schedules\[\]\.(name|schedule|timeZone|retention\.period)|verification\.(command\[\]|recover|schedule|timeZone))`,
		ofCluster+`deletion\.(hookFailurePolicy|volumes|hooks\[\]\.(name|type|command\[\]))`, `DatabaseBackup spec\.deletionPolicy`,
		`DatabaseRestore spec\.(mode|source\.recoveryTarget\.(time|name))`,
		ofEngine+
			`(actions\.(\w+\.command|recover\.targets)\[\]|actions\.check\.(identity|facts\[\]\.(name|compare))|container\.((args|command|scripts|versionCommand)\[\]|dataPath|env\[\]\.(name|value)))`,
		ofEngine+
			`(description|parameters\[\]\.(name|default|preview|description|pattern|enum\[\])|restoresFrom\[\]|scripts\{\}|secretKeys\[\]\.(name|description|usedBy|generate\.characters)|tls\.(modes\[\]|preamble\.(request|response))|topology)`,
		ofEngine+
			`(bootstrap\.(database|owner)|roles\.(label|primary|replica|lockParameter|positionField|timelineField)|connection\.(type|provider|entries\{\}|fileVariables\{\}))`),
}

// Reference is a field that names an object.
type Reference struct {
	Field
	// To is the kind.
	To string
	// Everywhere means that the kind is cluster-scoped.
	Everywhere bool
}

// References returns the given fields that name objects. It fails for fields without a verdict.
func References(fields []Field) ([]Reference, error) {
	var all []Reference
	for _, field := range fields {
		var matching []verdict
		for _, v := range verdicts {
			if v.fields.MatchString(field.String()) {
				matching = append(matching, v)
			}
		}
		if len(matching) != 1 {
			return nil, fmt.Errorf("%s has %d verdicts in test/rights/fields.go, want one: can it reach an object, and in which namespace?", field,
				len(matching))
		}
		if v := matching[0]; v.reaches != "" {
			all = append(all, Reference{field, v.reaches, v.everywhere})
		}
	}
	return all, nil
}
