/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"cmp"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ref is a kind and a name.
func ref(object client.Object) string {
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	return kinds[0].Kind + " " + object.GetName()
}

func compareText(a, b string) int { return cmp.Compare(a, b) }
