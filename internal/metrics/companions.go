/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

// companionGauges are the metrics of a DatabaseCompanion. Alerts need the name of its cluster.
var companionGauges = []gauge[*dbv1.DatabaseCompanion]{
	ofCompanions("spec_replicas", "Desired number of pods in spec.replicas.", nil, desired),
	ofCompanions("status_ready_replicas", "Pods that are ready.", nil,
		func(c *dbv1.DatabaseCompanion) []sample { return one(float64(c.Status.ReadyReplicas)) }),
	ofCompanions("status_condition",
		"1 for the current status of a condition, 0 for the other status. Absent while the companion does not have the condition.",
		[]string{"type", "status"},
		func(c *dbv1.DatabaseCompanion) []sample {
			return samplesOf(c.Status.Conditions, dbv1.CompanionConditions)
		}),
}

// ofCompanions is a metric with the name of the cluster as a label. A companion that is being deleted has no series: its pods serve until
// Kubernetes deletes them.
func ofCompanions(name, help string, labels []string, samples func(*dbv1.DatabaseCompanion) []sample) gauge[*dbv1.DatabaseCompanion] {
	return gaugeOf("databasecompanion_"+name, help, append([]string{"cluster"}, labels...), func(c *dbv1.DatabaseCompanion) []sample {
		if c.DeletionTimestamp != nil {
			return nil
		}
		all := samples(c)
		for i := range all {
			all[i].labels = append([]string{c.Spec.ClusterRef.Name}, all[i].labels...)
		}
		return all
	})
}

func desired(c *dbv1.DatabaseCompanion) []sample {
	if c.Spec.Replicas == nil { // the API server sets the default
		return nil
	}
	return one(float64(*c.Spec.Replicas))
}
