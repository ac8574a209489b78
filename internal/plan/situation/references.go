/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// EngineKnown tells whether all is known that the spec leaves to its engine.
func (s *Situation) EngineKnown() bool { return s.Cluster.Spec.Engine == "" || s.Engine != nil }

// incompatible is why the spec and its engine do not fit each other. What a cluster starts with matters until there are
// members.
func (s *Situation) incompatible() *Stall {
	if s.EngineUnreadable != "" {
		return &Stall{dbv1.ReasonEngineMissing, fmt.Sprintf(
			"DatabaseEngine %s, which spec.engine names, cannot be read: %s. Grant the operator permission to get databaseengines",
			s.Cluster.Spec.Engine, s.EngineUnreadable)}
	}
	asked := *s.Cluster
	hasMembers := s.StatefulSet != nil || s.PreviousStatefulSet != nil
	if hasMembers {
		asked.Spec.Bootstrap = nil
	}
	if reason, message := engine.Refusal(&asked, s.Engine, hasMembers); reason != "" {
		return &Stall{reason, message}
	}
	for _, r := range s.References {
		if r.Kind != "Secret" || r.Name != s.Cluster.Spec.Credentials.SecretName || !r.Found {
			continue
		}
		if message := engine.KeyProblem(s.Cluster, s.Engine, r.Keys, r.Empty); message != "" {
			return &Stall{dbv1.ReasonSecretIncomplete, message}
		}
	}
	return nil
}

// unusable is why no pod can be created from the spec: what it names does not exist, or does not fit the rest.
func (s *Situation) unusable() *Stall {
	absent := s.Missing()
	if len(absent) == 0 || !s.EngineKnown() {
		return s.Incompatible
	}
	return &Stall{dbv1.ReasonReferenceMissing, DescribeMissing(absent)}
}

// Missing are the Secrets and ConfigMaps that pods cannot start without and that do not exist.
func (s *Situation) Missing() []state.Reference {
	return state.Only(s.References, func(r state.Reference) bool { return !r.Found && !r.Optional })
}

// TemplateBlocked tells whether the StatefulSet has to stay as it is because a pod made from the spec could not start,
// or would start otherwise than its engine says. Where only a Secret or ConfigMap is missing, members without a
// StatefulSet get one all the same.
func (s *Situation) TemplateBlocked() bool {
	return s.Incompatible != nil || len(s.Missing()) > 0 && (s.StatefulSet != nil || len(s.Members) == 0)
}

// DescribeMissing names objects that do not exist and the fields that name them.
func DescribeMissing(all []state.Reference) string {
	texts := make([]string, 0, len(all))
	for _, r := range all {
		texts = append(texts, fmt.Sprintf("%s %s, which %s names, does not exist", r.Kind, r.Name, r.Where))
	}
	return strings.Join(texts, "; ")
}
