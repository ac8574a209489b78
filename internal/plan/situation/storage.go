/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Desired is the size of the volumes of a cluster: that of its spec, or the one to which the operator has decided to grow them. A new
// member gets it, too, because it copies the data of the others.
func Desired(cluster *dbv1.DatabaseCluster) resource.Quantity {
	size, decided := cluster.Spec.Storage.Size, cluster.Status.Storage
	if decided != nil && decided.Growth != nil && decided.Growth.Size.Cmp(size) > 0 && !pods.Ephemeral(cluster) {
		return decided.Growth.Size
	}
	return size
}

// Decided gives a spec the size and the resources that the operator has decided for a cluster.
func Decided(spec *dbv1.DatabaseClusterSpec, cluster *dbv1.DatabaseCluster) {
	spec.Storage.Size, spec.Resources = Desired(cluster), Requested(cluster)
}

// OtherSize reports whether a claim must request another size. A volume never shrinks: a smaller request only gives up an expansion that
// has not succeeded. A claim that is not bound cannot be changed.
func (s *Situation) OtherSize(v state.Volume) bool {
	size := s.Cluster.Spec.Storage.Size
	grow := v.Requested.Cmp(size) < 0
	giveUp := v.Requested.Cmp(size) > 0 && v.Capacity.Cmp(size) < 0
	return !v.Terminating && !v.Capacity.IsZero() && (grow || giveUp)
}

// CannotGrow reports whether a volume cannot get the size that the spec asks for.
func (s *Situation) CannotGrow(v state.Volume) bool {
	return v.Infeasible && v.Capacity.Cmp(s.Cluster.Spec.Storage.Size) < 0
}

// OtherClass reports whether a claim must name another VolumeAttributesClass. Kubernetes refuses to change a claim that is not bound.
func (s *Situation) OtherClass(v state.Volume) bool { return !v.Terminating && s.unlike(v, v.Class) }

// OtherAttributes reports whether a volume does not have the attributes of the spec's class yet.
func (s *Situation) OtherAttributes(v state.Volume) bool { return s.unlike(v, v.CurrentClass) }

// unlike is false for any class if the spec names none.
func (s *Situation) unlike(v state.Volume, class string) bool {
	wanted := s.Cluster.Spec.Storage.VolumeAttributesClassName
	return wanted != "" && !v.Capacity.IsZero() && class != wanted
}

// UnsettledClaims reports whether claims in use do not request what the spec asks for yet, or cannot get it.
func (s *Situation) UnsettledClaims() bool {
	return s.NoAttributesClasses || slices.ContainsFunc(s.InUse(), func(v state.Volume) bool {
		return s.OtherSize(v) || s.OtherClass(v) || s.CannotGrow(v) || v.Unmodifiable && s.OtherAttributes(v)
	})
}

// OtherClaims reports whether the StatefulSet creates claims of another size than the spec's, or of another
// VolumeAttributesClass that the API server is known to store.
func (s *Situation) OtherClaims() bool {
	if s.StatefulSet == nil {
		return false
	}
	template, storage := resources.ClaimTemplate(s.StatefulSet), s.Cluster.Spec.Storage
	if template == nil {
		return false
	}
	class := ""
	if template.VolumeAttributesClassName != nil {
		class = *template.VolumeAttributesClassName
	}
	stored := storage.VolumeAttributesClassName == "" ||
		slices.ContainsFunc(s.InUse(), func(v state.Volume) bool { return v.Class == storage.VolumeAttributesClassName })
	return template.Resources.Requests.Storage().Cmp(storage.Size) != 0 || class != storage.VolumeAttributesClassName && stored
}
