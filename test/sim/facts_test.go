/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"encoding/json"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// aCheck is the engine's check action, which reports the content of a volume. Clients never change it, so it identifies the database, too.
func aCheck() *dbv1.EngineCheck {
	return &dbv1.EngineCheck{Command: []string{"anydb", "check"}, Facts: []dbv1.EngineFact{{Name: "data", Compare: dbv1.CompareEqual}}, Identity: "data"}
}

// factsAround returns the facts that a backup reports: no client writes while it runs.
func factsAround(c *protocol.Backup, data string) *protocol.Check {
	if len(c.Check) == 0 {
		return nil
	}
	return &protocol.Check{Before: factsOf(data), After: factsOf(data)}
}

func factsOf(data string) protocol.Facts {
	text, err := json.Marshal(data)
	must(err)
	return protocol.Facts{"data": text}
}

// performProbe runs the probe of a temporary copy.
func (w *world) performProbe(pod *corev1.Pod, c *protocol.Probe) exit {
	result := protocol.Result{Output: json.RawMessage(`{"role":"primary"}`)}
	if claim := w.claimOf(pod, naming.DataVolume); claim != nil && len(c.Check) > 0 {
		result.Facts = factsOf(w.disk.volumes[claim.UID].data)
	}
	return exitWith(result)
}

// losesData makes the engine's restore succeed without all data.
func losesData() step {
	return step{what: "restores of every backup lose data", do: func(w *world) {
		for _, l := range w.locations() {
			there := w.disk.bucket[l]
			there.lossy = true
			w.disk.bucket[l] = there
		}
	}}
}

// watchVerified: a verified backup reproduces its data.
func (w *world) watchVerified(b *dbv1.DatabaseBackup) {
	there, v := w.disk.bucket[b.Status.Location], b.Status.Verification
	if v != nil && v.Phase == dbv1.VerificationSucceeded && there.lossy {
		w.breaks("DatabaseBackup %s counts as verified, but its restores lose data", b.Name)
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
