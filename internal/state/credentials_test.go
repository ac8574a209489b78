/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestMembersRestartForEveryPasswordThatNoRotationPutInForce(t *testing.T) {
	secret := func(password string) *corev1.Secret {
		return &corev1.Secret{Data: map[string][]byte{"password": []byte(password)}}
	}
	content := func(s *corev1.Secret) string { return CredentialsOf(s, "orders").Content }
	pods := content(secret("A"))

	rotated := secret("B")
	rotated.Annotations = map[string]string{
		dbv1.AnnotationContent: Values(rotated.Data).Hash(), dbv1.AnnotationContentOfPods: pods, dbv1.AnnotationRotated: "2026-01-01T00:00:00Z",
	}
	if content(rotated) != pods {
		t.Error("the members would restart after a rotation from A to B")
	}
	for _, password := range []string{"A", "C", ""} {
		edited := secret(password)
		edited.Annotations = rotated.Annotations
		if password == "" {
			edited.Data = nil
		}
		if content(edited) == pods {
			t.Errorf("the members would not apply the password %q that the user has set after the rotation", password)
		}
	}
}
