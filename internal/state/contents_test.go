/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestContentsRecordedOnAClaimAreReadFromIt(t *testing.T) {
	for _, contents := range []Contents{
		{}, {Cluster: "uid"}, {Cluster: "uid", Engine: "ledger-v1"}, {Cluster: "uid", Primary: "orders-2"},
		{Cluster: "uid", Voters: 5}, {Cluster: "uid", Fill: Filling, From: "restore"}, {Cluster: "uid", Engine: "ledger-v1", Fill: Filled, From: "s3://backups/one"},
	} {
		claim := &corev1.PersistentVolumeClaim{}
		claim.Labels, claim.Annotations = contents.Labels(), contents.Annotations()
		if claim.Labels == nil || claim.Annotations == nil {
			t.Errorf("%+v: a patch to nil removes what others wrote", contents)
		}
		if got := ContentsOf(claim); got != contents {
			t.Errorf("got %+v, want %+v", got, contents)
		}
	}
}

func TestANumberOfVotersThatIsNoneIsUnknown(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	for text, want := range map[string]int32{"": 0, "5": 5, "9": 9, "10": 0, "0": 0, "-3": 0, "three": 0, "99999999999": 0} {
		claim.Annotations = map[string]string{dbv1.AnnotationVoters: text}
		if got := ContentsOf(claim).Voters; got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestAClaimThatIsBeingFilledIsNotFilled(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Annotations = map[string]string{dbv1.AnnotationRestoring: "restore", dbv1.AnnotationRestored: "s3://backups/one"}
	if got := ContentsOf(claim); got.Fill != Filling || got.From != "restore" {
		t.Errorf("%+v", got)
	}
}
