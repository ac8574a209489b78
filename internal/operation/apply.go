/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Apply creates or updates an object.
type Apply struct {
	Work
	objects.Child
	// UID and Version are those of the live object; "" if it does not exist.
	UID     types.UID
	Version string
	// Removals are the JSON patch operations that remove fields owned by others before the apply; nil for none.
	Removals []objects.PatchOperation
}

// ApplyOf is the write of an object over the live one, if it differs; live is a nil pointer if it does not exist.
func ApplyOf(child objects.Child, live metav1.Object) (apply Apply, needed bool) {
	if reflect.ValueOf(live).IsNil() {
		return Apply{Work: Work{Is: applies(child, true), Text: "create " + child.String()}, Child: child}, true
	}
	drift := child.Drift(live)
	if drift == "" {
		return Apply{}, false
	}
	apply = Apply{
		Work:  Work{Is: applies(child, false), Text: "update " + child.String() + " (" + drift + ")"},
		Child: child, UID: live.GetUID(), Version: live.GetResourceVersion(), Removals: child.Removals(live),
	}
	if len(apply.Removals) == 0 {
		apply.Child = child.RecordingGeneration(live)
	}
	return apply, true
}

func (a Apply) String() string { return a.Text }

// applies are the properties of Apply. An outdated plan, for example of an operator that was suspended, must not write a StatefulSet. The
// operator must not create one with fewer replicas than members that run. It creates nothing for a cluster that may no longer exist. It
// changes no object without an owner for such a cluster: the next cluster of the same name uses it. No pod waits for a ServiceAccount that
// the operator could not create: another owner may create it later.
func applies(child objects.Child, creates bool) Properties {
	unowned := len(child.Object.GetOwnerReferences()) == 0
	return Properties{LiveRead: child.RecordsStoredSpec() || creates || unowned, First: child.Kind() == "ServiceAccount", Applies: true}
}
