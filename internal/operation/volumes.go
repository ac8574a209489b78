/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Volumes is an operation on the claims of data volumes: AdoptVolumes, ResizeVolumes, LabelVolumes, CreateVolumes,
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

// AdoptVolumes records on claims whose data they hold.
type AdoptVolumes struct {
	ofVolumes
	Claims []Adoption
}

// Adoption is one claim and whose data it holds from now on.
type Adoption struct {
	Volume   state.Volume
	Contents state.Contents
}

// Taken tells that the claim was a previous cluster's until now.
func (a Adoption) Taken() bool { return a.Volume.Cluster != a.Contents.Cluster }

// ResizeVolumes makes claims ask for other sizes.
type ResizeVolumes struct {
	ofVolumes
	Claims []Resize
}

// Resize is one claim and the size that it is to ask for.
type Resize struct {
	Volume state.Volume
	Size   resource.Quantity
}

// LabelVolumes adds the label by which the API server refuses to delete claims, or removes it.
type LabelVolumes struct {
	ofVolumes
	Claims []Protection
}

// Protection is one claim and whether it is to be protected.
type Protection struct {
	Volume  state.Volume
	Protect bool
}

// CreateVolumes creates the claims of volumes that a backup is going to be restored into.
type CreateVolumes struct {
	ofVolumes
	Last
	Claims []resources.Child
}

// StartRestore starts the Jobs that restore a backup.
type StartRestore struct {
	ofVolumes
	Last
	From string
	Jobs []resources.Child
}

// FinishRestore records on the claims of volumes that a backup has been restored into them; members may use them then.
type FinishRestore struct {
	ofVolumes
	Last
	From    string
	Volumes []state.Volume
}

// Properties of AdoptVolumes.
func (AdoptVolumes) Properties() Properties { return Properties{LiveRead: true} }

// Properties of ResizeVolumes: a claim that grows never shrinks. One that cannot grow prevents nothing.
func (ResizeVolumes) Properties() Properties { return Properties{LiveRead: true, Independent: true} }

// Properties of LabelVolumes.
func (LabelVolumes) Properties() Properties {
	return Properties{LiveRead: true, Independent: true, WhileDeleting: true}
}

func (a AdoptVolumes) String() string  { return "adopt " + Describe(a.Claims) }
func (r ResizeVolumes) String() string { return "resize " + Describe(r.Claims) }
func (l LabelVolumes) String() string  { return Describe(l.Claims) }
func (c CreateVolumes) String() string { return "create " + Describe(c.Claims) }
func (s StartRestore) String() string  { return "restore " + s.From + ", start " + Describe(s.Jobs) }
func (f FinishRestore) String() string {
	return fmt.Sprintf("mark %d volumes as restored from %s", len(f.Volumes), f.From)
}

func (a Adoption) String() string { return "PersistentVolumeClaim " + a.Volume.Claim }
func (r Resize) String() string {
	return fmt.Sprintf("PersistentVolumeClaim %s from %s to %s", r.Volume.Claim, r.Volume.Requested.String(), r.Size.String())
}
func (p Protection) String() string {
	if p.Protect {
		return "protect PersistentVolumeClaim " + p.Volume.Claim
	}
	return "remove the protection of PersistentVolumeClaim " + p.Volume.Claim
}
