/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// claim identifies the claim of a volume in the version that the pass has read.
func claim(s *situation.Situation, v state.Volume) *unstructured.Unstructured {
	return operation.Target{Kind: "PersistentVolumeClaim", Name: v.Claim, UID: v.UID, Version: v.Version}.In(s.Cluster.Namespace)
}

// setting sets a field of a claim.
func setting(s *situation.Situation, v state.Volume, what, value string, field ...string) operation.Patch {
	after := claim(s, v)
	objects.SetField(after.Object, value, field...)
	return operation.Patch{Before: claim(s, v), After: after, Text: what}
}

// Containing records other contents on a claim.
func Containing(s *situation.Situation, v state.Volume, contents state.Contents) operation.Patch {
	before, after := claim(s, v), claim(s, v)
	before.SetLabels(v.Labels())
	before.SetAnnotations(v.Annotations())
	after.SetLabels(contents.Labels())
	after.SetAnnotations(contents.Annotations())
	return operation.Patch{Before: before, After: after, Text: "PersistentVolumeClaim " + v.Claim}
}

// protecting adds or removes the label that makes the API server refuse to delete a claim.
func protecting(s *situation.Situation, v state.Volume, protect bool) operation.Patch {
	before, after := claim(s, v), claim(s, v)
	before.SetLabels(protection(!protect))
	after.SetLabels(protection(protect))
	what := "remove the protection of PersistentVolumeClaim " + v.Claim
	if protect {
		what = "protect PersistentVolumeClaim " + v.Claim
	}
	return operation.Patch{Before: before, After: after, Text: what}
}

// protection is never nil: a patch from some labels to nil would remove all labels of the claim.
func protection(on bool) map[string]string {
	if !on {
		return map[string]string{}
	}
	return map[string]string{dbv1.LabelProtected: "true"}
}
