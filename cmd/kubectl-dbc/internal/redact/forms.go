/*
SPDX-License-Identifier: Apache-2.0
*/

package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// parts are the texts of a value that are secret by themselves: its lines, the strings of JSON, and passwords in lines like KEY=VALUE and
// in URIs.
func parts(value string) []string {
	var all []string
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-----") { // a line of a PEM block that every key has
			continue
		}
		all = append(all, line)
		if name, assigned, found := strings.Cut(line, "="); found && named.MatchString(name) {
			all = append(all, strings.Trim(strings.TrimSpace(assigned), `"'`))
		}
		if uri, err := url.Parse(line); err == nil && uri.User != nil {
			password, _ := uri.User.Password()
			all = append(all, password)
		}
	}
	var document any
	if strings.HasPrefix(strings.TrimSpace(value), "{") && json.Unmarshal([]byte(value), &document) == nil {
		all = append(all, leaves(document)...)
	}
	return all
}

// leaves are the strings of a JSON document.
func leaves(document any) []string {
	var all []string
	switch document := document.(type) {
	case string:
		all = append(all, document)
	case []any:
		for _, inner := range document {
			all = append(all, leaves(inner)...)
		}
	case map[string]any:
		for _, inner := range document {
			all = append(all, leaves(inner)...)
		}
	}
	return all
}

// forms are the texts that programs write for a value, besides its encodings.
func forms(value string) []string {
	all := []string{
		value, strings.ReplaceAll(value, "'", "''"), strings.ReplaceAll(value, "'", `'\''`),
		strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(value), // ~/.pgpass
	}
	for _, uri := range []string{url.QueryEscape(value), url.PathEscape(value), percent(value)} {
		all = append(all, uri, triples.ReplaceAllStringFunc(uri, strings.ToLower))
	}
	quoted := []string{inJSON(value, true), inJSON(value, false), unquoted(strconv.Quote(value))}
	for _, once := range quoted { // a line of a log can be JSON that has JSON
		all = append(all, once, inJSON(once, false), inJSON(once, true))
	}
	return all
}

// triples are bytes in percent-encoding.
var triples = regexp.MustCompile(`%[0-9A-F]{2}`)

// percent encodes all bytes but those that no URI encodes.
func percent(value string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	var all strings.Builder
	for i := range len(value) {
		if strings.IndexByte(unreserved, value[i]) >= 0 {
			all.WriteByte(value[i])
			continue
		}
		all.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{value[i]})))
	}
	return all.String()
}

// inJSON is a value in a string of JSON. Encoders for web pages also escape <, > and &.
func inJSON(value string, web bool) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(web)
	if encoder.Encode(value) != nil {
		return value
	}
	return unquoted(strings.TrimSuffix(text.String(), "\n"))
}

func unquoted(text string) string { return text[1 : len(text)-1] }

// encoded are the texts that base64 and hex have for a value, also as a part of a longer text such as NAME:PASSWORD. In base64, the
// characters at both ends depend on what stands beside the value, so they are not included.
func encoded(value string) []string {
	bytes := []byte(value)
	all := []string{
		hex.EncodeToString(bytes), base64.StdEncoding.EncodeToString(bytes), base64.RawStdEncoding.EncodeToString(bytes),
		base64.URLEncoding.EncodeToString(bytes), base64.RawURLEncoding.EncodeToString(bytes),
	}
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
		core := text[(shift*8+5)/6 : (shift+len(value))*8/6]
		all = append(all, core, strings.NewReplacer("+", "-", "/", "_").Replace(core))
	}
	return all
}
