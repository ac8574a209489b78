/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

// withEngine is a cluster whose engine configures its pods.
func withEngine() *dbv1.DatabaseCluster {
	user := int64(999)
	declared := &dbv1.DatabaseEngine{}
	declared.Spec.Container = dbv1.EngineContainer{
		Args: []string{"ledgerd", "--cache=$(DBC_PARAM_CACHE)"}, Env: []dbv1.EngineVariable{{Name: "HOME", Value: "$(DBC_DATA_DIR)/home"}},
		Port: 7000, RunAsUser: &user,
	}
	declared.Spec.Scripts = map[string]dbv1.EngineScript{"restore": "#!/bin/sh\nexec ledger load\n", "backup": "#!/bin/sh\nexec ledger dump\n"}
	declared.Spec.Parameters = []dbv1.EngineParameter{{Name: "cache", Default: "1MB"}}
	cluster := smallest()
	cluster.Spec.Container.Port, cluster.Spec.Engine, cluster.Spec.Credentials.SecretName = 0, "ledger-v1", "orders"
	cluster.Spec.Container.Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}}
	cluster.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "last", Type: dbv1.HookCommand, Command: []string{"ledger", "close"}}}
	return engine.Resolve(cluster, declared)
}

func TestTheFieldsOfAnEngineAreInThePods(t *testing.T) {
	golden.Compare(t, "engine.statefulset", StatefulSet(withEngine(), 3, state.Observed{}))
}

func TestChangesThatDoNotAffectPodsKeepTheTemplate(t *testing.T) {
	cases := map[string]func(*dbv1.DatabaseCluster){
		"backups":     func(c *dbv1.DatabaseCluster) { c.Spec.Backup = &dbv1.ClusterBackup{} },
		"a bootstrap": func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap = &dbv1.ClusterBootstrap{} },
		"protection":  func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true },
		"annotations of the generated ServiceAccount": func(c *dbv1.DatabaseCluster) {
			c.Spec.ServiceAccount.Annotations = map[string]string{"role": "other"}
		},
		"other variables": func(c *dbv1.DatabaseCluster) {
			c.Spec.Container.Env = append([]corev1.EnvVar{{Name: "DBC_NEXT"}}, c.Spec.Container.Env...)
		},
	}
	for name, change := range cases {
		cluster, before := withEngine(), withEngine()
		before.Spec.ServiceAccount.Annotations = map[string]string{"role": "first"}
		cluster.Spec.ServiceAccount = before.Spec.ServiceAccount
		change(cluster)
		if renderedFrom(cluster, nil) != renderedFrom(before, nil) {
			t.Errorf("%s: members would be restarted", name)
		}
	}
	for name, change := range map[string]func(*dbv1.DatabaseCluster){
		"a spread over nodes": func(c *dbv1.DatabaseCluster) { c.Spec.Scheduling.Spread.Nodes = dbv1.SpreadRequired },
		"a ServiceAccount":    func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Name = "databases" },
		"annotations of a first ServiceAccount": func(c *dbv1.DatabaseCluster) {
			c.Spec.ServiceAccount.Annotations = map[string]string{"role": "first"}
		},
		"a parameter": func(c *dbv1.DatabaseCluster) { c.Spec.Parameters["cache"] = "2MB" },
		"a script":    func(c *dbv1.DatabaseCluster) { c.Spec.Pod.Annotations[dbv1.AnnotationScripts+"backup"] = "x" },
		"the Secret":  func(c *dbv1.DatabaseCluster) { c.Spec.Credentials.SecretName = "other" },
	} {
		cluster := withEngine()
		change(cluster)
		if renderedFrom(cluster, nil) == renderedFrom(withEngine(), nil) {
			t.Errorf("%s: members would not learn of it", name)
		}
	}
}

// withScripts is a cluster of an engine whose members need start, with these texts of its scripts.
func withScripts(start, backup string) *dbv1.DatabaseCluster {
	declared := &dbv1.DatabaseEngine{}
	declared.Spec.Container.Scripts = []string{"start"}
	declared.Spec.Scripts = map[string]dbv1.EngineScript{"start": dbv1.EngineScript(start), "backup": dbv1.EngineScript(backup)}
	return engine.Resolve(engine.Resolve(smallest(), declared), declared)
}

func TestAChangedScriptRestartsOnlyMembersThatNeedIt(t *testing.T) {
	pod := func(c *dbv1.DatabaseCluster) string {
		return objects.Hash(objects.Fields(pods.Template(c, nil))) + renderedFrom(c, nil)
	}
	standing := pod(withScripts("#!/bin/sh\n", "#!/bin/sh\n"))
	if pod(withScripts("#!/bin/sh\n", "#!/bin/sh\ntrue\n")) != standing {
		t.Error("a script of an action restarts the members")
	}
	if pod(withScripts("#!/bin/sh\ntrue\n", "#!/bin/sh\n")) == standing {
		t.Error("members do not learn of their script")
	}
}

func TestMembersHaveTheirScriptsAndJobsHaveAll(t *testing.T) {
	cluster := withScripts("#!/bin/sh\n", "#!/bin/sh\nexec ledger dump\n")
	before := cluster.DeepCopy()
	member := golden.Live[appsv1.StatefulSet](t, StatefulSet(cluster, 3, state.Observed{})).Spec.Template
	job := golden.Live[batchv1.Job](t, jobs.Build(cluster, backupAction(false))).Spec.Template
	for _, c := range []struct {
		pod  corev1.PodTemplateSpec
		want []string
	}{{member, []string{"start"}}, {job, []string{"backup", "start"}}} {
		var annotations, files []string
		for _, key := range slices.Sorted(maps.Keys(c.pod.Annotations)) {
			if prefix, name, _ := strings.Cut(key, "/"); strings.HasSuffix(prefix, "scripts.database.dbcluster.io") {
				annotations = append(annotations, prefix+"/"+name)
			}
		}
		for _, volume := range c.pod.Spec.Volumes {
			if volume.Name == naming.ScriptsVolume {
				for _, file := range volume.DownwardAPI.Items {
					files = append(files, dbv1.AnnotationScripts+file.Path)
				}
			}
		}
		want := strings.Split(dbv1.AnnotationScripts+strings.Join(c.want, " "+dbv1.AnnotationScripts), " ")
		if !slices.Equal(annotations, want) || !slices.Equal(files, want) {
			t.Errorf("annotations %v, files %v, want %v", annotations, files, want)
		}
	}
	if !equality.Semantic.DeepEqual(cluster, before) {
		t.Error("the cluster was changed")
	}
}

func TestTheSecretOfTheDatabaseIsAReferenceAndTheSecretOfTheDestinationIsNot(t *testing.T) {
	cluster := withEngine()
	cluster.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "s3://bucket", CredentialsSecretName: "keys"}}
	want := []pods.Reference{{Kind: "Secret", Name: "orders", Where: "spec.credentials.secretName"}}
	got := pods.References(cluster)
	if !slices.EqualFunc(got, want, func(a, b pods.Reference) bool {
		return a.Kind == b.Kind && a.Name == b.Name && a.Where == b.Where && !a.Optional
	}) {
		t.Errorf("got %+v", got)
	}
}

func TestTheClustersSecretIsMountedWithoutAnEngineToo(t *testing.T) {
	cluster := smallest()
	cluster.Spec.Credentials.SecretName = "orders"
	if len(pods.EngineVolumes(cluster)) != 1 || len(pods.EngineMounts(cluster)) != 1 || *pods.EngineMounts(cluster)[0].MountPath != "/dbc/secrets" {
		t.Errorf("%v, %v", pods.EngineVolumes(cluster), pods.EngineMounts(cluster))
	}
}
