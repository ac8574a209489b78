/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func create(replicas int32, changes ...func(*dbv1.DatabaseCluster)) step {
	return step{what: fmt.Sprintf("A cluster of %d is created", replicas), do: func(w *world) {
		c := &dbv1.DatabaseCluster{ObjectMeta: w.object(w.name)}
		c.Spec.Replicas, c.Spec.Image, c.Spec.Storage.Size = replicas, "database:1", resource.MustParse("1Gi")
		for _, change := range changes {
			change(c)
		}
		w.store.put(withDefaults(c))
	}}
}

// running starts a story with an existing cluster.
func running(replicas int32, changes ...func(*dbv1.DatabaseCluster)) step {
	s := create(replicas, changes...)
	s.golden = "create.golden"
	return s
}

// set is a change of the cluster by its owner.
func set(what string, changes ...func(*dbv1.DatabaseCluster)) step {
	return step{what: what, do: func(w *world) {
		c := w.cluster()
		if c == nil {
			w.breaks("the cluster no longer exists: %s", what)
			return
		}
		for _, change := range changes {
			change(c)
		}
		w.store.put(withDefaults(c))
	}}
}

func scale(replicas int32) step {
	return set(fmt.Sprintf("replicas is set to %d", replicas), func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = replicas })
}

func image(image string) step {
	return set("image is set to "+image, func(c *dbv1.DatabaseCluster) { c.Spec.Image = image })
}

func affinity(what string, affinity *corev1.Affinity) step {
	return set(what, func(c *dbv1.DatabaseCluster) { c.Spec.Scheduling.Affinity = affinity })
}

func nowhere() *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "no-such-node", Operator: corev1.NodeSelectorOpExists}}}},
	}}}
}

// lose removes a pod with its node.
func lose(pod string) step {
	return step{what: "the node of pod " + pod + " is lost, and the pod with it", do: func(w *world) {
		if lost := get[*corev1.Pod](w.store, pod); lost != nil {
			w.store.remove(lost)
		}
	}}
}

func remove() step {
	return step{what: "the cluster is deleted", do: func(w *world) {
		c := w.cluster()
		c.DeletionTimestamp = new(metav1.NewTime(w.clock.Now()))
		w.store.put(c)
	}}
}

// soon is a step whose successor starts after some rounds, whether the world is idle or not.
func soon(rounds int, s step) step {
	s.rounds = rounds
	return s
}

func hooks(commands ...string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		for i, command := range commands {
			c.Spec.Deletion.Hooks = append(c.Spec.Deletion.Hooks, dbv1.DeletionHook{
				Name: fmt.Sprintf("hook%d", i+1), Type: dbv1.HookCommand, Command: []string{command},
			})
		}
	}
}

func brokenImage(c *dbv1.DatabaseCluster) { c.Spec.Image = "database:missing" }

func twoAtOnce(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.MaxUnavailable = 2 }

func onDelete(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete }

func pauseRollout(paused bool) step {
	return set(fmt.Sprintf("update.paused is set to %t", paused), func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Paused = paused })
}

func pause(paused bool) step {
	return set(fmt.Sprintf("paused is set to %t", paused), func(c *dbv1.DatabaseCluster) { c.Spec.Paused = paused })
}

func hibernate(hibernated bool) step {
	return set(fmt.Sprintf("hibernated is set to %t", hibernated), func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = hibernated })
}

func size(size string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Size = resource.MustParse(size) }
}

func grow(to string) step { return set("storage.size is set to "+to, size(to)) }

func cpu(cpu string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

func config(text string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Config = &dbv1.ClusterConfig{Files: map[string]string{"database.conf": text}}
	}
}

// password sets the environment of members from the Secret "credentials".
func password(c *dbv1.DatabaseCluster) {
	c.Spec.Container.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "credentials"}}}}
}

func secret(password string) step {
	return step{what: "Secret credentials is written with password " + password, do: func(w *world) {
		s := get[*corev1.Secret](w.store, "credentials")
		if s == nil {
			s = &corev1.Secret{ObjectMeta: w.object("credentials")}
		}
		s.Data = map[string][]byte{"PASSWORD": []byte(password)}
		w.store.put(s)
	}}
}

func secretGone() step {
	return step{what: "Secret credentials is deleted", do: func(w *world) { w.store.remove(get[*corev1.Secret](w.store, "credentials")) }}
}

func refresh() step { return annotate("a look at the Secret is asked for", dbv1.AnnotationRefresh) }

// annotate gives an annotation a new value.
func annotate(what, key string) step {
	return set(what, func(c *dbv1.DatabaseCluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, c.Annotations[key]+"now")
	})
}

const hold = "snapshots/in-progress"

// endClaim deletes a claim that has another finalizer for now.
func endClaim(claim string) step {
	return step{what: "claim " + claim + " is deleted while a snapshot of it is made", do: func(w *world) {
		c := get[*corev1.PersistentVolumeClaim](w.store, claim)
		c.Finalizers, c.DeletionTimestamp = append(c.Finalizers, hold), new(metav1.NewTime(w.clock.Now()))
		w.store.put(c)
	}}
}

func releaseClaim(claim string) step {
	return step{what: "the snapshot of claim " + claim + " is done", do: func(w *world) {
		c := get[*corev1.PersistentVolumeClaim](w.store, claim)
		withoutFinalizer(c, hold)
		w.store.put(c)
	}}
}

func occupyName() step {
	return step{what: "a Service orders exists that is not the operator's", do: func(w *world) {
		w.store.put(&corev1.Service{ObjectMeta: w.object(w.name)})
	}}
}

// vanished is a step in which a user deletes all objects of a kind.
func vanished[T client.Object](what string) step {
	return step{what: "somebody deletes " + what, do: func(w *world) {
		for _, object := range all[T](w.store) {
			w.store.remove(object)
		}
	}}
}

// otherBudget is a PodDisruptionBudget of a user for each pod of the namespace.
func otherBudget() step {
	return step{what: "somebody creates a PodDisruptionBudget for all pods", do: func(w *world) {
		w.store.put(&policyv1.PodDisruptionBudget{ObjectMeta: w.object("team"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}})
	}}
}

func freeBudget() step {
	return step{what: "that PodDisruptionBudget is deleted", do: func(w *world) {
		w.store.remove(get[*policyv1.PodDisruptionBudget](w.store, "team"))
	}}
}

func freeName() step {
	return step{what: "that Service is deleted", do: func(w *world) { w.store.remove(get[*corev1.Service](w.store, w.name)) }}
}

func editTemplate() step {
	return step{what: "somebody sets another image in the StatefulSet and adds a node selector", do: func(w *world) {
		s := get[*appsv1.StatefulSet](w.store, w.name)
		s.Spec.Template.Spec.Containers[0].Image = "database:crash"
		s.Spec.Template.Spec.NodeSelector = map[string]string{"no-such-node": "true"}
		w.store.put(s)
	}}
}

func deleteStatefulSet(policy metav1.DeletionPropagation) step {
	return step{what: fmt.Sprintf("somebody deletes the StatefulSet (propagation %s)", policy), do: func(w *world) {
		err := w.store.delete(get[*appsv1.StatefulSet](w.store, w.name), &client.DeleteOptions{PropagationPolicy: &policy})
		if err != nil {
			panic(err)
		}
	}}
}
