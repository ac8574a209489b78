/*
SPDX-License-Identifier: Apache-2.0
*/

package restore_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestAnEngineRestoresTheBackupsThatItDeclares(t *testing.T) {
	cases := map[string]struct {
		databases int32
		engine    func(*dbv1.DatabaseEngine)
		want      string
		stalls    bool
	}{
		"of an engine in restoresFrom": {2, func(e *dbv1.DatabaseEngine) {
			e.Spec.RestoresFrom = []string{"single"}
		}, "creating the volumes", false},
		"of an engine that is not there": {2, func(e *dbv1.DatabaseEngine) {
			e.Spec.RestoresFrom = []string{"another"}
		}, `is a backup of engine "single", but spec.engine is "ledger"`, true},
		"of one database, for members of one database": {1, func(e *dbv1.DatabaseEngine) {
			e.Spec.RestoresFrom, e.Spec.Topology, e.Spec.Container.ReadinessProbe = []string{"single"}, dbv1.TopologyConsensus, &corev1.Probe{}
		}, "creating the volumes", false},
		"of two databases, for members of one database": {2, func(e *dbv1.DatabaseEngine) {
			e.Spec.RestoresFrom, e.Spec.Topology, e.Spec.Container.ReadinessProbe = []string{"single"}, dbv1.TopologyConsensus, &corev1.Probe{}
		}, `has 2 databases, one of each member of engine "single"`, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			observed := plans.Standing(t, cluster)
			beginsWith(cluster, &observed, bucket)
			cluster.Spec.Bootstrap.FromBackup = &dbv1.BackupSource{Name: "first"}
			c.engine(observed.Engine)
			observed.Restore.Backup = &dbv1.DatabaseBackup{Status: dbv1.DatabaseBackupStatus{
				Phase: dbv1.BackupCompleted, Replicas: c.databases, Engine: "single", Location: bucket,
				Destination: &dbv1.BackupDestination{URL: "s3://bucket", Region: "r", CredentialsSecretName: "keys"},
			}}
			todo := plans.Decide(cluster, observed)
			if !strings.Contains(todo.Message, c.want) || (todo.Stalled != nil) != c.stalls {
				t.Errorf("%s, want %q", plans.Text(todo), c.want)
			}
		})
	}
}
