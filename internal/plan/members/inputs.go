/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// inputs are all that the writes of a pass depend on. The numbers of members, conditions, pods and claims are not among them, so most
// passes of a cluster have the same inputs as the pass before.
type inputs struct {
	Demand      demand
	Metadata    metav1.ObjectMeta
	Spec        *dbv1.DatabaseClusterSpec
	Untouched   bool
	EngineKnown bool
	Roles       *dbv1.EngineRoles
	References  []pods.Reference
	Foreign     []state.Ref
	Account     bool
	Live        []version
}

// hash of the inputs.
func (d demand) hash(s *situation.Situation) string {
	c, live := s.Cluster, s.Observed
	all := inputs{
		Demand: d,
		Metadata: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, UID: c.UID, Generation: c.Generation, Labels: c.Labels,
			Annotations: c.Annotations},
		Spec: &c.Spec, Untouched: live.StatefulSet != nil && objects.Untouched(c.Status.StatefulSet, live.StatefulSet),
		EngineKnown: s.EngineKnown(), References: s.References, Foreign: s.Foreign, Account: s.ServiceAccount != nil,
		Live: []version{
			of(live.HeadlessService), of(live.Service), of(live.ReplicasService), of(live.PodDisruptionBudget), of(live.StatefulSet),
		},
	}
	if s.Engine != nil { // the spec in force has the other declarations
		all.Roles = s.Engine.Spec.Roles
	}
	for _, config := range live.Configs {
		all.Live = append(all.Live, of(config))
	}
	return objects.Hash(all)
}

// version identifies a live object without its status; it is empty for an object that does not exist.
type version struct {
	UID, Version        string
	Labels, Annotations map[string]string
	Owners              []metav1.OwnerReference
}

// of returns the version of an object. The API server counts the changes of a spec as generations, but not of Services and ConfigMaps.
func of[T any, Object interface {
	*T
	metav1.Object
}](object Object) version {
	if object == nil {
		return version{}
	}
	switch any(object).(type) {
	case *appsv1.StatefulSet, *policyv1.PodDisruptionBudget:
		return version{
			UID: string(object.GetUID()), Version: strconv.FormatInt(object.GetGeneration(), 10),
			Labels: object.GetLabels(), Annotations: object.GetAnnotations(), Owners: object.GetOwnerReferences(),
		}
	default:
		return version{UID: string(object.GetUID()), Version: object.GetResourceVersion()}
	}
}
