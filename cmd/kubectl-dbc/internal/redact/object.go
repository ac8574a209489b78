/*
SPDX-License-Identifier: Apache-2.0
*/

package redact

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// Object removes secrets from an object, in place.
func (v Values) Object(object map[string]any) {
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
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

// named matches names of variables, parameters and arguments with a secret value.
var named = regexp.MustCompile(`(?i)pass|secret|token|credential|private|auth|(^|[_-])key`)

func (v Values) walk(value any) any {
	switch value := value.(type) {
	case string:
		return v.document(value)
	case []any:
		v.list(value)
	case map[string]any:
		for key, inner := range value {
			v.field(key, inner)
			value[key] = v.walk(inner)
		}
	}
	return value
}

// field hides the parts of a field whose name shows that they can be secret.
func (v Values) field(key string, value any) {
	switch key {
	case "annotations":
		removeCopies(value)
	case "env", "httpHeaders":
		hideVariables(value)
	case "files", "volumeAttributes":
		hide(value)
	case "parameters":
		hideNamed(value)
	case "args", "command":
		hideScripts(value)
	}
}

// document removes secrets from a text. A document of JSON, such as an annotation, has them in fields, too.
func (v Values) document(text string) string {
	var fields any
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &fields) != nil {
		return v.Text(text)
	}
	var before any
	_ = json.Unmarshal([]byte(text), &before) // it is valid
	if after := v.walk(fields); !reflect.DeepEqual(before, after) {
		if content, err := json.Marshal(after); err == nil {
			text = string(content)
		}
	}
	return v.Text(text)
}

// directives are arguments whose next argument is a secret, although they do not look like a flag.
var directives = regexp.MustCompile(`(?i)^(requirepass|masterauth|auth|password|passwd)$`)

// list removes secrets from a list. In a list of arguments, a value can follow its name.
func (v Values) list(all []any) {
	secret := false
	for i := range all {
		text, is := all[i].(string)
		name := is && (strings.HasPrefix(text, "-") && named.MatchString(text) || directives.MatchString(text))
		switch {
		case secret && is && !strings.HasPrefix(text, "-"):
			all[i], name = removed, false
		case name && strings.Contains(text, "="):
			flag, _, _ := strings.Cut(text, "=")
			all[i], name = flag+"="+removed, false
		default:
			all[i] = v.walk(all[i])
		}
		secret = name
	}
}

// copies matches annotations in which tools store the manifest of an object: with kubectl, Rancher, the operators of Banzai Cloud, kapp.
var copies = regexp.MustCompile(`(?i)applied|original|last-config`)

// removeCopies removes annotations with a copy of an object, which has the values that its fields no longer have.
func removeCopies(value any) {
	annotations, _ := value.(map[string]any)
	for key, value := range annotations {
		text, _ := value.(string)
		if copies.MatchString(key) || strings.Contains(text, `"apiVersion"`) || strings.HasPrefix(text, "H4sI") { // packed by gzip
			delete(annotations, key)
		}
	}
}

// hideVariables hides all literal values: a password can have any name.
func hideVariables(list any) {
	variables, _ := list.([]any)
	for _, variable := range variables {
		if fields, ok := variable.(map[string]any); ok {
			if name, _ := fields["name"].(string); fields["value"] != nil && !strings.HasPrefix(name, "DBC_") {
				fields["value"] = removed
			}
		}
	}
}

// hideScripts hides arguments with spaces: a script of a shell can have a password in any place.
func hideScripts(list any) {
	arguments, _ := list.([]any)
	for i, argument := range arguments {
		if text, is := argument.(string); is && strings.ContainsAny(text, " \t\n") {
			arguments[i] = summary(text)
		}
	}
}

// hide replaces the values of a map, such as the files of a ConfigMap.
func hide(values any) {
	fields, _ := values.(map[string]any)
	for key, value := range fields {
		if text, ok := value.(string); ok {
			fields[key] = summary(text)
		}
	}
}

func summary(text string) string { return fmt.Sprintf("%s: %d bytes", removed, len(text)) }

func hideNamed(values any) {
	fields, _ := values.(map[string]any)
	for key := range fields {
		if named.MatchString(key) {
			fields[key] = removed
		}
	}
}
