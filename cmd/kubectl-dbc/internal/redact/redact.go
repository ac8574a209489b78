/*
SPDX-License-Identifier: Apache-2.0
*/

// Package redact removes passwords and keys from objects and logs.
package redact

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// removed replaces a secret value.
const removed = "REDACTED"

// patterns match secrets by their form. The text of a group stays.
var patterns = []struct {
	form *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`), removed},
	{regexp.MustCompile(`AGE-SECRET-KEY-1[A-Za-z0-9]+`), removed},
	{regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]*`), removed},
	{regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`), removed},
	{regexp.MustCompile(`SCRAM-SHA-[0-9]+\$\S+`), removed},
	{regexp.MustCompile(`\bmd5[0-9a-f]{32}\b`), removed},
	{regexp.MustCompile(`(://[^:/@\s]*:)[^@\s]+@`), "${1}" + removed + "@"},
	{regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}`), "${1}" + removed},
	{regexp.MustCompile(`(?i)((?:password|passwd|passphrase|pwd|secret[_-]?(?:access[_-]?)?key|token|requirepass|masterauth|api[_-]?key)["']?(?:[ \t]*[:=][ \t]*|[ \t]+['"]))['"]?[^\s'",;]+`), "${1}" + removed},
}

// Values are secret values that a text must not have.
type Values []string

// shortest is the length of the shortest value that is replaced: shorter ones are parts of other words.
const shortest = 6

// With adds a secret value, in the forms that URIs have as well. The lines of a value are values.
func (v Values) With(value string) Values {
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		for _, form := range []string{line, url.QueryEscape(line), url.PathEscape(line)} {
			if len(form) >= shortest && !slices.Contains(v, form) {
				v = append(v, form)
			}
		}
	}
	// A value can be a part of a longer one, which is replaced first.
	slices.SortFunc(v, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return v
}

// Text removes secrets from a text.
func (v Values) Text(text string) string {
	for _, value := range v {
		text = strings.ReplaceAll(text, value, removed)
	}
	for _, p := range patterns {
		text = p.form.ReplaceAllString(text, p.with)
	}
	return text
}

// Object removes secrets from an object, in place.
func (v Values) Object(object map[string]any) {
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	switch object["kind"] {
	case "Secret": // nothing reads Secrets into a report; this is the last guard
		delete(object, "data")
		delete(object, "stringData")
	case "ConfigMap":
		hide(object["data"])
		hide(object["binaryData"])
	}
	v.walk(object)
}

// named matches names of variables and parameters with a secret value.
var named = regexp.MustCompile(`(?i)pass|secret|token|credential|private|auth|(^|[_-])key`)

func (v Values) walk(value any) any {
	switch value := value.(type) {
	case string:
		return v.Text(value)
	case []any:
		for i := range value {
			value[i] = v.walk(value[i])
		}
	case map[string]any:
		for key, inner := range value {
			switch key {
			case "env":
				hideEnvironment(inner)
			case "files":
				hide(inner)
			case "parameters":
				hideNamed(inner)
			}
			value[key] = v.walk(inner)
		}
	}
	return value
}

// hideEnvironment hides all literal values: a password can have any name.
func hideEnvironment(list any) {
	variables, _ := list.([]any)
	for _, variable := range variables {
		if fields, ok := variable.(map[string]any); ok {
			if name, _ := fields["name"].(string); fields["value"] != nil && !strings.HasPrefix(name, "DBC_") {
				fields["value"] = removed
			}
		}
	}
}

// hide replaces the values of a map, such as the files of a ConfigMap.
func hide(values any) {
	fields, _ := values.(map[string]any)
	for key, value := range fields {
		if text, ok := value.(string); ok {
			fields[key] = fmt.Sprintf("%s: %d bytes", removed, len(text))
		}
	}
}

func hideNamed(values any) {
	fields, _ := values.(map[string]any)
	for key := range fields {
		if named.MatchString(key) {
			fields[key] = removed
		}
	}
}
