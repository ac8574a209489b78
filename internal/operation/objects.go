/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Objects is an operation on the objects that a cluster consists of: Apply, Delete or RecreateStatefulSet.
//
//sumtype:decl
type Objects interface {
	OnCluster
	objects()
}

type ofObjects struct{}

func (ofObjects) onCluster() {}
func (ofObjects) objects()   {}

// Apply writes one object as it should be.
type Apply struct {
	ofObjects
	resources.Child
	// UID and Version are those of the live object, "" when there is none.
	UID     types.UID
	Version string
	// Drift is the first path that is not as it should be, "" when there is no live object.
	Drift string
	// Eviction is a JSON patch to send first; nil for none.
	Removals []resources.Operation
}

// Delete deletes objects of ours that nothing uses any more.
type Delete struct {
	ofObjects
	Objects []Removal
}

// RecreateStatefulSet deletes the StatefulSet and leaves its pods alone; the next pass makes it anew.
type RecreateStatefulSet struct {
	ofObjects
	Last
}

// Properties of Apply. A StatefulSet must not be given what was wanted a while ago, as by an operator that was frozen and
// goes on, nor be created without all the members that run. Nothing is created for a cluster that may no longer exist.
func (a Apply) Properties() Properties {
	return Properties{LiveRead: a.RecordsStoredSpec() || a.UID == ""}
}

// Properties of Delete.
func (Delete) Properties() Properties { return Properties{LiveRead: true, WhileDeleting: true} }

func (a Apply) String() string {
	if a.UID == "" {
		return "create " + a.Child.String()
	}
	return "update " + a.Child.String() + " (" + a.Drift + ")"
}
func (d Delete) String() string            { return "delete " + Describe(d.Objects) }
func (RecreateStatefulSet) String() string { return "delete the StatefulSet and orphan its pods" }
