/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	templates "text/template/parse"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Keys of a connection Secret that every engine has: https://servicebinding.io/spec/core/1.1.0/#well-known-secret-entries
const (
	entryType     = "type"
	entryProvider = "provider"
	entryHost     = "host"
	entryPort     = "port"

	// EntryCA is the key of the CA by which clients verify the members.
	EntryCA = "ca.crt"
)

// Connection returns the data of the connection Secret of an effective cluster, from the values of its Secret with
// credentials, and the CA by which clients verify the members; "" without TLS. The engine must describe a connection.
func Connection(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, secrets map[string][]byte,
	ca string) (map[string][]byte, error) {
	connection, values := declared.Spec.Connection, connectionValues(cluster, ca)
	data := map[string][]byte{
		entryType:     []byte(connection.Type),
		entryProvider: []byte(cmp.Or(connection.Provider, declared.Name)),
		entryHost:     []byte(values[entryHost]),
		entryPort:     []byte(values[entryPort]),
	}
	if ca != "" {
		data[EntryCA] = []byte(ca)
	}
	for _, key := range slices.Sorted(maps.Keys(connection.Entries)) {
		text, err := expand(string(connection.Entries[key]), values, secrets)
		if err != nil {
			return nil, fmt.Errorf("entry %s: %w", key, err)
		}
		data[key] = []byte(text)
	}
	return data, nil
}

// connectionValues are the values to which templates can refer.
func connectionValues(cluster *dbv1.DatabaseCluster, ca string) map[string]string {
	values := map[string]string{
		"tls":     ca,
		"cluster": cluster.Name, "namespace": cluster.Namespace,
		entryHost:  naming.ServiceHost(naming.Service(cluster.Name), cluster.Namespace),
		entryPort:  strconv.Itoa(int(cluster.Spec.Container.Port)),
		"database": "", "owner": "",
	}
	if bootstrap := cluster.Spec.Bootstrap; bootstrap != nil {
		values["database"], values["owner"] = bootstrap.Database, bootstrap.Owner
	}
	return values
}

// badTemplates are entries of the connection that cannot be expanded.
func badTemplates(spec dbv1.DatabaseEngineSpec) []string {
	if spec.Connection == nil {
		return nil
	}
	secrets := map[string][]byte{}
	for _, name := range keyNames(spec.SecretKeys) {
		secrets[name] = nil
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(spec.Connection.Entries)) {
		if _, err := expand(string(spec.Connection.Entries[key]), connectionValues(&dbv1.DatabaseCluster{}, ""), secrets); err != nil {
			all = append(all, fmt.Sprintf("spec.connection.entries[%s] is not a valid template (%v)", key, err))
		}
	}
	return all
}

// expand executes a template. Only our functions are available, and no loops: no template can take long, or print much.
func expand(text string, values map[string]string, secrets map[string][]byte) (string, error) {
	functions := template.FuncMap{
		"percent": percent,
		"escape":  escape,
		"secret": func(key string) (string, error) {
			value, found := secrets[key]
			if !found {
				return "", fmt.Errorf("spec.secretKeys has no %q", key)
			}
			return strings.TrimRight(string(value), "\n"), nil // as the shell does in $(cat FILE)
		},
	}
	trees, err := templates.Parse("template", text, "", "", functions)
	if err != nil {
		return "", err
	}
	tree := trees["template"]
	if len(trees) != 1 || loops(tree.Root) {
		return "", errors.New("it must not have define, block, template or range")
	}
	parsed, err := template.New("template").Option("missingkey=error").Funcs(functions).AddParseTree("template", tree)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, values)
	return out.String(), err
}

// loops reports whether a template calls a template or has a loop.
func loops(list *templates.ListNode) bool {
	if list == nil {
		return false
	}
	return slices.ContainsFunc(list.Nodes, func(n templates.Node) bool {
		switch n := n.(type) {
		case *templates.IfNode:
			return loops(n.List) || loops(n.ElseList)
		case *templates.WithNode:
			return loops(n.List) || loops(n.ElseList)
		case *templates.RangeNode, *templates.TemplateNode:
			return true
		default:
			return false
		}
	})
}

// percent escapes a part of a URI: all bytes except those that RFC 3986 calls unreserved.
func percent(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("-._~", b) >= 0:
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

// escape puts a backslash before these characters and before each backslash.
func escape(characters, text string) string {
	var out strings.Builder
	for _, r := range text {
		if r == '\\' || strings.ContainsRune(characters, r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
