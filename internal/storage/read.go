/*
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// read asks the API server whether it serves VolumeAttributesClasses. If it does not, it also drops
// their names from claims.
func read(_ context.Context, o *subject.ClusterReading) {
	if o.Err != nil || o.Cluster.Spec.Storage.VolumeAttributesClassName == "" {
		return
	}
	kind := schema.GroupKind{Group: storagev1.GroupName, Kind: "VolumeAttributesClass"}
	_, err := o.Kinds.RESTMapping(kind)
	switch {
	case meta.IsNoMatchError(err):
		o.NoAttributesClasses = true
	case err != nil:
		o.Err = fmt.Errorf("look up the kind %s: %w", kind, err)
	}
}
