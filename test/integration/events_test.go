//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The event recorder merges events with the same reason and resourceVersion of the object, and counts them. The order
// depends on timing, so this test creates both events itself, with the operator's rights.
func TestARepeatedEventIsCounted(t *testing.T) {
	parallel(t)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig(t, operatorUser, ""))
	if err != nil {
		t.Fatal(err)
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(config).EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer broadcaster.Shutdown()
	cluster := created(t, nil)
	recorder := broadcaster.NewRecorder(admin.Scheme(), dbv1.FieldOwner)
	record := func() { recorder.Eventf(cluster, nil, corev1.EventTypeNormal, "Repeated", "Repeat", "twice") }
	record()
	awaitEventThat(t, cluster, "Repeated", func(eventsv1.Event) bool { return true })
	record()
	awaitEventThat(t, cluster, "Repeated", func(e eventsv1.Event) bool { return e.Series != nil && e.Series.Count == 2 })
}
