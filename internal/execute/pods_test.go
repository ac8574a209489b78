/*
SPDX-License-Identifier: Apache-2.0
*/

package execute

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAPodMovesToALargerNodeButNotIntoAQuotaThatIsFull(t *testing.T) {
	forbidden := func(why string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "orders-2", errors.New(why))
	}
	for why, want := range map[string]bool{
		"node didn't have enough allocatable resources: cpu, requested: 900000, allocatable: 2000": true,
		"exceeded quota: shop, requested: cpu=900, used: cpu=1, limited: cpu=2":                    false,
	} {
		if got := nodeIsTooSmall(forbidden(why)); got != want {
			t.Errorf("%s: %v", why, got)
		}
	}
	if nodeIsTooSmall(errors.New("node didn't have enough allocatable resources")) {
		t.Error("not an answer of the API server's")
	}
}
