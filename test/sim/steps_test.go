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
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

func create(replicas int32, changes ...func(*dbv1.DatabaseCluster)) world.Step {
	return world.Step{What: fmt.Sprintf("A cluster of %d is created", replicas), Do: func(w *world.World) {
		c := &dbv1.DatabaseCluster{ObjectMeta: w.Meta(w.Name)}
		c.Spec.Replicas, c.Spec.Image, c.Spec.Storage.Size = replicas, "database:1", resource.MustParse("1Gi")
		for _, change := range changes {
			change(c)
		}
		w.Store.Put(withDefaults(c))
	}}
}

// running starts a story with an existing cluster.
func running(replicas int32, changes ...func(*dbv1.DatabaseCluster)) world.Step {
	s := create(replicas, changes...)
	s.Golden = "create.golden"
	return s
}

// set is a change of the cluster by its owner.
func set(what string, changes ...func(*dbv1.DatabaseCluster)) world.Step {
	return world.Step{What: what, Do: func(w *world.World) {
		c := w.Cluster()
		if c == nil {
			w.Breaks("the cluster no longer exists: %s", what)
			return
		}
		for _, change := range changes {
			change(c)
		}
		w.Store.Put(withDefaults(c))
	}}
}

func scale(replicas int32) world.Step {
	return set(fmt.Sprintf("replicas is set to %d", replicas), func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = replicas })
}

func image(image string) world.Step {
	return set("image is set to "+image, func(c *dbv1.DatabaseCluster) { c.Spec.Image = image })
}

func affinity(what string, affinity *corev1.Affinity) world.Step {
	return set(what, func(c *dbv1.DatabaseCluster) { c.Spec.Scheduling.Affinity = affinity })
}

func nowhere() *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "no-such-node", Operator: corev1.NodeSelectorOpExists}}}},
	}}}
}

// lose removes a pod with its node.
func lose(pod string) world.Step {
	return world.Step{What: "the node of pod " + pod + " is lost, and the pod with it", Do: func(w *world.World) {
		if lost := store.Get[*corev1.Pod](w.Store, pod); lost != nil {
			w.Store.Remove(lost)
		}
	}}
}

func remove() world.Step {
	return world.Step{What: "the cluster is deleted", Do: func(w *world.World) {
		c := w.Cluster()
		c.DeletionTimestamp = new(metav1.NewTime(w.Clock.Now()))
		w.Store.Put(c)
	}}
}

// soon is a step whose successor starts after some rounds, whether the world is idle or not.
func soon(rounds int, s world.Step) world.Step {
	s.Rounds = rounds
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

func pauseRollout(paused bool) world.Step {
	return set(fmt.Sprintf("update.paused is set to %t", paused), func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Paused = paused })
}

func pause(paused bool) world.Step {
	return set(fmt.Sprintf("paused is set to %t", paused), func(c *dbv1.DatabaseCluster) { c.Spec.Paused = paused })
}

func hibernate(hibernated bool) world.Step {
	return set(fmt.Sprintf("hibernated is set to %t", hibernated), func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = hibernated })
}

func size(size string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Size = resource.MustParse(size) }
}

func grow(to string) world.Step { return set("storage.size is set to "+to, size(to)) }

func cpu(cpu string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

// follows lets the operator change the CPU by a recommendation.
func follows(least, most string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.AutoResize = &dbv1.ClusterAutoResize{
			AutoscalerRef: dbv1.ClusterAutoscalerRef{Name: c.Name}, CooldownSeconds: new(int32),
			CPU: &dbv1.ClusterResizeBounds{Min: resource.MustParse(least), Max: resource.MustParse(most)},
		}
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

func secret(password string) world.Step {
	return world.Step{What: "Secret credentials is written with password " + password, Do: func(w *world.World) {
		s := store.Get[*corev1.Secret](w.Store, "credentials")
		if s == nil {
			s = &corev1.Secret{ObjectMeta: w.Meta("credentials")}
		}
		s.Data = map[string][]byte{"PASSWORD": []byte(password)}
		w.Store.Put(s)
	}}
}

func secretGone() world.Step {
	return world.Step{What: "Secret credentials is deleted", Do: func(w *world.World) { w.Store.Remove(store.Get[*corev1.Secret](w.Store, "credentials")) }}
}

func refresh() world.Step {
	return annotate("a look at the Secret is asked for", dbv1.AnnotationRefresh)
}

// annotate gives an annotation a new value.
func annotate(what, key string) world.Step {
	return set(what, func(c *dbv1.DatabaseCluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, c.Annotations[key]+"now")
	})
}

const hold = "snapshots/in-progress"

// endClaim deletes a claim that has another finalizer for now.
func endClaim(claim string) world.Step {
	return world.Step{What: "claim " + claim + " is deleted while a snapshot of it is made", Do: func(w *world.World) {
		c := store.Get[*corev1.PersistentVolumeClaim](w.Store, claim)
		c.Finalizers, c.DeletionTimestamp = append(c.Finalizers, hold), new(metav1.NewTime(w.Clock.Now()))
		w.Store.Put(c)
	}}
}

// unlabel removes the labels by which the operator finds a claim.
func unlabel(claim string) world.Step {
	return world.Step{What: "somebody removes the labels of claim " + claim, Do: func(w *world.World) {
		c := store.Get[*corev1.PersistentVolumeClaim](w.Store, claim)
		c.Labels = nil
		w.Store.Put(c)
	}}
}

// claimOfUser creates a claim that looks like one of the operator, without labels.
func claimOfUser(claim string) world.Step {
	return world.Step{What: "a user creates claim " + claim + " without labels", Do: func(w *world.World) {
		w.Store.Put(&corev1.PersistentVolumeClaim{ObjectMeta: w.Meta(claim), Spec: store.Get[*corev1.PersistentVolumeClaim](w.Store, "data-orders-0").Spec})
	}}
}

func releaseClaim(claim string) world.Step {
	return world.Step{What: "the snapshot of claim " + claim + " is done", Do: func(w *world.World) {
		c := store.Get[*corev1.PersistentVolumeClaim](w.Store, claim)
		store.WithoutFinalizer(c, hold)
		w.Store.Put(c)
	}}
}

func occupyName() world.Step {
	return world.Step{What: "a Service orders exists that is not the operator's", Do: func(w *world.World) {
		w.Store.Put(&corev1.Service{ObjectMeta: w.Meta(w.Name)})
	}}
}

// vanished is a step in which a user deletes all objects of a kind.
func vanished[T client.Object](what string) world.Step {
	return world.Step{What: "somebody deletes " + what, Do: func(w *world.World) {
		for _, object := range store.All[T](w.Store) {
			w.Store.Remove(object)
		}
	}}
}

// otherBudget is a PodDisruptionBudget of a user for each pod of the namespace.
func otherBudget() world.Step {
	return world.Step{What: "somebody creates a PodDisruptionBudget for all pods", Do: func(w *world.World) {
		w.Store.Put(&policyv1.PodDisruptionBudget{ObjectMeta: w.Meta("team"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}})
	}}
}

func freeBudget() world.Step {
	return world.Step{What: "that PodDisruptionBudget is deleted", Do: func(w *world.World) {
		w.Store.Remove(store.Get[*policyv1.PodDisruptionBudget](w.Store, "team"))
	}}
}

func freeName() world.Step {
	return world.Step{What: "that Service is deleted", Do: func(w *world.World) { w.Store.Remove(store.Get[*corev1.Service](w.Store, w.Name)) }}
}

func editTemplate() world.Step {
	return world.Step{What: "somebody sets another image in the StatefulSet and adds a node selector", Do: func(w *world.World) {
		s := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
		s.Spec.Template.Spec.Containers[0].Image = "database:crash"
		s.Spec.Template.Spec.NodeSelector = map[string]string{"no-such-node": "true"}
		w.Store.Put(s)
	}}
}

func deleteStatefulSet(policy metav1.DeletionPropagation) world.Step {
	return world.Step{What: fmt.Sprintf("somebody deletes the StatefulSet (propagation %s)", policy), Do: func(w *world.World) {
		err := w.Store.Delete(store.Get[*appsv1.StatefulSet](w.Store, w.Name), &client.DeleteOptions{PropagationPolicy: &policy})
		if err != nil {
			panic(err)
		}
	}}
}
