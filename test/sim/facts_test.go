/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// aCheck is the engine's check action, which reports the content of a volume. Clients never change it, so it identifies the database, too.
func aCheck() *dbv1.EngineCheck {
	return &dbv1.EngineCheck{Command: []string{"anydb", "check"}, Facts: []dbv1.EngineFact{{Name: "data", Compare: dbv1.CompareEqual}}, Identity: "data"}
}

var someFacts = regexp.MustCompile(`,"facts":\{[^}]*\}`)

// forgetful is an operator that does not record facts.
var forgetful = interceptor.Funcs{
	SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		text, err := patch.Data(object)
		world.Must(err)
		return c.SubResource(sub).Patch(ctx, object, client.RawPatch(patch.Type(), someFacts.ReplaceAll(text, nil)), options...)
	},
}
