//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/engines"
)

// ledger returns an engine with a unique name: engines are cluster-scoped.
func ledger(t *testing.T, name string) *dbv1.DatabaseEngine {
	t.Helper()
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	e.Spec = dbv1.DatabaseEngineSpec{
		Topology:   dbv1.TopologyIndependent,
		Container:  dbv1.EngineContainer{Args: []string{"--cache=$(DBC_PARAM_CACHE)"}, Port: 7000},
		Scripts:    map[string]dbv1.EngineScript{"backup": "#!/bin/sh\nexec ledger dump\n"},
		Parameters: []dbv1.EngineParameter{{Name: "cache", Default: "1MB", Pattern: "[0-9]+MB"}},
		SecretKeys: []dbv1.EngineSecretKey{{Name: "password"}},
		Actions: dbv1.EngineActions{
			Backup:  &dbv1.EngineAction{Command: []string{"/dbc/scripts/backup"}},
			Restore: &dbv1.EngineAction{Command: []string{"ledger", "load"}},
			Check: &dbv1.EngineCheck{Command: []string{"ledger", "check"}, Facts: []dbv1.EngineFact{
				{Name: "position", Compare: dbv1.CompareAtLeast}, {Name: "rows", Compare: dbv1.CompareEqual},
			}},
		},
	}
	t.Cleanup(func() {
		if err := admin.Delete(context.WithoutCancel(t.Context()), e); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	return e
}

// leavesItTo returns a change that makes a cluster use an engine.
func leavesItTo(engine string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Engine, c.Spec.Credentials.SecretName = engine, "password" }
}

func secretWith(cluster *dbv1.DatabaseCluster, keys ...string) *corev1.Secret {
	secret := password(cluster)
	secret.Data = map[string][]byte{}
	for _, key := range keys {
		secret.Data[key] = []byte("x")
	}
	return secret
}

func TestTheLeaderCreatesTheBuiltInEngines(t *testing.T) {
	parallel(t)
	objects, err := engines.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		eventually(t, object.GetName()+" to match its file", func() error {
			stored, wanted := &dbv1.DatabaseEngine{}, &dbv1.DatabaseEngine{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, wanted); err != nil {
				return err
			}
			if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), stored); err != nil {
				return err
			}
			if roles := wanted.Spec.Roles; roles != nil {
				roles.LockSeconds = cmp.Or(roles.LockSeconds, 30) // the default of the API
			}
			if objects := wanted.Spec.Actions.Objects; objects != nil {
				objects.Databases = cmp.Or(objects.Databases, dbv1.DatabasesUnsupported)
			}
			return same(wanted.Spec, stored.Spec)
		})
	}
}

func TestAnEngineCannotBeChanged(t *testing.T) {
	parallel(t)
	e := ledger(t, "unchangeable-v1")
	create(t, e)
	awaitAccepted(t, e, "True", dbv1.ReasonAccepted)
	e.Spec.Container.Port = 7001
	err := admin.Update(t.Context(), e)
	if err == nil {
		t.Fatal("the API server accepted a change of the spec")
	}
	mustContain(t, err.Error(), "spec cannot be changed: create a DatabaseEngine with another name")
}

// JSON escapes each "<" by six bytes, so no script of this length makes larger objects.
func TestPodsTakeAsManyAndAsLargeScriptsAsAnEngineCanHave(t *testing.T) {
	parallel(t)
	const scripts, characters = 64, 196608
	e := ledger(t, "largest-v1")
	e.Spec.Scripts = map[string]dbv1.EngineScript{"backup": "#!/bin/sh\nexec ledger dump\n"}
	for n := range scripts - 1 {
		e.Spec.Scripts[fmt.Sprintf("s%047d", n)] = "<"
	}
	left := characters - len(e.Spec.Scripts["backup"]) - (scripts - 1)
	for n := range scripts - 1 {
		more := left / (scripts - 1)
		if n == 0 {
			more += left % (scripts - 1)
		}
		e.Spec.Scripts[fmt.Sprintf("s%047d", n)] += dbv1.EngineScript(strings.Repeat("<", more))
	}
	create(t, e)
	awaitAccepted(t, e, "True", dbv1.ReasonAccepted)
	cluster := created(t, func(c *dbv1.DatabaseCluster) {
		leavesItTo("largest-v1")(c)
		c.Spec.Pod.Annotations = map[string]string{"example.org/note": strings.Repeat("x", 32<<10)}
	})
	create(t, secretWith(cluster, "password"))
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	found := 0
	for key, text := range read(t, member(cluster, 0)).Annotations {
		if strings.HasPrefix(key, dbv1.AnnotationScripts) {
			found += len(text)
		}
	}
	if found != characters {
		t.Errorf("the pod has scripts with %d characters, not %d", found, characters)
	}
}

func TestAClusterRunsAsItsEngineDeclares(t *testing.T) {
	parallel(t)
	create(t, ledger(t, "running-v1"))
	cluster := created(t, leavesItTo("running-v1"))
	create(t, secretWith(cluster, "password"))
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	pod := read(t, member(cluster, 0))
	container := pod.Spec.Containers[0]
	if container.Ports[0].ContainerPort != 7000 || !slices.Equal(container.Args, []string{"--cache=$(DBC_PARAM_CACHE)"}) {
		t.Errorf("%+v", container)
	}
	if pod.Annotations[dbv1.AnnotationScripts+"backup"] == "" || !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/dbc/scripts" }) {
		t.Errorf("%v, %v", pod.Annotations, container.VolumeMounts)
	}
	if port := read(t, service(cluster)).Spec.Ports[0].Port; port != 7000 {
		t.Errorf("the Service has port %d", port)
	}

	before := uids(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Parameters = map[string]string{"cache": "much"} })
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonInvalidParameter,
		`spec.parameters[cache] is "much"; it must match [0-9]+MB`, "Until you correct this, the operator does not start or restart members")
	mustNotBeRestarted(t, cluster, before)

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Parameters = map[string]string{"cache": "8MB"} })
	awaitRestarted(t, cluster, before)
	awaitReady(t, cluster)
	if !strings.Contains(text(read(t, member(cluster, 0)).Spec.Containers[0].Env), "DBC_PARAM_CACHE=8MB") {
		t.Error("the member does not know its parameter")
	}
}

func TestAMissingEngineOrSecretKeyStallsAClusterUntilItExists(t *testing.T) {
	parallel(t)
	cluster := created(t, leavesItTo("late-v1"))
	kubelet(t, cluster.Namespace, healthy)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonEngineMissing, "spec.engine names DatabaseEngine late-v1, which does not exist")
	create(t, secretWith(cluster, "word"))
	create(t, ledger(t, "late-v1"))
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "1"))
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonSecretIncomplete,
		"Secret password in spec.credentials.secretName lacks the key password, which DatabaseEngine late-v1 needs")
	if got := uids(t, cluster); len(got) > 0 {
		t.Errorf("members %v exist, although they cannot start", got)
	}
	change(t, secretWith(cluster), func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte("x")} })
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "2"))
	awaitReady(t, cluster)
}

func TestADeletedEngineChangesNoMembersAndBlocksNoDeletion(t *testing.T) {
	parallel(t)
	e := ledger(t, "gone-v1")
	create(t, e)
	cluster := created(t, leavesItTo("gone-v1"))
	create(t, secretWith(cluster, "password"))
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	before := uids(t, cluster)
	remove(t, e)
	change(t, cluster, setSecondImage)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonEngineMissing)
	awaitTrue(t, cluster, dbv1.ConditionAvailable, dbv1.ReasonAllReplicasReady)
	mustNotBeRestarted(t, cluster, before)
	if port := read(t, service(cluster)).Spec.Ports[0].Port; port != 7000 {
		t.Errorf("clients cannot connect: the Service has port %d", port)
	}
	remove(t, cluster)
	awaitDeleted(t, cluster)
}

func same(wanted, got any) error {
	if !equality.Semantic.DeepEqual(wanted, got) {
		return fmt.Errorf("got %+v", got)
	}
	return nil
}

// text returns an environment as NAME=value.
func text(variables []corev1.EnvVar) string {
	var all []string
	for _, v := range variables {
		all = append(all, v.Name+"="+v.Value)
	}
	return strings.Join(all, " ")
}
