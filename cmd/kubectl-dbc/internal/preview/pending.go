/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// hidden are the kinds that are not compared: Deployments and Certificates depend on settings of the operator, and a Secret has values that
// no terminal should show.
var hidden = map[string]bool{"Deployment": true, "Certificate": true, "Secret": true}

// Pending compares the objects of a cluster with those that the next pass of the operator would write.
func Pending(s *situation.Situation) Preview {
	decided := plan.For(s)
	var p Preview
	for _, o := range decided.Operations {
		a, applies := o.(operation.Apply)
		switch { // the name of an operation has no keys or passwords
		case applies && hidden[a.Kind()]:
		case applies:
			p.Differences = append(p.Differences, written(s, a))
		default:
			p.Differences = append(p.Differences, Difference{Kind: "Step", Name: o.String()})
		}
	}
	if decided.Stalled != nil {
		p.Unsettled = true
		p.Sentences = append(p.Sentences, stall(decided.Stalled))
	}
	switch {
	case decided.Reason != dbv1.ReasonUpToDate && decided.Reason != "":
		p.Unsettled = true
		p.Sentences = append(p.Sentences, fmt.Sprintf("The operator is in the step %s: %s.", decided.Reason, decided.Message))
	case !p.Changed():
		p.Sentences = append(p.Sentences, "No change.")
	}
	return p
}

// written is what a write changes: of the live object only the fields that the operator writes.
func written(s *situation.Situation, a operation.Apply) Difference {
	d := Difference{Kind: a.Kind(), Name: a.Name(), After: textOf(clean(a.Object))}
	if now := live(s, a.Kind(), a.Name()); now != nil {
		d.Before = textOf(shared(now, a.Object))
	}
	if d.Before == d.After { // a field that another client has added, or a record of the operator
		d.After += "# " + a.String() + "\n"
	}
	return d
}

// shared is the part of a live object that the operator writes.
func shared(now, written *unstructured.Unstructured) *unstructured.Unstructured {
	fields, _ := project(now.Object, written.Object).(map[string]any)
	fields["apiVersion"] = written.GetAPIVersion()
	return clean(&unstructured.Unstructured{Object: fields})
}

// project is the part of a value that another one has, too.
func project(value, like any) any {
	switch wanted := like.(type) {
	case map[string]any:
		have, _ := value.(map[string]any)
		part := map[string]any{}
		for key := range wanted {
			if inner, found := have[key]; found {
				part[key] = project(inner, wanted[key])
			}
		}
		return part
	case []any:
		have, _ := value.([]any)
		if len(have) != len(wanted) {
			return value
		}
		part := make([]any, len(have))
		for i := range have {
			part[i] = project(have[i], wanted[i])
		}
		return part
	default:
		return value
	}
}
