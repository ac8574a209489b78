/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestAKeyOfASecretWithOnlyLineEndsIsEmpty(t *testing.T) {
	keys, empty := SecretKeys(&corev1.Secret{Data: map[string][]byte{"c": []byte("x\n"), "a": {}, "b": []byte("\r\n"), "d": []byte(" ")}})
	if !slices.Equal(keys, []string{"a", "b", "c", "d"}) || !slices.Equal(empty, []string{"a", "b"}) {
		t.Errorf("keys %q, empty %q", keys, empty)
	}
}
