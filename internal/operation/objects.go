/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
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

// Apply creates or updates an object.
type Apply struct {
	ofObjects
	objects.Child
	// UID and Version are those of the live object; "" if it does not exist.
	UID     types.UID
	Version string
	// Drift is the first field that differs from the desired object; "" if no live object exists.
	Drift string
	// Removals are the JSON patch operations that remove fields owned by others before the apply; nil for none.
	Removals []objects.PatchOperation
	// Completes is true if the apply completes a change that members have in force already. A paused cluster needs it, too.
	Completes bool
}

// MakeAgreement creates an empty object in which members keep their agreement. One that exists is an error.
type MakeAgreement struct {
	ofObjects
	objects.Child
}

// AdoptAgreements records another owner on the objects in which members keep their agreement.
type AdoptAgreements struct {
	ofObjects
	Agreements []state.Agreement
}

// Delete deletes objects that the operator created and no longer needs.
type Delete struct {
	ofObjects
	Objects []Removal
}

// RecreateStatefulSet deletes the StatefulSet and orphans its pods. The next pass re-creates it.
type RecreateStatefulSet struct {
	ofObjects
	last
}

// ApplyOf is the write of an object over the live one, if it differs; live is a nil pointer if it does not exist.
func ApplyOf(child objects.Child, live metav1.Object) (apply Apply, needed bool) {
	if reflect.ValueOf(live).IsNil() {
		return Apply{Child: child}, true
	}
	drift := child.Drift(live)
	if drift == "" {
		return Apply{}, false
	}
	return Apply{
		Child: child, UID: live.GetUID(), Version: live.GetResourceVersion(), Drift: drift, Removals: child.Removals(live),
	}, true
}

// Properties of Apply. An outdated plan, for example of an operator that was suspended, must not write a StatefulSet. The operator
// must not create one with fewer replicas than members that run. It creates nothing for a cluster that may no longer exist. It changes
// no object without an owner for such a cluster: the next cluster of the same name uses it. No pod waits for a ServiceAccount that the
// operator could not create: another owner may create it later.
func (a Apply) Properties() Properties {
	unowned := len(a.Object.GetOwnerReferences()) == 0
	return Properties{LiveRead: a.RecordsStoredSpec() || a.UID == "" || unowned, WhilePaused: a.Completes, First: a.Kind() == "ServiceAccount", Applies: true}
}

// Properties of MakeAgreement. Members must not start without it.
func (MakeAgreement) Properties() Properties { return Properties{LiveRead: true, Applies: true} }

// Properties of AdoptAgreements. Members must not start before it.
func (AdoptAgreements) Properties() Properties { return Properties{LiveRead: true} }

// Properties of Delete.
func (Delete) Properties() Properties { return Properties{LiveRead: true, WhileDeleting: true} }

func (a Apply) String() string {
	if a.UID == "" {
		return "create " + a.Child.String()
	}
	return "update " + a.Child.String() + " (" + a.Drift + ")"
}
func (m MakeAgreement) String() string { return "create " + m.Child.String() }
func (a AdoptAgreements) String() string {
	names := make([]string, 0, len(a.Agreements))
	for _, one := range a.Agreements {
		names = append(names, "ConfigMap "+one.Name)
	}
	return "adopt " + strings.Join(names, ", ")
}
func (d Delete) String() string            { return "delete " + Describe(d.Objects) }
func (RecreateStatefulSet) String() string { return "delete the StatefulSet and orphan its pods" }
