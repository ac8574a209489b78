/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestChangesThatComeTogetherStartOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := priorityqueue.New[reconcile.Request]("test")
		defer queue.ShutDown()
		orders := reconcile.Request{NamespacedName: types.NamespacedName{Name: "orders"}}
		find := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{orders} })
		wakes := debounced{find, func(before, _ client.Object) time.Duration {
			if before == nil {
				return StatusDelay
			}
			return BurstDelay
		}}
		started := time.Now()
		wakes.Create(t.Context(), event.CreateEvent{Object: &corev1.Pod{}}, queue)
		time.Sleep(10 * time.Millisecond) // the update comes earlier
		wakes.Update(t.Context(), event.UpdateEvent{ObjectOld: &corev1.Pod{}, ObjectNew: service("a", "2")}, queue)
		wakes.Delete(t.Context(), event.DeleteEvent{Object: &corev1.Pod{}}, queue)
		item, _ := queue.Get()
		if waited := time.Since(started); item != orders || waited != BurstDelay+10*time.Millisecond {
			t.Errorf("%v after %s, want one pass after %s", item, waited, BurstDelay+10*time.Millisecond)
		}
		queue.Done(item)
		wakes.Create(t.Context(), event.CreateEvent{Object: &corev1.Pod{}}, queue)
		queue.Add(orders) // the cluster itself has changed
		time.Sleep(time.Millisecond)
		if queue.Len() != 1 {
			t.Error("a change of the cluster waits")
		}
	})
}
