/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Contents is whose data a claim holds. Only this file knows how a claim's metadata records it.
type Contents struct {
	// Cluster is the UID of the DatabaseCluster that the claim was created for, or that adopted it; "" for none.
	Cluster types.UID
	// Engine is the engine that wrote the data; "" where none is recorded.
	Engine string
	// Fill says where the data came from, and From names it: the restore while it is Filling, the location of the backup
	// once it is Filled.
	Fill Fill
	From string
}

// Fill says how far the contents of a volume are.
type Fill int

const (
	// Plain volumes hold what members wrote, or nothing.
	Plain Fill = iota
	// Filling volumes hold a part of a backup and nothing else: no member has started with one.
	Filling
	// Filled volumes hold the whole of a backup, and what members have written since.
	Filled
)

// ContentsOf reads the contents from the metadata of a claim.
func ContentsOf(claim metav1.Object) Contents {
	notes := claim.GetAnnotations()
	c := Contents{Cluster: types.UID(claim.GetLabels()[dbv1.LabelClusterUID]), Engine: notes[dbv1.AnnotationEngine]}
	if from := notes[dbv1.AnnotationRestoring]; from != "" {
		c.Fill, c.From = Filling, from
	} else if from := notes[dbv1.AnnotationRestored]; from != "" {
		c.Fill, c.From = Filled, from
	}
	return c
}

// ContentsAnnotations are the annotations that ContentsOf reads.
var ContentsAnnotations = []string{dbv1.AnnotationEngine, dbv1.AnnotationRestoring, dbv1.AnnotationRestored}

// Annotations record the contents on a claim. They are never nil: a patch from some annotations to none at all would remove
// those of others, too.
func (c Contents) Annotations() map[string]string {
	key := map[Fill]string{Filling: dbv1.AnnotationRestoring, Filled: dbv1.AnnotationRestored}[c.Fill]
	all := map[string]string{}
	for key, value := range map[string]string{dbv1.AnnotationEngine: c.Engine, key: c.From} {
		if key != "" && value != "" {
			all[key] = value
		}
	}
	return all
}

// Labels record the owner on a claim. They are never nil either.
func (c Contents) Labels() map[string]string {
	if c.Cluster == "" {
		return map[string]string{}
	}
	return map[string]string{dbv1.LabelClusterUID: string(c.Cluster)}
}
