/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"slices"
	"strings"
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// The kinds of the actions that may disturb members.
var (
	// HandOverAction has few attempts: another one helps only if members have changed meanwhile, so the operator starts it.
	HandOverAction = jobs.ActionKind{
		Component: dbv1.ComponentHandOver, Retries: 2, Deadline: jobs.Within(10 * time.Minute), Supersede: jobs.SupersedeFailed, Connects: true,
	}
	MemberRemoveAction = jobs.ActionKind{
		Component: dbv1.ComponentMemberRemove, Retries: 6, Deadline: jobs.Within(time.Hour), Supersede: jobs.SupersedeFailed, Connects: true,
	}
	ConfigureAction = jobs.ActionKind{
		Component: dbv1.ComponentConfigure, Retries: 3, Deadline: jobs.Within(time.Hour), Supersede: jobs.SupersedeFailed, Connects: true,
	}
	// MemberActions are all of them.
	MemberActions = []jobs.ActionKind{HandOverAction, MemberRemoveAction, ConfigureAction}
)

// HandOver asks for another primary than Member.
type HandOver struct {
	Member int32
	// To are the members that may become the primary, the best one first; none if any may.
	To []int32
	// Name of the Job; see naming.HandOverJob.
	Name string
	// Members is how many members exist.
	Members int32
	// Companions is true if the cluster has the Service of the companions whose clients can be paused.
	Companions bool
}

// handOverKeptSeconds is how long the Job of a hand-over is kept. Each rollout has one.
const handOverKeptSeconds = 60 * 60

// HandOverJob makes sure that a member is not the primary. In a deletion it has no owner: Kubernetes would delete it at once if the
// deletion is a foreground one.
func HandOverJob(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, h HandOver) objects.Child {
	action := jobs.Spec{
		Name: h.Name, Kind: HandOverAction, Command: declared.Spec.Actions.HandOver.Command,
		Member: &h.Member, Members: h.Members, KeptSeconds: handOverKeptSeconds, Variables: companions(cluster, h.Companions),
	}
	if len(h.To) > 0 {
		var hosts []string
		for _, ordinal := range h.To {
			hosts = append(hosts, naming.MemberHost(cluster.Name, ordinal))
		}
		action.Variables = append(action.Variables, pods.Variable("DBC_TARGET", hosts[0]), pods.Variable("DBC_TARGETS", strings.Join(hosts, " ")))
	}
	if cluster.DeletionTimestamp == nil {
		action.Owner = objects.OwnedBy(cluster)
	}
	return jobs.Build(cluster, action)
}

// companions are where an action finds the companions whose clients it can pause. Without their Service, its name may lead to other pods.
func companions(cluster *dbv1.DatabaseCluster, exist bool) []*corev1ac.EnvVarApplyConfiguration {
	if !exist {
		return nil
	}
	host := naming.ServiceHost(naming.Companions(cluster.Name), cluster.Namespace)
	return []*corev1ac.EnvVarApplyConfiguration{pods.Variable("DBC_COMPANIONS_HOST", host)}
}

// MemberRemoveJob removes a member from the list that the others keep. The parts identify the removal.
func MemberRemoveJob(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, ordinal int32, parts ...string) objects.Child {
	return jobs.Build(cluster, jobs.Spec{
		Name:    naming.MemberRemoveJob(cluster.Name, ordinal, parts...),
		Kind:    MemberRemoveAction,
		Owner:   objects.OwnedBy(cluster),
		Command: declared.Spec.Actions.MemberRemove.Command,
		Member:  &ordinal,
	})
}

// Configure are what the action configure needs besides the spec.
type Configure struct {
	References []pods.Reference
	// Changed is the last change by another client: see Configuration.
	Changed string
	// Members is how many members exist. The parameters have to be correct for the number in the spec.
	Members int32
	// Companions is as in HandOver.
	Companions bool
}

// ConfigureJob puts parameters and passwords in force on the running members.
func ConfigureJob(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, c Configure) objects.Child {
	return jobs.Build(cluster, jobs.Spec{
		Name:      naming.ConfigureJob(cluster.Name, Configuration(cluster, c.References, c.Changed)),
		Kind:      ConfigureAction,
		Owner:     objects.OwnedBy(cluster),
		Command:   declared.Spec.Actions.Configure.Command,
		Members:   c.Members,
		Variables: companions(cluster, c.Companions),
	})
}

// Configuration is a hash of all that the action configure puts in force: the engine, the parameters, the number of members
// and the contents of Secrets. It includes the last change by another client, because the action has to run again after it. TLS is not a
// part of it: the action could not connect with TLS before members have restarted.
func Configuration(cluster *dbv1.DatabaseCluster, references []pods.Reference, changed string) string {
	references = slices.DeleteFunc(slices.Clone(references), func(r pods.Reference) bool {
		return r.Kind == "Secret" && r.Name == engine.TLSSecret(cluster)
	})
	parts := []any{cluster.Spec.Engine, cluster.Spec.Parameters, cluster.Spec.Replicas, pods.ReferencesHash(cluster, references)}
	if changed != "" {
		parts = append(parts, changed)
	}
	if engine.Archives(cluster.Spec) {
		parts = append(parts, dbv1.ComponentArchive)
	}
	return objects.Hash(parts)
}
