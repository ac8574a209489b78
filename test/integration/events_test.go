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

// What the operator records events by makes one of those that come with the same reason while the cluster has the same
// version, and counts. When that happens is a matter of who is quicker, so it is made to happen here, with the operator's rights.
func TestAnEventThatIsToldTwiceAtOnceIsCounted(t *testing.T) {
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
	tell := func() { recorder.Eventf(cluster, nil, corev1.EventTypeNormal, "Told", "Tell", "twice") }
	tell()
	awaitEvent(t, cluster, "Told", func(eventsv1.Event) bool { return true })
	tell()
	awaitEvent(t, cluster, "Told", func(e eventsv1.Event) bool { return e.Series != nil && e.Series.Count == 2 })
}
