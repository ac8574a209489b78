/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// declareShared creates an engine whose members have one database.
func declareShared(w *world.World, engine string) {
	if store.Get[*dbv1.DatabaseEngine](w.Store, engine) != nil {
		return
	}
	action := func(name string) *dbv1.EngineAction { return &dbv1.EngineAction{Command: []string{"db", name}} }
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: engine}}
	e.Spec.Topology, e.Spec.Container.ReadinessProbe = world.Topologies[engine], &corev1.Probe{}
	e.Spec.Container.Env = []dbv1.EngineVariable{{Name: world.EngineVariable, Value: engine}}
	e.Spec.Actions.Initialize, e.Spec.Actions.Backup, e.Spec.Actions.Restore = action("initialize"), action("backup"), action("restore")
	e.Spec.Actions.Archive, e.Spec.Actions.Recover = action("archive"), &dbv1.EngineRecovery{Command: []string{"db", "recover"}}
	switch engine {
	case world.VoteEngine:
		e.Spec.Actions.MemberRemove = action("memberRemove")
	case world.TuneEngine:
		e.Spec.Parameters = []dbv1.EngineParameter{{Name: "work_mem", Default: "1"}}
		e.Spec.Actions.Configure = action("configure")
		fallthrough
	default:
		e.Spec.Actions.HandOver, e.Spec.Actions.Protect = action("handOver"), action("protect")
		e.Spec.Roles = &dbv1.EngineRoles{Label: world.RoleLabel, Primary: world.PrimaryRole, Replica: world.ReplicaRole, LockSeconds: world.LockRounds, PositionField: world.PositionField}
		e.Spec.State = &dbv1.EngineState{ConfigMaps: []string{world.AgreementName}}
		if engine == world.TuneEngine {
			e.Spec.State.ConfigMaps = append(e.Spec.State.ConfigMaps, world.KeptName)
			e.Spec.State.Configuration = &dbv1.EngineStateEntry{ConfigMap: world.KeptName, Key: world.KeptKey}
		} else {
			e.Spec.State.Lock = &dbv1.EngineLock{ConfigMap: world.AgreementName, Holder: world.HolderKey, Term: world.TermKey}
		}
	}
	w.Store.Put(e)
}

// createPair and createVoters create a cluster of three.
func createPair(engine string, changes ...func(*dbv1.DatabaseCluster)) world.Step {
	return createShared("pair-create.golden", engine, changes...)
}

func createVoters(changes ...func(*dbv1.DatabaseCluster)) world.Step {
	return createShared("voters-create.golden", world.VoteEngine, changes...)
}

func createShared(golden, engine string, changes ...func(*dbv1.DatabaseCluster)) world.Step {
	s := create(3, append(changes, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })...)
	do := s.Do
	s.Golden, s.Do = golden, func(w *world.World) {
		declareShared(w, engine)
		w.Relate(engine)
		do(w)
	}
	return s
}

// told is a step whose events the golden file has.
func told(s world.Step) world.Step {
	s.Golden = ""
	return s
}

// deleteAccount deletes the account of the members, which shows that they have rights.
func deleteAccount() world.Step {
	return world.Step{What: "somebody deletes the ServiceAccount", Do: func(w *world.World) { w.Delete(store.Get[*corev1.ServiceAccount](w.Store, clusterName)) }}
}

func handOverTo(pod string) world.Step {
	return annotateCluster("a hand-over to pod "+pod+" is asked for", dbv1.AnnotationHandOver, pod)
}

func rebuild(pod string) world.Step {
	return annotateCluster("a rebuild of pod "+pod+" is asked for", dbv1.AnnotationRebuild, pod)
}

func parameter(value string) world.Step {
	return set("work_mem is set to "+value, func(c *dbv1.DatabaseCluster) { c.Spec.Parameters = map[string]string{"work_mem": value} })
}

// deleteAgreement deletes a ConfigMap in which running members keep their agreement.
func deleteAgreement(part string) world.Step {
	agreement := naming.State(clusterName, part)
	return world.Step{What: "ConfigMap " + agreement + " is deleted", Do: func(w *world.World) { w.Store.Remove(store.Get[*corev1.ConfigMap](w.Store, agreement)) }}
}

// staleAgreement is what a previous cluster of the same name left.
func staleAgreement() world.Step {
	return world.Step{What: "there is the agreement of a previous cluster of the same name", Do: func(w *world.World) {
		stale := &corev1.ConfigMap{ObjectMeta: w.Meta(naming.State(w.Name, world.AgreementName))}
		stale.Labels = naming.Selector(w.Name)
		stale.Labels[dbv1.LabelClusterUID] = "earlier"
		stale.Annotations = map[string]string{world.InitializedKey: "the data of a previous cluster", world.HolderKey: "orders-2"}
		w.Store.Put(stale)
	}}
}

// backedUp is a backup of a previous cluster with an engine.
func backedUp(name string, engine string) world.Step {
	s := world.InBucket(name, 1)
	do := s.Do
	s.What, s.Do = fmt.Sprintf("%s, with engine %s", s.What, engine), func(w *world.World) {
		do(w)
		b := store.Get[*dbv1.DatabaseBackup](w.Store, name)
		b.Status.Engine = engine
		w.Store.Put(b)
	}
	return s
}

// losePrimary removes the pod of the primary with its node.
func losePrimary(pod string) world.Step {
	s := lose(pod)
	do := s.Do
	s.Do = func(w *world.World) {
		w.Forgives(store.Get[*corev1.Pod](w.Store, pod))
		do(w)
	}
	return s
}

// rolloutRestart changes the template of the StatefulSet, which belongs to the operator.
func rolloutRestart() world.Step {
	return world.Step{What: "somebody runs kubectl rollout restart statefulset", Do: func(w *world.World) {
		set := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
		metav1.SetMetaDataAnnotation(&set.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "now")
		w.Store.Put(set)
	}}
}
