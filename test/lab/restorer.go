/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

//go:embed restored.py
var restored string

const (
	// workFolder is the folder of the restorer for data, restoredFolder that of a moment, and scriptFolder that of its script.
	workFolder, restoredFolder, scriptFolder = "/work", "/work/moment", "/restorer"
	restoreAction, recoverAction             = "/dbc/scripts/restore", "/dbc/scripts/recover"
)

// ErrRefused reports that transfer refused a moment, because the archive does not cover it.
var ErrRefused = errors.New("the archive does not cover the moment")

// Restorer is a pod in which moments are recovered, one after the other. It is the pod of the archive as the operator rendered it, with
// other commands, so it has the image, the scripts, the Secrets and the environment of an action.
type Restorer struct {
	*Bucket
	Pod string
	// bases are the folders of the backups that were restored, by their locations.
	bases map[string]string
}

// NewRestorer creates a restorer, and waits until it runs.
func (c *Cluster) NewRestorer(ctx context.Context, b *Bucket, name string) (*Restorer, error) {
	deployment, err := c.archiver(ctx)
	if err != nil {
		return nil, err
	}
	script := &corev1.ConfigMap{ObjectMeta: c.meta(name), Data: map[string]string{"restored.py": restored}}
	pod := &corev1.Pod{ObjectMeta: c.meta(name), Spec: forRestores(deployment.Spec.Template.Spec, name)}
	pod.Annotations = deployment.Spec.Template.Annotations // the scripts
	for _, object := range []client.Object{script, pod} {
		if err := c.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("create a restorer: %w", err)
		}
	}
	return &Restorer{Bucket: b, Pod: name, bases: map[string]string{}}, Await(ctx, name+" to be ready", func() bool {
		return c.Get(ctx, c.key(name), pod) == nil && Ready(pod)
	})
}

// forRestores changes the pod of an archive: it waits for commands.
func forRestores(spec corev1.PodSpec, script string) corev1.PodSpec {
	spec = *spec.DeepCopy()
	spec.TerminationGracePeriodSeconds = new(int64(1))
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		corev1.Volume{Name: "restorer", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: script}, DefaultMode: new(int32(0o555))}}})
	action := &spec.Containers[0]
	action.Command, action.ReadinessProbe, action.LivenessProbe = []string{"sleep", "infinity"}, nil, nil
	action.Resources = small()
	action.VolumeMounts = append(action.VolumeMounts, corev1.VolumeMount{Name: "work", MountPath: workFolder},
		corev1.VolumeMount{Name: "restorer", MountPath: scriptFolder})
	return spec
}

// Remove deletes the pod with its data.
func (r *Restorer) Remove(ctx context.Context) error {
	return r.Delete(ctx, &corev1.Pod{ObjectMeta: r.meta(r.Pod)})
}

// Recover returns the rows of a moment, by writer. An empty text is the end of the archive.
func (r *Restorer) Recover(ctx context.Context, base Base, archive, until string) (map[string]Spans, error) {
	folder, err := r.restored(ctx, base)
	if err != nil {
		return nil, err
	}
	call := &protocol.Recover{From: archive, Start: base.Start, Since: base.Ended.Format(time.RFC3339Nano), Until: until, Store: r.store()}
	call.Result, call.Command = os.DevNull, []string{recoverAction}
	return r.rows(ctx, "cp -a --reflink=auto "+folder+" "+restoredFolder, call)
}

// RecoverAtOnce returns the rows of a moment by one call of transfer, which also restores the backup, as the Job of the operator does.
func (r *Restorer) RecoverAtOnce(ctx context.Context, base Base, until string) (map[string]Spans, error) {
	call := &protocol.Restore{
		From: base.Location, ID: r.Pod, Into: restoredFolder, Store: r.store(), Recover: []string{recoverAction}, Until: until,
	}
	call.Result, call.Command = os.DevNull, []string{restoreAction}
	return r.rows(ctx, "mkdir "+restoredFolder, call)
}

// rows prepares a folder, fills it by a call of transfer, and returns the rows in it.
func (r *Restorer) rows(ctx context.Context, prepare string, call protocol.Call) (map[string]Spans, error) {
	if err := r.transfer(ctx, "rm -rf "+restoredFolder+"; "+prepare+"; export DBC_DATA_DIR="+restoredFolder, call); err != nil {
		return nil, err
	}
	text, err := r.Exec(ctx, r.Pod, naming.ActionContainer, "env", "DBC_DATA_DIR="+restoredFolder, scriptFolder+"/restored.py")
	if err != nil {
		return nil, err
	}
	return parseWriters(text)
}

// restored is the folder with a backup, of which each moment gets a copy.
func (r *Restorer) restored(ctx context.Context, base Base) (string, error) {
	if folder, has := r.bases[base.Location]; has {
		return folder, nil
	}
	folder := fmt.Sprintf("%s/base%d", workFolder, len(r.bases))
	call := &protocol.Restore{From: base.Location, ID: folder, Into: folder, Store: r.store()}
	call.Result, call.Command = os.DevNull, []string{restoreAction}
	if err := r.transfer(ctx, "mkdir "+folder+"; export "+protocol.RecoverVariable+"=true DBC_DATA_DIR="+folder, call); err != nil {
		return "", fmt.Errorf("restore a backup: %w", err)
	}
	r.bases[base.Location] = folder
	return folder, nil
}

// transfer prepares something by the shell, and runs a call.
func (r *Restorer) transfer(ctx context.Context, prepare string, call protocol.Call) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, fmt.Errorf("a recovery has not ended after %v", Patience))
	defer cancel()
	words := append([]string{"sh", "-ec", prepare + `; exec "$@"`, "sh", naming.BinPath + "/" + protocol.Program}, protocol.Args(call)...)
	_, err := r.Exec(ctx, r.Pod, naming.ActionContainer, words...)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && strings.Contains(err.Error(), string(protocol.TargetNotCovered)):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// store is how transfer reaches the bucket.
func (b *Bucket) store() protocol.Store {
	return protocol.Store{Endpoint: b.Destination().Endpoint, Credentials: naming.CredentialsPath}
}
