/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

// obstacle is why the operator starts no rollout now. The pods keep their template.
type obstacle struct {
	reason, message string
	// stalled is true if an action of the user is required.
	stalled bool
}

func stalled(reason, format string, args ...any) *obstacle {
	return &obstacle{reason: reason, message: fmt.Sprintf(format, args...), stalled: true}
}

func pending(format string, args ...any) *obstacle {
	return &obstacle{reason: dbv1.ReasonObjectPending, message: fmt.Sprintf(format, args...)}
}

// obstacleOf is nil if nothing prevents a rollout.
func obstacleOf(companion *dbv1.DatabaseCompanion, seen CompanionFacts) *obstacle {
	switch cluster := seen.Cluster; {
	case cluster != nil && cluster.DeletionTimestamp != nil:
		return pending("DatabaseCluster %s is being deleted. The pods continue, and the operator does not change their template", cluster.Name)
	case cluster != nil && len(seen.Foreign) > 0:
		return stalled(dbv1.ReasonNameConflict, "%s %s exists but does not belong to this DatabaseCompanion: delete it, or create a "+
			"DatabaseCompanion with another name", seen.Foreign[0], companion.Name)
	}
	if o := missing(companion, seen); o != nil {
		return o
	}
	return uncertified(companion, seen)
}

// missing is nil if the operator knows everything of which the pods are rendered.
func missing(companion *dbv1.DatabaseCompanion, seen CompanionFacts) *obstacle {
	name := companion.Spec.ClusterRef.Name
	switch cluster := seen.Cluster; {
	case cluster == nil && seen.Deployment != nil:
		return stalled(dbv1.ReasonClusterMissing, "DatabaseCluster %s no longer exists. The pods continue, and the operator does not change "+
			"their template. Delete this DatabaseCompanion, or create the cluster again", name)
	case cluster == nil:
		return stalled(dbv1.ReasonClusterMissing, "DatabaseCluster %s, which spec.clusterRef names, does not exist. Create it, or another "+
			"DatabaseCompanion with the correct name", name)
	case cluster.Spec.Engine != "" && seen.Engine == nil:
		return stalled(dbv1.ReasonEngineMissing, "DatabaseEngine %s of DatabaseCluster %s does not exist. Create it", cluster.Spec.Engine, name)
	case companion.Spec.Companion != "":
		return undeclared(companion, seen)
	default:
		return unbound(companion, seen)
	}
}

// undeclared is why a companion of the engine cannot run.
func undeclared(companion *dbv1.DatabaseCompanion, seen CompanionFacts) *obstacle {
	c := engine.Companion(seen.Engine, companion.Spec.Companion)
	if c == nil {
		return stalled(dbv1.ReasonFieldUnsupported, "spec.companion is %s, but %s. Create a DatabaseCompanion with one of them, or with an "+
			"image of your own", companion.Spec.Companion, offer(seen))
	}
	if text := engine.CompanionProblem(seen.Engine, c); text != "" {
		return stalled(dbv1.ReasonInvalidEngine, "%s", text)
	}
	if text := engine.CompanionParameterProblem(seen.Engine.Name, c, given(companion)); text != "" {
		return stalled(dbv1.ReasonInvalidParameter, "%s", text)
	}
	for _, key := range c.SecretKeys {
		if !slices.Contains(seen.CredentialKeys, key) {
			return stalled(dbv1.ReasonSecretIncomplete, "Secret %s with the credentials of DatabaseCluster %s has no key %s, which the "+
				"companion %s needs: add the key to the Secret", seen.Cluster.Spec.Credentials.SecretName, seen.Cluster.Name, key, c.Name)
		}
	}
	return nil
}

// offer lists the companions of the engine.
func offer(seen CompanionFacts) string {
	if seen.Engine == nil {
		return fmt.Sprintf("DatabaseCluster %s has no engine", seen.Cluster.Name)
	}
	names := make([]string, 0, len(seen.Engine.Spec.Companions))
	for _, c := range seen.Engine.Spec.Companions {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return fmt.Sprintf("DatabaseEngine %s has %s", seen.Engine.Name, cmp.Or(strings.Join(names, ", "), "no companions"))
}

// unbound is why an application has no connection Secret.
func unbound(companion *dbv1.DatabaseCompanion, seen CompanionFacts) *obstacle {
	connection := companion.Spec.Connection
	switch {
	case connection.Form == dbv1.ConnectionNone:
		return nil
	case connection.UserRef != nil:
		return withoutUser(connection.UserRef.Name, seen)
	case seen.Engine == nil || seen.Engine.Spec.Connection == nil:
		return stalled(dbv1.ReasonFieldUnsupported, "DatabaseCluster %s has no connection Secret, because its engine does not describe one. Set "+
			"spec.connection.form to None", seen.Cluster.Name)
	case seen.Binding.Name == "":
		return pending("DatabaseCluster %s has no connection Secret yet", seen.Cluster.Name)
	default:
		return nil
	}
}

// withoutUser is why an application cannot connect as a DatabaseUser.
func withoutUser(name string, seen CompanionFacts) *obstacle {
	switch {
	case seen.User == nil:
		return stalled(dbv1.ReasonReferenceMissing, "DatabaseUser %s, which spec.connection.userRef names, does not exist. Create it", name)
	case seen.User.Spec.ClusterRef.Name != seen.Cluster.Name:
		return stalled(dbv1.ReasonFieldUnsupported, "DatabaseUser %s, which spec.connection.userRef names, is of DatabaseCluster %s. Name one "+
			"of %s", name, seen.User.Spec.ClusterRef.Name, seen.Cluster.Name)
	case seen.Binding.Name == "":
		return pending("DatabaseUser %s has no Secret yet", name)
	default:
		return nil
	}
}
