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
var copySequences = []sequence{
	tell("pair-final-backup", createPair(pairEngine, final), handOverTo("orders-1"), remove()),
	tell("pair-final-backup-foreground", createPair(pairEngine, final), handOverTo("orders-1"), removeForeground()),
	tell("pair-final-backup-replica-stalls", createPair(pairEngine, final), handOverTo("orders-1"), stall("orders-0"), remove()),
	tell("pair-final-backup-replica-returns", createPair(pairEngine, final), freeze("orders-0"), soon(4, remove()), thaw("orders-0")),
	tell("pair-final-backup-hibernated", createPair(tuneEngine, final), hibernate(true), remove(), skipHooks()),
	tell("pair-final-backup-unseen",
		createPair(syncEngine, final), together(away(true), freeze("orders-0")), removeForeground(), away(false), skipHooks(), told(createPair(syncEngine)), leads("orders-1"),
	),
	tell("pair-stop-unseen",
		createPair(syncEngine), together(away(true), freeze("orders-0")), deleteStatefulSet(metav1.DeletePropagationBackground), away(false), leads("orders-1"),
	),
	tell("pair-stop-unseen-next-cluster",
		createPair(syncEngine), together(away(true), freeze("orders-0")), removeForeground(), away(false), told(createPair(syncEngine)), leads("orders-1"),
	),
	tell("pair-without-the-last-primary",
		createPair(syncEngine), handOverTo("orders-1"), stall("orders-0"), removeForeground(), deleteClaim("data-orders-1"), told(createPair(syncEngine)), leads("orders-2"),
	),
	tell("pair-orphaned", createPair(pairEngine), removeOrphan(), orphansFreed(), told(createPair(pairEngine))),
	tell("pair-agreement-without-volumes",
		createPair(pairEngine), remove(), together(deleteClaim("data-orders-0"), deleteClaim("data-orders-1"), deleteClaim("data-orders-2")), told(createPair(pairEngine)),
	),
	tell("pair-final-backup-of-adopted-volumes", createPair(pairEngine), remove(), soon(2, told(createPair(pairEngine, final))), remove()),
	tell("voters-final-backup", createVoters(final), remove()),
	tell("voters-final-backup-first-down", createVoters(final), freeze("orders-0"), soon(120, remove()), thaw("orders-0")),
	tell("voters-final-backup-hibernated", createVoters(final), hibernate(true), remove()),
	tell("voters-final-backup-hibernated-first-down", createVoters(final), freeze("orders-0"), hibernate(true), remove(), skipHooks(), told(createVoters())),
	tell("voters-final-backup-one-left", createVoters(final), scale(1), removeForeground()),
	tell("voters-final-backup-foreground", createVoters(final), removeForeground(), skipHooks(), told(createVoters())),
}

// removeOrphan deletes the cluster, and its objects stay.
func removeOrphan() step {
	return step{what: "the cluster is deleted, and its objects stay", do: func(w *world) {
		must(w.store.delete(w.cluster(), &client.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}))
	}}
}

// orphansFreed deletes the objects that a cluster left, but for the pods.
func orphansFreed() step {
	return step{what: "somebody deletes the objects that it left, and its pods stay", do: func(w *world) {
		orphan := metav1.DeletePropagationOrphan
		must(w.store.delete(get[*appsv1.StatefulSet](w.store, w.name), &client.DeleteOptions{PropagationPolicy: &orphan}))
		for _, object := range all[*corev1.Service](w.store) {
			w.store.remove(object)
		}
		for _, object := range all[*policyv1.PodDisruptionBudget](w.store) {
			w.store.remove(object)
		}
		for _, object := range all[*networkingv1.NetworkPolicy](w.store) {
			w.store.remove(object)
		}
		for _, object := range w.store.sorted() {
			if s, is := object.(*corev1.Secret); is && s.Name == w.name+"-connection" {
				w.store.remove(s)
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
			if kindOf(object) == "RoleBinding" {
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
			claim.Annotations[dbv1.AnnotationPrimaryTerm] = agreement.Annotations[termKey]
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
