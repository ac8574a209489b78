/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"

	"github.com/operator-framework/api/pkg/manifests"

	"github.com/dbcluster/databasecluster-operator/config/rbac"
	"github.com/dbcluster/databasecluster-operator/test/bundle/checks"
)

// tests are all tests, by their argument in config/scorecard. Each returns its problems.
var tests = map[string]func(context.Context, *manifests.Bundle, options) []string{
	"descriptors-cover-the-schema": onTheBundle(checks.Descriptors),
	"csv-rbac-equals-config-rbac":  onTheBundle(permissions),
	"related-images-are-complete":  onTheBundle(checks.RelatedImages),

	"sample-becomes-available": onTheCluster((*world).sampleBecomesAvailable),
	"conditions-are-complete":  onTheCluster((*world).conditionsAreComplete),
	"backup-is-restored":       onTheCluster((*world).backupIsRestored),
}

// onTheBundle is a test that only reads the bundle.
func onTheBundle(check func(*manifests.Bundle) []string) func(context.Context, *manifests.Bundle, options) []string {
	return func(_ context.Context, bundle *manifests.Bundle, _ options) []string { return check(bundle) }
}

func permissions(bundle *manifests.Bundle) []string {
	objects, err := rbac.Objects()
	if err != nil {
		return []string{err.Error()}
	}
	return checks.Permissions(bundle, objects)
}

// onTheCluster is a test that runs databases in the namespace of the scorecard. It removes them afterward, also after a
// SIGTERM.
func onTheCluster(test func(*world, context.Context) error) func(context.Context, *manifests.Bundle, options) []string {
	return func(ctx context.Context, bundle *manifests.Bundle, opts options) []string {
		w, err := newWorld(bundle, opts)
		if err != nil {
			return []string{err.Error()}
		}
		within, cancel := context.WithTimeout(ctx, opts.timeout)
		defer cancel()
		var problems []string
		for _, err := range []error{test(w, within), w.clean(context.WithoutCancel(ctx))} {
			if err != nil {
				problems = append(problems, advice(err))
			}
		}
		return problems
	}
}
