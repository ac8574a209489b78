//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestAUserReadsNoSecretThroughACompanion(t *testing.T) {
	parallel(t)
	ns, name, user := deputy(t)
	attempt := func(edit func(*dbv1.DatabaseCompanionSpec)) error {
		c := companionOf(smallest(ns, "orders"), "mine")
		edit(&c.Spec)
		return user.Create(t.Context(), c, client.DryRunAll)
	}
	application := func(s *dbv1.DatabaseCompanionSpec) { s.Image, s.Port = "example.test/mine:1", 8080 }
	mustBeForbidden(t, "of the cluster", attempt(application), "spec.clusterRef.name names Secret orders-connection, which "+name+" may not read")
	ofUser := func(s *dbv1.DatabaseCompanionSpec) {
		application(s)
		s.Connection.UserRef = &dbv1.CompanionUserRef{Name: "reader"}
	}
	mustBeForbidden(t, "of a user", attempt(ofUser), "names Secret reader-user, which "+name+" may not read")

	declared := func(s *dbv1.DatabaseCompanionSpec) { s.Companion = "pooler" }
	if err := attempt(declared); err != nil {
		t.Errorf("what an administrator has declared: %v", err)
	}
	mayGet(t, ns, name, "orders-credentials") // the cluster may name another Secret
	for what, edit := range map[string]func(*dbv1.DatabaseCompanionSpec){
		"an image": func(s *dbv1.DatabaseCompanionSpec) { s.Image = "example.test/mine:1" },
		"a variable": func(s *dbv1.DatabaseCompanionSpec) {
			s.Container.Env = []corev1.EnvVar{{Name: "LD_PRELOAD", Value: "/tmp/x"}}
		},
	} {
		own := func(s *dbv1.DatabaseCompanionSpec) { declared(s); edit(s) }
		mustBeForbidden(t, what, attempt(own), "They need permission to get every Secret in namespace "+ns+", which "+name+" does not have. Leave them out")
	}
	mayGet(t, ns, name)
	eventually(t, "a user who may get every Secret to set an image", func() error {
		return attempt(func(s *dbv1.DatabaseCompanionSpec) { declared(s); s.Image = "example.test/mine:1" })
	})
}
