/*
SPDX-License-Identifier: Apache-2.0
*/

// Package reporting decides what belongs into a report about one cluster: events, lines of logs, and the Secrets whose values it must not
// have.
package reporting

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// Secrets are the names of the Secrets of a cluster: those that the operator creates, those that its pods and Jobs refer to, and those that
// any of its objects names. The engine is nil if it is unknown.
func Secrets(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, objects []map[string]any) []string {
	resolved := engine.Resolve(cluster, declared)
	found := names{}
	found.add(naming.Credentials(cluster.Name), naming.Connection(cluster.Name), naming.Certificate(cluster.Name),
		naming.Authority(cluster.Name), engine.TLSSecret(resolved))
	for _, r := range slices.Concat(pods.References(resolved), pods.ActionReferences(resolved)) {
		if r.Kind == "Secret" {
			found.add(r.Name)
		}
	}
	for _, object := range objects {
		if metadata, is := object["metadata"].(map[string]any); is && object["kind"] == "DatabaseUser" {
			name, _ := metadata["name"].(string)
			found.add(naming.User(name))
		}
		found.walk("", object)
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

type names map[string]bool

func (n names) add(all ...string) {
	for _, name := range all {
		n[name] = true
	}
}

// reference matches fields that refer to a Secret by its name: secretRef, secretKeyRef, nodePublishSecretRef, the source of a volume,
// the Secrets of a registry, and status.binding.
var reference = regexp.MustCompile(`^(.*[sS]ecret(Key)?Ref|secret|imagePullSecrets|binding)$`)

// walk collects the names of Secrets in an object: fields like secretName and credentialsSecretName, and references.
func (n names) walk(key string, value any) {
	switch value := value.(type) {
	case string:
		if strings.HasSuffix(strings.ToLower(key), "secretname") {
			n.add(value)
		}
	case []any:
		for _, inner := range value {
			n.walk(key, inner)
		}
	case map[string]any:
		if name, is := value["name"].(string); is && reference.MatchString(key) {
			n.add(name)
		}
		for key, inner := range value {
			n.walk(key, inner)
		}
	}
}
