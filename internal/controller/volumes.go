/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create;delete

func (e execution) onVolumes(ctx context.Context, o operation.Volumes) ([]kit.Event, error) {
	switch o := o.(type) {
	case operation.ResizeVolumes:
		done, err := subject.OnEach(o.Claims, func(c operation.VolumeResize) error { return e.resizeClaim(ctx, c) })
		return kit.About(done, ", ", kit.Normal("VolumeResizing", "Resize", "resizing ")), err
	case operation.ModifyVolumes:
		done, err := subject.OnEach(o.Claims, func(c operation.Modification) error { return e.modifyClaim(ctx, c) })
		return kit.About(done, ", ", kit.Normal("VolumeModifying", "Modify", "modifying ")), err
	case operation.LabelVolumes:
		_, err := subject.OnEach(o.Claims, func(c operation.ProtectionChange) error { return e.labelClaim(ctx, c) })
		return nil, err
	case operation.AdoptVolumes:
		return e.adopt(ctx, o)
	case operation.RecordContents:
		_, err := subject.OnEach(o.Claims, func(c operation.ContentsChange) error { return e.record(ctx, c.Volume, c.Contents) })
		return nil, err
	case operation.CreateVolumes:
		return nil, e.create(ctx, o.Claims)
	case operation.StartRestore:
		return e.startRestore(ctx, o)
	case operation.FinishRestore:
		return e.finishRestore(ctx, o)
	}
	return nil, unknown(o)
}

// claim identifies a claim in the version that the operation was decided on.
func (e execution) claim(v state.Volume) *unstructured.Unstructured {
	claim := e.belonging("PersistentVolumeClaim", v.Claim)
	claim.SetResourceVersion(v.Version)
	return claim
}

func (e execution) resizeClaim(ctx context.Context, c operation.VolumeResize) error {
	_, err := e.Writer.Patch(ctx, e.claim(c.Volume), c.Volume.Version, []objects.PatchOperation{
		{Op: "replace", Path: "/spec/resources/requests/storage", Value: c.Size.String()},
	})
	return err
}

func (e execution) modifyClaim(ctx context.Context, c operation.Modification) error {
	_, err := e.Writer.Patch(ctx, e.claim(c.Volume), c.Volume.Version, []objects.PatchOperation{
		{Op: "add", Path: "/spec/volumeAttributesClassName", Value: c.Class},
	})
	return err
}

func (e execution) labelClaim(ctx context.Context, c operation.ProtectionChange) error {
	before, after := e.claim(c.Volume), e.claim(c.Volume)
	before.SetLabels(protection(!c.Protect))
	after.SetLabels(protection(c.Protect))
	return e.Writer.Change(ctx, before, after)
}

// protection is never nil: a patch from some labels to nil would remove all labels of the claim.
func protection(on bool) map[string]string {
	if !on {
		return map[string]string{}
	}
	return map[string]string{dbv1.LabelProtected: "true"}
}

func (e execution) adopt(ctx context.Context, o operation.AdoptVolumes) ([]kit.Event, error) {
	done, err := subject.OnEach(o.Claims, func(c operation.ContentsChange) error { return e.record(ctx, c.Volume, c.Contents) })
	return kit.About(done, ", ", kit.Normal("VolumesAdopted", "Adopt", "adopted from the previous cluster of the same name: ")), err
}

// record writes on a claim whose data it has.
func (e execution) record(ctx context.Context, v state.Volume, contents state.Contents) error {
	before, after := e.claim(v), e.claim(v)
	before.SetLabels(v.Labels())
	before.SetAnnotations(v.Annotations())
	after.SetLabels(contents.Labels())
	after.SetAnnotations(contents.Annotations())
	return e.Writer.Change(ctx, before, after)
}

// create creates objects that did not exist at the decision. It stops at the first error.
func (e execution) create(ctx context.Context, all []objects.Child) error {
	_, err := subject.OnEach(all, func(child objects.Child) error {
		_, err := e.Writer.Create(ctx, child.Object)
		return err
	})
	return err
}

func (e execution) startRestore(ctx context.Context, o operation.StartRestore) ([]kit.Event, error) {
	if err := e.create(ctx, o.Jobs); err != nil {
		return nil, err
	}
	message := fmt.Sprintf("%s by %s", o.Why, operation.Describe(o.Jobs))
	if o.From == state.Initialized {
		return []kit.Event{kit.Normal("InitializationStarted", "Initialize", message)}, nil
	}
	return []kit.Event{kit.Normal("RestoreStarted", "Restore", message)}, nil
}

func (e execution) finishRestore(ctx context.Context, o operation.FinishRestore) ([]kit.Event, error) {
	_, err := subject.OnEach(o.Volumes, func(v state.Volume) error {
		filled := v.Contents
		filled.Fill, filled.From, filled.Primary, filled.Term, filled.Voters = state.Filled, o.From, o.Primary, o.Term, 0
		return e.record(ctx, v, filled)
	})
	if err != nil {
		return nil, err
	}
	message := o.Why + "; the members start with it"
	if o.From == state.Initialized {
		return []kit.Event{kit.Normal("InitializationCompleted", "Initialize", message)}, nil
	}
	return []kit.Event{kit.Normal("RestoreCompleted", "Restore", message)}, nil
}
