/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// Reference is a Secret, ConfigMap or ServiceAccount that the spec names, as it was read.
type Reference struct {
	Kind, Name string
	// Where is the field that names it. Optional is true if pods start without it.
	Where    string
	Optional bool
	Found    bool
	// Own is true if the operator created it, and no other client is expected to write to it.
	Own bool
	// Content is a hash of its data.
	Content string
	// Keys are the sorted keys of a Secret.
	Keys []string
	// Empty are the keys whose values contain only line ends. Scripts strip those at the end, except CR. Unusable are the keys
	// whose values are then not one line of text in UTF-8.
	Empty, Unusable []string
	// Sizes are the numbers of bytes of the values, without line ends at their end.
	Sizes map[string]int
}

// SecretKeys returns the sorted keys of a Secret, those with empty values, and those whose values
// programs would read in different ways.
func SecretKeys(secret *corev1.Secret) (keys, empty, unusable []string) {
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		keys = append(keys, key)
		switch value := bytes.TrimRight(secret.Data[key], "\n"); {
		case len(bytes.Trim(value, "\r\n")) == 0:
			empty = append(empty, key)
		case !utf8.Valid(value), bytes.ContainsFunc(value, unicode.IsControl):
			unusable = append(unusable, key)
		}
	}
	return keys, empty, unusable
}

// SecretSizes returns the number of bytes of each value of a Secret, without line ends at its end.
func SecretSizes(secret *corev1.Secret) map[string]int {
	sizes := make(map[string]int, len(secret.Data))
	for key, value := range secret.Data {
		sizes[key] = len(bytes.TrimRight(value, "\n"))
	}
	return sizes
}

// SecretContent returns a hash of a Secret's data.
func SecretContent(secret *corev1.Secret) string { return Content(secret.Data, nil) }

// ConfigMapContent is a hash of what a ConfigMap holds.
func ConfigMapContent(config *corev1.ConfigMap) string {
	return Content(config.BinaryData, config.Data)
}

// EntryContent is a hash of an annotation or an entry of a ConfigMap; "" if it has neither.
func EntryContent(config *corev1.ConfigMap, key string) string {
	note, annotated := config.Annotations[key]
	text, found := config.Data[key]
	if !annotated && !found {
		return ""
	}
	return Content(nil, map[string]string{"annotation": note, "data": text})[:16]
}

// Content is a hash of the data of a Secret or a ConfigMap.
func Content(binary map[string][]byte, text map[string]string) string {
	form, err := json.Marshal([]any{binary, text})
	if err != nil {
		panic(fmt.Sprintf("a map of bytes does not marshal: %v", err))
	}
	sum := sha256.Sum256(form)
	return hex.EncodeToString(sum[:])
}
