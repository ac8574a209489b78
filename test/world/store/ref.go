/*
SPDX-License-Identifier: Apache-2.0
*/

package store

import (
	"cmp"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ref is a kind and a name.
func Ref(object client.Object) string {
	kinds, _, err := Scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	return kinds[0].Kind + " " + object.GetName()
}

func compareText(a, b string) int { return cmp.Compare(a, b) }
