/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// final gives a cluster a final backup, after which its volumes are deleted.
func final(c *dbv1.DatabaseCluster) {
	engine := c.Spec.Engine
	saved(c)
	c.Spec.Engine = engine
	hook("final", dbv1.HookBackup)(c)
	deleteVolumes(c)
}

// copySequences test which member continues, and which copy is the last one.
var copySequences = []world.Story{
	world.Tell("pair-final-backup", createPair(world.PairEngine, final), handOverTo("orders-1"), remove()),
	world.Tell("pair-final-backup-foreground", createPair(world.PairEngine, final), handOverTo("orders-1"), removeForeground()),
	world.Tell("pair-final-backup-replica-stalls", createPair(world.PairEngine, final), handOverTo("orders-1"), world.Stall("orders-0"), remove()),
	world.Tell("pair-final-backup-replica-returns", createPair(world.PairEngine, final), world.Freeze("orders-0"), soon(4, remove()), world.Thaw("orders-0")),
	world.Tell("pair-final-backup-hibernated", createPair(world.TuneEngine, final), hibernate(true), remove(), skipHooks()),
	world.Tell("pair-final-backup-unseen",
		createPair(world.SyncEngine, final), together(world.Away(true), world.Freeze("orders-0")), removeForeground(), world.Away(false), skipHooks(), told(createPair(world.SyncEngine)), world.Leads("orders-1"),
	),
	world.Tell("pair-stop-unseen",
		createPair(world.SyncEngine), together(world.Away(true), world.Freeze("orders-0")), deleteStatefulSet(metav1.DeletePropagationBackground), world.Away(false), world.Leads("orders-1"),
	),
	world.Tell("pair-stop-unseen-next-cluster",
		createPair(world.SyncEngine), together(world.Away(true), world.Freeze("orders-0")), removeForeground(), world.Away(false), told(createPair(world.SyncEngine)), world.Leads("orders-1"),
	),
	world.Tell("pair-without-the-last-primary",
		createPair(world.SyncEngine), handOverTo("orders-1"), world.Stall("orders-0"), removeForeground(), deleteClaim("data-orders-1"), told(createPair(world.SyncEngine)), world.Leads("orders-2"),
	),
	world.Tell("pair-orphaned", createPair(world.PairEngine), removeOrphan(), orphansFreed(), told(createPair(world.PairEngine))),
	world.Tell("pair-agreement-without-volumes",
		createPair(world.PairEngine), remove(), together(deleteClaim("data-orders-0"), deleteClaim("data-orders-1"), deleteClaim("data-orders-2")), told(createPair(world.PairEngine)),
	),
	world.Tell("pair-final-backup-of-adopted-volumes", createPair(world.PairEngine), remove(), soon(2, told(createPair(world.PairEngine, final))), remove()),
	world.Tell("voters-final-backup", createVoters(final), remove()),
	world.Tell("voters-final-backup-first-down", createVoters(final), world.Freeze("orders-0"), soon(120, remove()), world.Thaw("orders-0")),
	world.Tell("voters-final-backup-hibernated", createVoters(final), hibernate(true), remove()),
	world.Tell("voters-final-backup-hibernated-first-down", createVoters(final), world.Freeze("orders-0"), hibernate(true), remove(), skipHooks(), told(createVoters())),
	world.Tell("voters-final-backup-one-left", createVoters(final), scale(1), removeForeground()),
	world.Tell("voters-final-backup-foreground", createVoters(final), removeForeground(), skipHooks(), told(createVoters())),
}

// removeOrphan deletes the cluster, and its objects stay.
func removeOrphan() world.Step {
	return world.Step{What: "the cluster is deleted, and its objects stay", Do: func(w *world.World) {
		world.Must(w.Store.Delete(w.Cluster(), &client.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}))
	}}
}

// orphansFreed deletes the objects that a cluster left, but for the pods.
func orphansFreed() world.Step {
	return world.Step{What: "somebody deletes the objects that it left, and its pods stay", Do: func(w *world.World) {
		orphan := metav1.DeletePropagationOrphan
		world.Must(w.Store.Delete(store.Get[*appsv1.StatefulSet](w.Store, w.Name), &client.DeleteOptions{PropagationPolicy: &orphan}))
		for _, object := range store.All[*corev1.Service](w.Store) {
			w.Store.Remove(object)
		}
		for _, object := range store.All[*policyv1.PodDisruptionBudget](w.Store) {
			w.Store.Remove(object)
		}
		for _, object := range store.All[*networkingv1.NetworkPolicy](w.Store) {
			w.Store.Remove(object)
		}
		for _, object := range w.Store.Sorted() {
			if s, is := object.(*corev1.Secret); is && s.Name == w.Name+"-connection" {
				w.Store.Remove(s)
			}
		}
	}}
}

// copyMutants are mistakes about which copy has every acknowledged row.
var copyMutants = map[string]mutant{
	"a final backup of running members counts for members of one database": {
		fencesNothing(), "pair-final-backup", "no retained volume and no complete backup has every acknowledged row",
	},
	"the record of the last primary counts, whoever had the lock since": {
		seenTerms(), "pair-final-backup-unseen", "of stopped members is complete, but lacks acknowledged rows",
	},
	"a voter that is not ready counts as ready": {
		seenPods(ready), "voters-final-backup-first-down", "of stopped members is complete, but lacks acknowledged rows",
	},
	"the agreement is deleted with its cluster": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			err := c.Delete(ctx, object, options...)
			if world.KindOf(object) == "RoleBinding" {
				err = firstOf(err, removed(ctx, c, &corev1.ConfigMap{}, "orders-leader"))
			}
			return err
		}},
		"pair-stop-unseen-next-cluster", "with its data is retained",
	},
	"adopted volumes count as a part of their first data": {
		seenClaims(func(cluster *dbv1.DatabaseCluster, claims []corev1.PersistentVolumeClaim) {
			for i := range claims {
				if cluster.DeletionTimestamp != nil {
					metav1.SetMetaDataAnnotation(&claims[i].ObjectMeta, dbv1.AnnotationRestoring, "initialize")
				}
			}
		}),
		"pair-final-backup-of-adopted-volumes", "claim data-orders-0 is deleted",
	},
}

// seenClaims is an operator that sees other claims.
func seenClaims(change func(cluster *dbv1.DatabaseCluster, claims []corev1.PersistentVolumeClaim)) interceptor.Funcs {
	return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		err, cluster := c.List(ctx, list, options...), &dbv1.DatabaseCluster{}
		claims, is := list.(*corev1.PersistentVolumeClaimList)
		if is && c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: clusterName}, cluster) == nil {
			change(cluster, claims.Items)
		}
		return err
	}}
}

// seenTerms is an operator that sees the current term of the lock on claim 0.
func seenTerms() interceptor.Funcs {
	return claimsWith(func(ctx context.Context, c client.WithWatch, claim *corev1.PersistentVolumeClaim) {
		agreement := &corev1.ConfigMap{}
		if c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "orders-leader"}, agreement) == nil && claim.Annotations[dbv1.AnnotationPrimary] != "" {
			claim.Annotations[dbv1.AnnotationPrimaryTerm] = agreement.Annotations[world.TermKey]
		}
	})
}

// claimsWith is an operator that sees claims with a change.
func claimsWith(see func(context.Context, client.WithWatch, *corev1.PersistentVolumeClaim)) interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			if claim, is := object.(*corev1.PersistentVolumeClaim); is && err == nil {
				see(ctx, c, claim)
			}
			return err
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			if claims, is := list.(*corev1.PersistentVolumeClaimList); is {
				for i := range claims.Items {
					see(ctx, c, &claims.Items[i])
				}
			}
			return err
		},
	}
}

func init() { maps.Copy(dataMutants, copyMutants) }
