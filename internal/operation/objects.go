/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Objects is an operation on the objects that a cluster consists of: Apply, GenerateCredentials, Delete or
// RecreateStatefulSet.
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

// GenerateCredentials creates the Secret with generated credentials. If it exists, it gets the keys that it lacks, and the label of
// this cluster. Existing values never change.
type GenerateCredentials struct {
	ofObjects
	objects.Child
	// Live is the existing Secret. Keys are generated.
	Live state.Credentials
	Keys []engine.GeneratedKey
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
	Last
}

// Properties of Apply. An outdated plan, for example of an operator that was suspended, must not write a StatefulSet. The operator
// must not create one with fewer replicas than members that run. It creates nothing for a cluster that may no longer exist. It changes
// no object without an owner for such a cluster: the next cluster of the same name uses it. No pod waits for a ServiceAccount that the
// operator could not create: another owner may create it later.
func (a Apply) Properties() Properties {
	unowned := len(a.Object.GetOwnerReferences()) == 0
	return Properties{LiveRead: a.RecordsStoredSpec() || a.UID == "" || unowned, WhilePaused: a.Completes, First: a.Kind() == "ServiceAccount"}
}

// Properties of GenerateCredentials. Pods must not start without their Secret.
func (GenerateCredentials) Properties() Properties { return Properties{First: true, LiveRead: true} }

// Properties of MakeAgreement. Members must not start without it.
func (MakeAgreement) Properties() Properties { return Properties{LiveRead: true} }

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
func (g GenerateCredentials) String() string {
	names := make([]string, 0, len(g.Keys))
	for _, key := range g.Keys {
		names = append(names, key.Name)
	}
	switch {
	case !g.Live.Found():
		return fmt.Sprintf("create %s with generated %s", g.Child, strings.Join(names, ", "))
	case len(names) > 0:
		return fmt.Sprintf("add generated %s to %s", strings.Join(names, ", "), g.Child)
	default:
		return fmt.Sprintf("adopt %s of the previous cluster of the same name", g.Child)
	}
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
