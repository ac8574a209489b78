/*
SPDX-License-Identifier: Apache-2.0
*/

package store

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func fresh() *Store {
	return New(clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

func TestAnObjectThatIsCreatedAgainHasAnotherUID(t *testing.T) {
	s := fresh()
	s.Put(secret("first"))
	before := Get[*corev1.Secret](s, "first")
	s.Remove(before)
	s.Put(secret("first"))
	if after := Get[*corev1.Secret](s, "first"); after.UID == before.UID {
		t.Errorf("both have the UID %s", after.UID)
	}
}

func TestADeletionWithTheUIDOfAnotherObjectIsRefused(t *testing.T) {
	s := fresh()
	s.Put(secret("first"))
	err := s.Server().Delete(t.Context(), secret("first"), client.Preconditions{UID: new(types.UID("another"))})
	if !apierrors.IsConflict(err) {
		t.Errorf("the answer is %v", err)
	}
}

func TestNothingIsCreatedInATerminatingNamespace(t *testing.T) {
	s := fresh()
	s.Terminating = "shop"
	err := s.Server().Create(t.Context(), secret("first"))
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("the answer is %v", err)
	}
	elsewhere := secret("first")
	elsewhere.Namespace = "office"
	if err := s.Server().Create(t.Context(), elsewhere); err != nil {
		t.Errorf("in another namespace: %v", err)
	}
}

func TestACopyOfAStoreContinuesAlone(t *testing.T) {
	s := fresh()
	s.Put(secret("first"))
	copied := s.Clone(s.clock)
	copied.Remove(Get[*corev1.Secret](copied, "first"))
	if Get[*corev1.Secret](s, "first") == nil {
		t.Error("the original has lost the object")
	}
}
