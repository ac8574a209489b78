/*
SPDX-License-Identifier: Apache-2.0
*/

package reporting

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/merging"
)

// Log is the log of the operator, which can have lines of other users.
type Log struct {
	// Namespace is that of the cluster, and Operator that of the operator.
	Namespace, Operator string
	Objects             Objects
}

// Of are the lines about the objects of the cluster and those that concern no object, and the number of the others. A line of an unknown
// form is one of the others.
func (l Log) Of(text string) (kept string, others int) {
	var all strings.Builder
	for line := range strings.Lines(text) {
		if _, message := merging.Split(strings.TrimRight(line, "\n")); l.keeps(message) {
			all.WriteString(line)
			continue
		}
		others++
	}
	return all.String(), others
}

// trace matches the lines of a stack trace. Their arguments are numbers.
var trace = regexp.MustCompile(`^(panic: runtime error: .*|goroutine \d+ .*:|\t\S+\.go:\d+.*|created by \S+.*|` +
	`[\w./*()\[\]{}-]+\([0-9a-fx, .?{}]*\))?$`)

// header begins a line of the Kubernetes client.
var header = regexp.MustCompile(`^[IWEF]\d{4} [\d:.]+ +\d+ (leaderelection|reflector)\.go:\d+\]`)

func (l Log) keeps(message string) bool {
	start := strings.Index(message, "{")
	fields := map[string]any{}
	switch {
	case trace.MatchString(message):
		return true
	case header.MatchString(message):
		return !l.namesOthers(message)
	case start < 0 || json.Unmarshal([]byte(message[start:]), &fields) != nil:
		return false
	case fields["namespace"] == nil && fields["name"] == nil:
		return anonymous(fields) && !l.namesOthers(message)
	}
	return l.owns(fields)
}

// owns reports whether a line is about an object of the cluster. A DatabaseEngine has no namespace.
func (l Log) owns(fields map[string]any) bool {
	group, _ := fields["controllerGroup"].(string)
	kind, _ := fields["controllerKind"].(string)
	namespace, _ := fields["namespace"].(string)
	name, _ := fields["name"].(string)
	_, found := l.Objects[Object{schema.GroupKind{Group: group, Kind: kind}, name}]
	return found && (namespace == l.Namespace || namespace == "" && kind == "DatabaseEngine")
}

// free are the fields of a line that concerns no object.
var free = []string{
	"level", "ts", "logger", "msg", "error", "stacktrace", "caller", "controller", "controllerGroup", "controllerKind", "source",
	"worker count", "version", "kind", "addr", "bindAddress", "secure",
}

func anonymous(fields map[string]any) bool {
	for name := range fields {
		if !slices.Contains(free, name) {
			return false
		}
	}
	return true
}

// namespaces matches the name of a namespace in URLs and messages of the API server, and in NAMESPACE/NAME.
var namespaces = regexp.MustCompile(`namespaces?(?:/|[\s:=]+)\\*"?([a-z0-9][-a-z0-9]*)|` +
	`[\s"=]([a-z0-9][-a-z0-9]*)/[a-z0-9][-.a-z0-9]*[\s"\\]`)

// namesOthers reports whether a line names the namespace of other users.
func (l Log) namesOthers(message string) bool {
	for _, found := range namespaces.FindAllStringSubmatch(message+" ", -1) {
		if name := found[1] + found[2]; name != l.Namespace && name != l.Operator {
			return true
		}
	}
	return false
}
