/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// counting counts the searches, which find nothing before the second one.
type counting struct {
	meta.RESTMapper
	searches int
}

func (c *counting) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	c.searches++
	if c.searches == 1 {
		return nil, &meta.NoKindMatchError{GroupKind: kind}
	}
	return &meta.RESTMapping{GroupVersionKind: kind.WithVersion(append(versions, "preferred")[0])}, nil
}

func TestTheOperatorSearchesTheResourceOfAKindOnce(t *testing.T) {
	search := &counting{}
	mapper, orders := &rememberingMapper{RESTMapper: search}, schema.GroupKind{Group: "shop", Kind: "Order"}
	if _, err := mapper.RESTMapping(orders, "v1"); !meta.IsNoMatchError(err) {
		t.Fatalf("got %v, want that the kind does not exist yet", err)
	}
	for _, version := range []string{"v1", "v1", "v2", "v1", "v2"} {
		if found, err := mapper.RESTMapping(orders, version); err != nil || found.GroupVersionKind.Version != version {
			t.Errorf("%s: got %v, %v", version, found, err)
		}
	}
	if search.searches != 3 {
		t.Errorf("%d searches, want one without a result, and one for each version", search.searches)
	}
	if found, err := mapper.RESTMapping(orders); err != nil || found.GroupVersionKind.Version != "preferred" {
		t.Errorf("without a version: got %v, %v", found, err)
	}
}
