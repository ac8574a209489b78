/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// rememberingMapper remembers the resources of kinds. Each request and each look into the cache asks for one, and the search takes
// longer than the look.
type rememberingMapper struct {
	meta.RESTMapper
	known sync.Map
}

func newMapper(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
	dynamic, err := apiutil.NewDynamicRESTMapper(config, client)
	return &rememberingMapper{RESTMapper: dynamic}, err
}

// RESTMapping finds the resource of one version of a kind. A kind that is not found may come later.
func (m *rememberingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return m.RESTMapper.RESTMapping(kind, versions...)
	}
	key := kind.WithVersion(versions[0])
	known, _ := m.known.Load(key)
	if found, ok := known.(*meta.RESTMapping); ok {
		return found, nil
	}
	found, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err == nil {
		m.known.Store(key, found)
	}
	return found, err
}
