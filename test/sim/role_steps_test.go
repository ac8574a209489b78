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
)

// declareShared creates an engine whose members have one database.
func declareShared(w *world, engine string) {
	if get[*dbv1.DatabaseEngine](w.store, engine) != nil {
		return
	}
	action := func(name string) *dbv1.EngineAction { return &dbv1.EngineAction{Command: []string{"db", name}} }
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: engine}}
	e.Spec.Topology, e.Spec.Container.ReadinessProbe = topologies[engine], &corev1.Probe{}
	e.Spec.Container.Env = []dbv1.EngineVariable{{Name: engineVariable, Value: engine}}
	e.Spec.Actions.Initialize, e.Spec.Actions.Backup, e.Spec.Actions.Restore = action("initialize"), action("backup"), action("restore")
	switch engine {
	case voteEngine:
		e.Spec.Actions.MemberRemove = action("memberRemove")
	case tuneEngine:
		e.Spec.Parameters = []dbv1.EngineParameter{{Name: "work_mem", Default: "1"}}
		e.Spec.Actions.Configure = action("configure")
		fallthrough
	default:
		e.Spec.Actions.HandOver = action("handOver")
		e.Spec.Roles = &dbv1.EngineRoles{Label: roleLabel, Primary: primaryRole, Replica: replicaRole, LockSeconds: lockRounds, PositionField: positionField}
		e.Spec.State = &dbv1.EngineState{ConfigMaps: []string{agreementName}}
		if engine == tuneEngine {
			e.Spec.State.ConfigMaps = append(e.Spec.State.ConfigMaps, keptName)
			e.Spec.State.Configuration = &dbv1.EngineStateEntry{ConfigMap: keptName, Key: keptKey}
		} else {
			e.Spec.State.Lock = &dbv1.EngineLock{ConfigMap: agreementName, Holder: holderKey, Term: termKey}
		}
	}
	w.store.put(e)
}

// createPair and createVoters create a cluster of three.
func createPair(engine string, changes ...func(*dbv1.DatabaseCluster)) step {
	return createShared("pair-create.golden", engine, changes...)
}

func createVoters(changes ...func(*dbv1.DatabaseCluster)) step {
	return createShared("voters-create.golden", voteEngine, changes...)
}

func createShared(golden, engine string, changes ...func(*dbv1.DatabaseCluster)) step {
	s := create(3, append(changes, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })...)
	do := s.do
	s.golden, s.do = golden, func(w *world) {
		declareShared(w, engine)
		w.relate(engine)
		do(w)
	}
	return s
}

// told is a step whose events the golden file has.
func told(s step) step {
	s.golden = ""
	return s
}

func handOverTo(pod string) step {
	return annotateCluster("a hand-over to pod "+pod+" is asked for", dbv1.AnnotationHandOver, pod)
}

func rebuild(pod string) step {
	return annotateCluster("a rebuild of pod "+pod+" is asked for", dbv1.AnnotationRebuild, pod)
}

func parameter(value string) step {
	return set("work_mem is set to "+value, func(c *dbv1.DatabaseCluster) { c.Spec.Parameters = map[string]string{"work_mem": value} })
}

// deleteAgreement deletes a ConfigMap in which running members keep their agreement.
func deleteAgreement(part string) step {
	agreement := naming.State(clusterName, part)
	return step{what: "ConfigMap " + agreement + " is deleted", do: func(w *world) { w.store.remove(get[*corev1.ConfigMap](w.store, agreement)) }}
}

// staleAgreement is what a previous cluster of the same name left.
func staleAgreement() step {
	return step{what: "there is the agreement of a previous cluster of the same name", do: func(w *world) {
		stale := &corev1.ConfigMap{ObjectMeta: w.object(naming.State(w.name, agreementName))}
		stale.Labels = naming.Selector(w.name)
		stale.Labels[dbv1.LabelClusterUID] = "earlier"
		stale.Annotations = map[string]string{initializedKey: "the data of a previous cluster", holderKey: "orders-2"}
		w.store.put(stale)
	}}
}

// backedUp is a backup of a previous cluster with an engine.
func backedUp(name string, engine string) step {
	s := inBucket(name, 1)
	do := s.do
	s.what, s.do = fmt.Sprintf("%s, with engine %s", s.what, engine), func(w *world) {
		do(w)
		b := get[*dbv1.DatabaseBackup](w.store, name)
		b.Status.Engine = engine
		w.store.put(b)
	}
	return s
}

// losePrimary removes the pod of the primary with its node.
func losePrimary(pod string) step {
	s := lose(pod)
	do := s.do
	s.do = func(w *world) {
		w.forgives(get[*corev1.Pod](w.store, pod))
		do(w)
	}
	return s
}

// rolloutRestart changes the template of the StatefulSet, which belongs to the operator.
func rolloutRestart() step {
	return step{what: "somebody runs kubectl rollout restart statefulset", do: func(w *world) {
		set := get[*appsv1.StatefulSet](w.store, w.name)
		metav1.SetMetaDataAnnotation(&set.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "now")
		w.store.put(set)
	}}
}
