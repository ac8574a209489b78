/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Volumes is an operation on the claims of data volumes: AdoptVolumes, RecordContents, ResizeVolumes, ModifyVolumes, LabelVolumes, CreateVolumes,
// StartRestore or FinishRestore.
//
//sumtype:decl
type Volumes interface {
	OnCluster
	volumes()
}

type ofVolumes struct{}

func (ofVolumes) onCluster() {}
func (ofVolumes) volumes()   {}

// AdoptVolumes records another owner on claims.
type AdoptVolumes struct {
	ofVolumes
	Claims []ContentsChange
}

// RecordContents records on claims of the cluster which engine wrote the data, which member has the latest, and how many members the
// membership may have.
type RecordContents struct {
	ofVolumes
	Claims []ContentsChange
}

// ContentsChange is a claim and its new contents.
type ContentsChange struct {
	Volume   state.Volume
	Contents state.Contents
}

// ResizeVolumes changes the requested size of claims.
type ResizeVolumes struct {
	ofVolumes
	Claims []VolumeResize
}

// VolumeResize is a claim and its new size.
type VolumeResize struct {
	Volume state.Volume
	Size   resource.Quantity
}

// ModifyVolumes changes the VolumeAttributesClass of claims.
type ModifyVolumes struct {
	ofVolumes
	Claims []Modification
}

// Modification is a claim and its new VolumeAttributesClass.
type Modification struct {
	Volume state.Volume
	Class  string
}

// LabelVolumes adds or removes the label that makes the API server refuse to delete claims.
type LabelVolumes struct {
	ofVolumes
	Claims []ProtectionChange
}

// ProtectionChange is a claim and whether it is to be protected.
type ProtectionChange struct {
	Volume  state.Volume
	Protect bool
}

// CreateVolumes creates the claims that a restore fills.
type CreateVolumes struct {
	ofVolumes
	Last
	Claims []objects.Child
}

// StartRestore starts the Jobs that restore a backup.
type StartRestore struct {
	ofVolumes
	Last
	From string
	// Why describes the restore, for events.
	Why  string
	Jobs []objects.Child
}

// FinishRestore records on the claims that the backup is restored. Members may use the volumes after that.
type FinishRestore struct {
	ofVolumes
	Last
	From string
	// Why describes the result, for events.
	Why     string
	Volumes []state.Volume
	// Primary is the pod that starts before the others, because it has all data; "" for none. Term is that of the record.
	Primary, Term string
}

// Properties of AdoptVolumes.
func (AdoptVolumes) Properties() Properties { return Properties{LiveRead: true} }

// Properties of RecordContents: a paused or deleted cluster has a primary, too. It fails before the operator disturbs a member.
func (RecordContents) Properties() Properties {
	return Properties{LiveRead: true, WhilePaused: true, WhileDeleting: true}
}

// Properties of ResizeVolumes: a volume never shrinks, and one that cannot grow prevents no other operation.
func (ResizeVolumes) Properties() Properties { return Properties{LiveRead: true, Independent: true} }

// Properties of ModifyVolumes: a volume that cannot be modified prevents no other operation.
func (ModifyVolumes) Properties() Properties { return Properties{LiveRead: true, Independent: true} }

// Properties of LabelVolumes.
func (LabelVolumes) Properties() Properties {
	return Properties{LiveRead: true, Independent: true, WhileDeleting: true}
}

func (a AdoptVolumes) String() string   { return "adopt " + Describe(a.Claims) }
func (r RecordContents) String() string { return "record the contents of " + Describe(r.Claims) }
func (r ResizeVolumes) String() string  { return "resize " + Describe(r.Claims) }
func (m ModifyVolumes) String() string  { return "modify " + Describe(m.Claims) }
func (l LabelVolumes) String() string   { return Describe(l.Claims) }
func (c CreateVolumes) String() string  { return "create " + Describe(c.Claims) }
func (s StartRestore) String() string   { return "restore " + s.From + ", start " + Describe(s.Jobs) }
func (f FinishRestore) String() string {
	return fmt.Sprintf("mark %d volumes as restored from %s", len(f.Volumes), f.From)
}

func (c ContentsChange) String() string { return "PersistentVolumeClaim " + c.Volume.Claim }
func (r VolumeResize) String() string {
	return fmt.Sprintf("PersistentVolumeClaim %s from %s to %s", r.Volume.Claim, r.Volume.Requested.String(), r.Size.String())
}
func (m Modification) String() string {
	return fmt.Sprintf("PersistentVolumeClaim %s to VolumeAttributesClass %s", m.Volume.Claim, m.Class)
}
func (p ProtectionChange) String() string {
	if p.Protect {
		return "protect PersistentVolumeClaim " + p.Volume.Claim
	}
	return "remove the protection of PersistentVolumeClaim " + p.Volume.Claim
}
