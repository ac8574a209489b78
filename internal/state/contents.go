/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

// Contents is the owner, the engine, the last primary and the voters of the data on a claim. Only this file knows how the claim's metadata
// records it.
type Contents struct {
	// Cluster is the UID of the DatabaseCluster that the claim was created for, or that adopted it; "" for none.
	Cluster types.UID
	// Engine is the engine that wrote the data; "" if none is recorded.
	Engine string
	// Primary is the pod that has every acknowledged write: see Latest. Term is the term of the lock with which it was the primary.
	// Both are "" if none is recorded. Only claim 0 records them.
	Primary, Term string
	// NeededSince is the Uptime since when each write needs all members that exist; "" if it may need others. It counts only with the Term.
	NeededSince string
	// Voters is how many members the membership may have: those with lower ordinals. It is 0 if that is unknown. Each claim
	// records it.
	Voters int32
	// Fill is the source of the data, and From its name: the ID of the restore while it is Filling, the location of the backup
	// after it is Filled.
	Fill Fill
	From string
}

// Fill is the progress of the restore into a volume.
type Fill int

const (
	// Plain volumes contain data that members wrote, or nothing.
	Plain Fill = iota
	// Filling volumes contain only part of a backup: no member has started with one.
	Filling
	// Filled volumes contain the whole backup, and data that members have written since.
	Filled
)

// Initialized is the From of a volume whose data the engine has created.
const Initialized = "initialize"

// ContentsOf returns the contents that the metadata of a claim records.
func ContentsOf(claim metav1.Object) Contents {
	notes := claim.GetAnnotations()
	c := Contents{
		Cluster: types.UID(claim.GetLabels()[dbv1.LabelClusterUID]), Engine: notes[dbv1.AnnotationEngine], Primary: notes[dbv1.AnnotationPrimary],
		Term: notes[dbv1.AnnotationPrimaryTerm], NeededSince: notes[dbv1.AnnotationNeededSince],
		Voters: votersOf(notes[dbv1.AnnotationVoters]),
	}
	if from := notes[dbv1.AnnotationRestoring]; from != "" {
		c.Fill, c.From = Filling, from
	} else if from := notes[dbv1.AnnotationRestored]; from != "" {
		c.Fill, c.From = Filled, from
	}
	return c
}

// votersOf reads a number of members; 0 if it is none.
func votersOf(text string) int32 {
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil || number < 0 || number > int64(engine.MaxReplicas) {
		return 0
	}
	return int32(number)
}

func votersText(voters int32) string {
	if voters == 0 {
		return ""
	}
	return strconv.Itoa(int(voters))
}

// ContentsAnnotations are the annotations that ContentsOf reads.
var ContentsAnnotations = []string{
	dbv1.AnnotationEngine, dbv1.AnnotationPrimary, dbv1.AnnotationPrimaryTerm, dbv1.AnnotationNeededSince, dbv1.AnnotationVoters,
	dbv1.AnnotationRestoring, dbv1.AnnotationRestored,
}

// Annotations record the contents on a claim. They are never nil: a patch from some annotations to nil would also remove
// annotations of others.
func (c Contents) Annotations() map[string]string {
	key := map[Fill]string{Filling: dbv1.AnnotationRestoring, Filled: dbv1.AnnotationRestored}[c.Fill]
	all := map[string]string{}
	for key, value := range map[string]string{
		dbv1.AnnotationEngine: c.Engine, dbv1.AnnotationPrimary: c.Primary, dbv1.AnnotationPrimaryTerm: c.Term,
		dbv1.AnnotationNeededSince: c.NeededSince, dbv1.AnnotationVoters: votersText(c.Voters), key: c.From,
	} {
		if key != "" && value != "" {
			all[key] = value
		}
	}
	return all
}

// Labels record the owner on a claim. They are never nil, either.
func (c Contents) Labels() map[string]string {
	if c.Cluster == "" {
		return map[string]string{}
	}
	return map[string]string{dbv1.LabelClusterUID: string(c.Cluster)}
}
