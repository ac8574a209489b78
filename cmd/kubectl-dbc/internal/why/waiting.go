/*
SPDX-License-Identifier: Apache-2.0
*/

package why

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Together is the cause why a cluster that is healthy itself needs attention because of its objects. One that only waits for the cluster
// comes last, and then what it waits for is the cause. The cause has the number of the other objects that need attention.
func Together(cluster *dbv1.DatabaseCluster, objects []Object) (cause Cause, found bool) {
	bad := slices.DeleteFunc(slices.Clone(objects), func(o Object) bool { return !o.NeedsAttention() })
	if len(bad) == 0 {
		return Cause{}, false
	}
	i := slices.IndexFunc(bad, func(o Object) bool { return !o.waits(cluster) })
	_, cause = bad[max(i, 0)].ExplainIn(cluster)
	cause.Others, cause.OthersCommand = len(bad)-1, command(theCluster, cluster)
	return cause, true
}

// ExplainIn returns the cause why an object is not as it should be. If it only waits for its cluster, that is what the cluster waits for.
func (o Object) ExplainIn(cluster *dbv1.DatabaseCluster) (Verdict, Cause) {
	if !o.waits(cluster) {
		return o.Explain()
	}
	verdict, cause := o.Explain()
	for _, other := range []*Cause{unhealthy(cluster), asleep(cluster), withoutJob(cluster)} {
		if other != nil {
			other.About = o.Kind + " " + o.Name + " waits for DatabaseCluster " + cluster.Name
			return Unhealthy, *other
		}
	}
	return verdict, cause
}

// waits reports whether a Database or a DatabaseUser waits for its cluster, or for a Job for all of them.
func (o Object) waits(cluster *dbv1.DatabaseCluster) bool {
	if verdict, _ := o.Explain(); verdict != Unhealthy || o.Kind != "Database" && o.Kind != "DatabaseUser" {
		return false
	}
	failed := cluster.Status.Objects != nil && cluster.Status.Objects.Message != ""
	ready := meta.FindStatusCondition(o.Conditions, dbv1.ConditionReady)
	stalled := meta.IsStatusConditionTrue(o.Conditions, dbv1.ConditionStalled)
	return !stalled && ready != nil && (ready.Reason == dbv1.ReasonObjectPending || failed && ready.Reason == dbv1.ReasonObjectFailed)
}

// unhealthy is the cause of a cluster that is not healthy; nil for none.
func unhealthy(cluster *dbv1.DatabaseCluster) *Cause {
	if verdict, cause := Explain(cluster); verdict == Unhealthy {
		return &cause
	}
	return nil
}

// asleep is the cause of a cluster that is hibernated; nil if it is not.
func asleep(cluster *dbv1.DatabaseCluster) *Cause {
	c := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionHibernated)
	if c == nil || c.Status != metav1.ConditionTrue {
		return nil
	}
	return &Cause{Condition: *c, Page: hibernation, Command: command("kubectl dbc -n NS wake NAME", cluster)}
}

// withoutJob is why no Job puts databases and users in force: the last one failed, or none can start; nil for no such cause.
func withoutJob(cluster *dbv1.DatabaseCluster) *Cause {
	objects, message := cluster.Status.Objects, ""
	switch {
	case objects == nil:
	case objects.Waiting != "":
		message = "no Job puts databases and users in force: " + objects.Waiting
	case objects.Message != "":
		message = "the last Job for databases and users failed: " + objects.Message
	}
	if message == "" {
		return nil
	}
	of := Object{ObjectMeta: cluster.ObjectMeta, Cluster: cluster.Name}
	cause := of.cause(metav1.Condition{Message: message}, rule{page: declaredObjects, command: logsOf(dbv1.ComponentObjects)})
	return &cause
}
