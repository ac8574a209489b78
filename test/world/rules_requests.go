/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchRequests counts the requests of the user. One that a cluster is created with may be old, so it counts as executed.
func (w *World) watchRequests(c store.Change) {
	after, is := c.After.(*dbv1.DatabaseCluster)
	if !is {
		return
	}
	before, existed := c.Before.(*dbv1.DatabaseCluster)
	for kind, key := range map[dbv1.ClusterRequestType]string{dbv1.RequestRebuild: dbv1.AnnotationRebuild,
		dbv1.RequestHandOver: dbv1.AnnotationHandOver} {
		value, on := after.Annotations[key], &w.disk.shared
		switch {
		case value == "", existed && before.Annotations[key] == value:
		case !existed:
			on.asked[kind], on.executed[kind] = on.asked[kind]+1, "an earlier cluster"
		default:
			on.asked[kind], on.executed[kind] = on.asked[kind]+1, ""
			if kind == dbv1.RequestHandOver {
				on.led = map[string]bool{w.holder(): true}
			}
		}
	}
	w.watchCompleted(after)
	if existed {
		w.watchSeen(before, after)
	}
}

// watchSeen: a restart or a rotation is completed when it is in force, for all members of the cluster or for clients.
func (w *World) watchSeen(before, cluster *dbv1.DatabaseCluster) {
	for _, r := range cluster.Status.Requests {
		known := slices.ContainsFunc(before.Status.Requests, func(b dbv1.ClusterRequestStatus) bool {
			return b.Type == r.Type && b.Request == r.Request && b.State == r.State
		})
		switch {
		case known || r.State != dbv1.RequestCompleted:
		case r.Type == dbv1.RequestRestart:
			w.watchRestarted(cluster.Name, r.Request)
		case r.Type == dbv1.RequestRotateCredentials:
			secret := store.Get[*corev1.Secret](w.Store, naming.Credentials(cluster.Name))
			if secret != nil && secret.Annotations[dbv1.AnnotationRotationRequest] != r.Request {
				w.Breaks("rotation %q is completed, but the Secret has another request", r.Request)
			}
		}
	}
}

func (w *World) watchRestarted(cluster, request string) {
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		current := pod.Annotations[dbv1.AnnotationRestart] == request || pod.DeletionTimestamp != nil
		if IsMember(pod) && pod.Labels[dbv1.LabelInstance] == cluster && !current {
			w.Breaks("restart %q is completed, but pod %s is from before it", request, pod.Name)
		}
	}
}

// watchCompleted: a request for a hand-over is completed after one was executed for it, or after its pod has been the primary.
func (w *World) watchCompleted(cluster *dbv1.DatabaseCluster) {
	on := w.disk.shared
	for _, r := range cluster.Status.Requests {
		completed := r.Type == dbv1.RequestHandOver && r.State == dbv1.RequestCompleted &&
			r.Request == cluster.Annotations[dbv1.AnnotationHandOver]
		if pod, _, _ := strings.Cut(r.Request, "/"); completed && on.executed[r.Type] == "" && !on.led[pod] {
			w.Breaks("request %d of type %s is completed, but was not executed", on.asked[r.Type], r.Type)
		}
	}
}

// executes: a request is executed at most once.
func (w *World) executes(kind dbv1.ClusterRequestType, with types.UID) {
	on := &w.disk.shared
	if before := on.executed[kind]; before != "" && before != with {
		w.Breaks("request %d of type %s is executed again", on.asked[kind], kind)
	}
	on.executed[kind] = with
}

// watchInForce: a configuration that is in force is the one that the members use.
func (w *World) watchInForce(before, cluster *dbv1.DatabaseCluster) {
	ready := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionReady)
	record := cluster.Status.Configuration
	if w.disk.shared.edited { // the operator has not seen it yet
		w.watchRecorded(before.Status.Configuration, record)
		return
	}
	if cluster.Spec.Engine != TuneEngine || w.stops() || ready == nil || ready.Status != metav1.ConditionTrue ||
		ready.ObservedGeneration != cluster.Generation {
		return
	}
	uses, wanted := map[string]string{}, map[string]string{"work_mem": "1"}
	maps.Copy(wanted, cluster.Spec.Parameters)
	if text := w.disk.shared.parameters; text != "" {
		Must(json.Unmarshal([]byte(text), &uses))
	}
	if record == nil || record.State != dbv1.ConfigurationInForce {
		w.Breaks("Ready although no configuration is in force")
	}
	if uses["work_mem"] != wanted["work_mem"] || w.disk.shared.tunedFor != fmt.Sprint(cluster.Spec.Replicas) {
		w.Breaks("%v for %d members is in force, but %s members use %v", wanted, cluster.Spec.Replicas, w.disk.shared.tunedFor, uses)
	}
}
