/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// serving is an API server that serves some kinds.
type serving struct {
	client.Client
	kinds *meta.DefaultRESTMapper
}

func (s serving) RESTMapper() meta.RESTMapper { return s.kinds }

func TestAnAPIServerIsAskedForVolumeAttributesClassesOnlyIfTheSpecNamesOne(t *testing.T) {
	kinds := meta.NewDefaultRESTMapper([]schema.GroupVersion{storagev1.SchemeGroupVersion})
	kinds.Add(storagev1.SchemeGroupVersion.WithKind("VolumeAttributesClass"), meta.RESTScopeRoot)
	cases := map[string]struct {
		class    string
		kinds    *meta.DefaultRESTMapper
		unserved bool
		want     string
	}{
		"served":     {"gold", kinds, false, "gold"},
		"not served": {"gold", meta.NewDefaultRESTMapper(nil), true, ""},
		"not named":  {"", meta.NewDefaultRESTMapper(nil), false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := running()
			cluster.Spec.Storage.VolumeAttributesClassName = c.class
			s := newServer(t, cluster)
			api := apply.Writer{Client: serving{s, c.kinds}}
			r := &Reconciler{Base: kit.Base{Cached: s, Live: s, Writer: api, Clock: clocktesting.NewFakePassiveClock(moment.Time)}}
			seen, err := r.Observe(t.Context(), cluster, r.Reading(cluster, false))
			if err != nil {
				t.Fatal(err)
			}
			if got := seen.Cluster.Spec.Storage.VolumeAttributesClassName; seen.NoAttributesClasses != c.unserved || got != c.want {
				t.Errorf("not served: %v; the decisions see %q, want %q", seen.NoAttributesClasses, got, c.want)
			}
		})
	}
}
