/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// aCheck is the action of the engine that reports what a volume holds.
func aCheck() *dbv1.EngineCheck {
	return &dbv1.EngineCheck{Command: []string{"anydb", "check"}, Facts: []dbv1.EngineFact{{Name: "data", Compare: dbv1.CompareEqual}}}
}

// checks tells whether a call runs the engine's check.
func (c call) checks() bool {
	return slices.ContainsFunc(c.args, func(arg string) bool { return strings.HasPrefix(arg, "--check=") })
}

// factsAround is what a backup reports of the check: nobody writes while it runs.
func factsAround(c call, data string) map[string]any {
	if !c.checks() {
		return nil
	}
	facts := map[string]any{"data": data}
	return map[string]any{"before": facts, "after": facts}
}

// performProbe asks a throw-away copy.
func (w *world) performProbe(pod *corev1.Pod, c call) exit {
	result := map[string]any{"output": map[string]any{"role": "primary"}}
	if claim := w.claimOf(pod, naming.DataVolume); claim != nil && c.checks() {
		result["facts"] = map[string]any{"data": w.store.disk.volumes[claim.UID].data}
	}
	return exit{result: result}
}

// losesData makes the engine's restore succeed without having read everything.
func losesData() step {
	return step{what: "restores of every backup lose data", do: func(w *world) {
		for _, l := range w.locations() {
			there := w.store.disk.bucket[l]
			there.lossy = true
			w.store.disk.bucket[l] = there
		}
	}}
}

// watchVerified: what counts as verified gives its data back.
func (w *world) watchVerified(b *dbv1.DatabaseBackup) {
	there, v := w.store.disk.bucket[b.Status.Location], b.Status.Verification
	if v != nil && v.Phase == dbv1.VerificationSucceeded && there.lossy {
		w.breaks("DatabaseBackup %s counts as verified, and its restores lose data", b.Name)
	}
}

var someFacts = regexp.MustCompile(`,"facts":\{[^}]*\}`)

// forgetful is an operator that does not record facts.
var forgetful = interceptor.Funcs{
	SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		text, err := patch.Data(object)
		must(err)
		return c.SubResource(sub).Patch(ctx, object, client.RawPatch(patch.Type(), someFacts.ReplaceAll(text, nil)), options...)
	},
}
