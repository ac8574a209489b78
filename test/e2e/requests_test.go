//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// requestsOfTheOperator counts from now on.
func (w world) requestsOfTheOperator() func() string {
	w.Helper()
	config, err := ctrlconfig.GetConfig()
	if err != nil {
		w.Fatal(err)
	}
	api, err := kube.New(config, kube.Options{})
	if err != nil {
		w.Fatal(err)
	}
	requests, err := (&lab.Lab{Client: api}).CountRequests(w.Context(), operatorNamespace)
	if err != nil {
		w.Fatal(err)
	}
	count := func() map[string]int {
		counted, err := requests.Counted(w.Context())
		w.must(err == nil, "count: %v", err)
		return counted
	}
	before := count()
	return func() string { return lab.Difference(before, count()) }
}
