/*
SPDX-License-Identifier: Apache-2.0
*/

package store

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stamp records the time of a write of a ConfigMap.
func (s *Store) stamp(at id, object client.Object) {
	if _, is := object.(*corev1.ConfigMap); is {
		s.written[at] = s.clock.Now()
	}
}

// LastWrite is the time of the last write of a ConfigMap.
func (s *Store) LastWrite(object client.Object) time.Time {
	return s.written[id{s.resource(object), client.ObjectKeyFromObject(object)}]
}

// showWrite adds the time of the last write to a ConfigMap that a client reads. The actors of a world have no field managers.
func (s *Store) showWrite(at id, object client.Object) {
	if config, is := object.(*corev1.ConfigMap); is {
		config.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(metav1.NewTime(s.written[at]))}}
	}
}
