/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// EngineKnown reports whether every value that the spec leaves to its engine is known.
func (s *Situation) EngineKnown() bool {
	return s.Engine != nil || s.Cluster.Spec.Engine == "" && s.Change == nil
}

// KeepsMembers reports whether no member may be removed because of the engine. One that is unknown may require a hand-over, or that a
// member leaves the membership. A hibernation does not depend on the number of members.
func (s *Situation) KeepsMembers() bool {
	number := s.Incompatible != nil && s.Incompatible.Reason == dbv1.ReasonInvalidReplicas
	return !s.Deleting() && (!s.EngineKnown() || number && s.Wanted > 0)
}

// incompatible is why the spec and its engine are incompatible.
func (s *Situation) incompatible() *Stall {
	if stall := s.refused(); stall != nil {
		return stall
	}
	for _, r := range s.References {
		if r.Kind != "Secret" || r.Name != s.Cluster.Spec.Credentials.SecretName || !r.Found || s.CredentialsPending() {
			continue
		}
		if message := engine.KeyProblem(s.Cluster, s.Engine, r.Keys, r.Empty, r.Unusable, r.Sizes); message != "" {
			return &Stall{dbv1.ReasonSecretIncomplete, message}
		}
	}
	return s.certificateProblem()
}

// refused is why the engine refuses the spec, or the data refuses the engine. The bootstrap source matters only until the cluster has
// members.
func (s *Situation) refused() *Stall {
	asked := *s.Cluster
	hasMembers := s.StatefulSet != nil || s.PreviousStatefulSet != nil
	if hasMembers {
		asked.Spec.Bootstrap = nil
	}
	reason, message := engine.Refusal(&asked, s.Engine, hasMembers)
	switch {
	case s.EngineUnreadable != "":
		return &Stall{dbv1.ReasonEngineMissing, fmt.Sprintf(
			"DatabaseEngine %s, which spec.engine names, cannot be read: %s. Grant the operator permission to get databaseengines",
			s.Declared.Spec.Engine, s.EngineUnreadable)}
	case s.Change != nil:
		reason, message = s.Change.Refusal()
	}
	if reason == "" {
		return nil
	}
	return &Stall{reason, message}
}

// unusable is why no pod can be created from the spec: a referenced object does not exist, or is incompatible.
func (s *Situation) unusable() *Stall {
	absent := s.Missing()
	if len(absent) == 0 || !s.EngineKnown() || s.Change != nil {
		return s.Incompatible
	}
	return &Stall{dbv1.ReasonReferenceMissing, DescribeMissing(absent)}
}

// Missing returns the Secrets and ConfigMaps that do not exist and without which pods cannot start. It excludes generated Secrets,
// which the operator creates.
func (s *Situation) Missing() []pods.Reference {
	return state.Only(s.References, func(r pods.Reference) bool {
		generated := s.GeneratesCredentials() && r.Kind == "Secret" && r.Name == s.Cluster.Spec.Credentials.SecretName
		return !r.Found && !r.Optional && !generated
	})
}

// Awaited describes the Secret that members have to wait for although the user does not create it; "" for none.
func (s *Situation) Awaited() string {
	if s.CredentialsPending() {
		return fmt.Sprintf("members wait for Secret %s with generated credentials", naming.Credentials(s.Cluster.Name))
	}
	return s.CertificatePending()
}

// TemplateBlocked reports whether the StatefulSet must not change, because a new pod could not start, or would not match its
// engine. If only a Secret or ConfigMap is missing, members without a StatefulSet still get one.
func (s *Situation) TemplateBlocked() bool {
	return s.Incompatible != nil || s.Awaited() != "" || len(s.Missing()) > 0 && (s.StatefulSet != nil || len(s.Members) == 0)
}

// DescribeMissing describes objects that do not exist and the fields that name them.
func DescribeMissing(all []pods.Reference) string {
	texts := make([]string, 0, len(all))
	for _, r := range all {
		texts = append(texts, fmt.Sprintf("%s %s, which %s names, does not exist", r.Kind, r.Name, r.Where))
	}
	return strings.Join(texts, "; ")
}
