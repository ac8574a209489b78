/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The API server records when an object was written, and the kubelet when a container ended. Their clocks may differ, so the operator
// compares no time of one with a time of the other.

// WrittenAt returns the second in which a client last wrote an object, by the clock of the API server; zero if that is unknown.
func WrittenAt(object metav1.Object) time.Time {
	var last time.Time
	for _, entry := range object.GetManagedFields() {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}
