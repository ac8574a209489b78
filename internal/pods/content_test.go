/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestAValueOfASecretIsOneLineOfText(t *testing.T) {
	for value, want := range map[string]struct{ empty, unusable bool }{
		"x": {}, " ": {}, "x\n": {}, "x\n\n": {},
		"": {empty: true}, "\n": {empty: true}, "\r\n": {empty: true},
		"x\r\n": {unusable: true}, "x\r": {unusable: true}, "x\ny": {unusable: true}, "\nx": {unusable: true}, "x\x00y": {unusable: true},
		"x\ty": {unusable: true}, "x\x7f": {unusable: true}, "x\xffy": {unusable: true}, "x\u0085y": {unusable: true},
		"пароль": {}, `-'"\\ :@#%`: {}, "🔑 é": {},
	} {
		keys, empty, unusable := SecretKeys(&corev1.Secret{Data: map[string][]byte{"a": []byte(value)}})
		if len(keys) != 1 || (len(empty) > 0) != want.empty || (len(unusable) > 0) != want.unusable {
			t.Errorf("%q: empty %q, unusable %q", value, empty, unusable)
		}
	}
}

func TestTheKeysOfASecretAreSorted(t *testing.T) {
	keys, empty, _ := SecretKeys(&corev1.Secret{Data: map[string][]byte{"c": nil, "a": nil, "b": []byte("x")}})
	if !slices.Equal(keys, []string{"a", "b", "c"}) || !slices.Equal(empty, []string{"a", "c"}) {
		t.Errorf("keys %q, empty %q", keys, empty)
	}
}
