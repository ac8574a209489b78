/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// factsAround returns the facts that a backup reports: no client writes while it runs.
func factsAround(c *protocol.Backup, data string) *protocol.Check {
	if len(c.Check) == 0 {
		return nil
	}
	before := factsOf(data)
	before[protocol.ArchiveFact] = json.RawMessage(`"log.1"`)
	return &protocol.Check{Before: before, After: factsOf(data)}
}

func factsOf(data string) protocol.Facts {
	text, err := json.Marshal(data)
	Must(err)
	return protocol.Facts{"data": text}
}

// performProbe runs the probe of a temporary copy, or the action measure.
func (w *World) performProbe(pod *corev1.Pod, c *protocol.Probe) exit {
	if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentMeasure {
		return exitWith(protocol.Result{Output: json.RawMessage(w.disk.parts)})
	}
	result := protocol.Result{Output: json.RawMessage(`{"role":"primary"}`)}
	if claim := w.ClaimOf(pod); claim != nil && len(c.Check) > 0 {
		result.Facts = factsOf(w.disk.volumes[claim.UID].data)
	}
	return exitWith(result)
}

// watchVerified: a verified backup reproduces its data.
func (w *World) watchVerified(b *dbv1.DatabaseBackup) {
	there, v := w.disk.bucket[b.Status.Location], b.Status.Verification
	if v != nil && v.Phase == dbv1.VerificationSucceeded && there.lossy {
		w.Breaks("DatabaseBackup %s counts as verified, but its restores lose data", b.Name)
	}
}
