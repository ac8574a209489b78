/*
SPDX-License-Identifier: Apache-2.0
*/

package connecting_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/connecting"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

func client(command string) connecting.Client {
	member := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders-0"}}
	member.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(999))}
	member.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	member.Spec.Containers = []corev1.Container{{Name: "sidecar", Image: "sidecar:1"}, {
		Name: "database", Image: "database:1", SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false)},
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}, Env: []corev1.EnvVar{{Name: "ROOT_PASSWORD", Value: "hunter22"}},
	}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders-connection"}, Data: map[string][]byte{
		"uri": []byte("ledger://app:hunter22@orders.shop.svc:5432/app"), "password": []byte("hunter22"), "jdbc-uri": []byte("jdbc:hunter22"), "ca.crt": []byte("CA"),
	}}
	return connecting.Client{
		Cluster: &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "1234"}},
		Member:  member, Secret: secret, Name: "orders-client-1", Command: command, Seconds: 3600,
	}
}

func TestTheJobOfAClientNamesTheSecretAndHasNoneOfItsValues(t *testing.T) {
	job, err := client(`ledger "$DBC_URI" $(date)`).Job()
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter22") {
		t.Error("the Job has a password")
	}
	golden.Text(t, "job", string(text))
}

func TestWithoutACommandTheClientIsAShellWithATerminal(t *testing.T) {
	c := client("")
	c.Terminal = true
	delete(c.Secret.Data, "ca.crt")
	job, err := c.Job()
	if err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec
	if run := pod.Containers[0]; !run.TTY || run.Command[4] != "exec sh" || len(run.VolumeMounts) != 1 || len(pod.Volumes) != 1 {
		t.Errorf("got %+v", pod)
	}
	c.Member.Spec.Containers = c.Member.Spec.Containers[:1]
	if _, err := c.Job(); err == nil || !strings.Contains(err.Error(), "pod orders-0 has no container database") {
		t.Errorf("got %v", err)
	}
}

func podIn(state corev1.ContainerState) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-client-1"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: connecting.Container, State: state}}
	return pod
}

func TestTheStateOfTheClientIsThatOfItsPod(t *testing.T) {
	waiting := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "no such image"}}
	}
	nowhere := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-client-1"}}
	nowhere.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}
	for name, c := range map[string]struct {
		pod        *corev1.Pod
		begun      bool
		state, err string
	}{
		"it runs":          {podIn(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), true, "", ""},
		"it has ended":     {podIn(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}), true, "", ""},
		"it starts":        {podIn(waiting("ContainerCreating")), false, "Pod orders-client-1 starts: ContainerCreating", ""},
		"it cannot start":  {podIn(waiting("ImagePullBackOff")), false, "", "pod orders-client-1 does not start: ImagePullBackOff: no such image"},
		"no node has room": {nowhere, false, "Pod orders-client-1 cannot be scheduled: 0/3 nodes are available", ""},
		"nothing is known": {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-client-1"}}, false, "Pod orders-client-1 starts.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			begun, state, err := connecting.Begun(c.pod, nil)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if begun != c.begun || state != c.state || text != c.err {
				t.Errorf("got %t, %q, %q", begun, state, text)
			}
		})
	}
}

func TestTheNewestEventDescribesWhatThePodWaitsFor(t *testing.T) {
	at := func(second int, message string) corev1.Event {
		return corev1.Event{LastTimestamp: metav1.Unix(int64(second), 0), Message: message}
	}
	pod := podIn(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
	modern := corev1.Event{EventTime: metav1.NewMicroTime(time.Unix(2, 0)), Message: "Successfully assigned"}
	begun, state, err := connecting.Begun(pod, []corev1.Event{at(1, "no node"), at(3, `Pulling image "database:1"`), modern})
	if begun || err != nil || state != `Pod orders-client-1 starts: Pulling image "database:1"` {
		t.Errorf("got %t, %q, %v", begun, state, err)
	}
}

func TestTheExitCodeIsThatOfTheClient(t *testing.T) {
	if code, ended := connecting.Ended(podIn(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 7}})); code != 7 || !ended {
		t.Errorf("got %d, %t", code, ended)
	}
	if _, ended := connecting.Ended(podIn(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})); ended {
		t.Error("a client that runs has ended")
	}
	if code, ended := connecting.Ended(&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}); code == 0 || !ended {
		t.Errorf("a pod that failed without a container: %d, %t", code, ended)
	}
}

func TestTheSecretOfAUserIsThatOfItsCluster(t *testing.T) {
	cluster := client("").Cluster
	user := &dbv1.DatabaseUser{ObjectMeta: metav1.ObjectMeta{Name: "billing"}}
	user.Spec.ClusterRef.Name = "cache"
	if _, err := connecting.SecretOfUser(cluster, user); err == nil || !strings.Contains(err.Error(), "DatabaseCluster cache, not of orders") {
		t.Errorf("got %v", err)
	}
	user.Spec.ClusterRef.Name = "orders"
	if _, err := connecting.SecretOfUser(cluster, user); err == nil || !strings.Contains(err.Error(), "kubectl dbc why databaseuser/billing") {
		t.Errorf("got %v", err)
	}
	user.Status.Binding = &dbv1.ClusterBinding{Name: "billing-user"}
	if name, err := connecting.SecretOfUser(cluster, user); err != nil || name != "billing-user" {
		t.Errorf("got %s, %v", name, err)
	}
	user.Spec.Authentication = dbv1.AuthenticateCertificate
	if _, err := connecting.SecretOfUser(cluster, user); err == nil || !strings.Contains(err.Error(), "docs/databases-and-users.md") {
		t.Errorf("a user with a certificate: got %v", err)
	}
}
