//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func withConfig(text string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Config = &dbv1.ClusterConfig{Files: map[string]string{"db.conf": text}}
	}
}

// configs returns the ConfigMaps that the operator created.
func configs(t *testing.T, cluster *dbv1.DatabaseCluster) []corev1.ConfigMap {
	t.Helper()
	return listed(t, cluster.Namespace, &corev1.ConfigMapList{}, client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentConfig}).Items
}

// configOf returns the ConfigMap that a pod mounts.
func configOf(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.Name == "config" {
			return v.ConfigMap.Name
		}
	}
	return ""
}

func TestAnUnusedConfigMapIsDeletedAfterTheFilesChange(t *testing.T) {
	parallel(t)
	cluster := ready(t, withConfig("a = 1"))
	previous := configs(t, cluster)
	if len(previous) != 1 || previous[0].Immutable == nil || !*previous[0].Immutable || previous[0].Data["db.conf"] != "a = 1" {
		t.Fatalf("%+v", previous)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { withConfig("a = 2")(c); c.Spec.UpdateStrategy.Paused = true })
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonRolloutPaused)
	if got := configs(t, cluster); len(got) != 2 {
		t.Errorf("%d ConfigMaps while members use the previous one, want both", len(got))
	}
	if got := configOf(read(t, member(cluster, 0))); got != previous[0].Name {
		t.Errorf("orders-0 mounts %s, want %s", got, previous[0].Name)
	}

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.UpdateStrategy.Paused = false })
	awaitReady(t, cluster)
	awaitDeleted(t, &previous[0])
	now := configs(t, cluster)
	if len(now) != 1 || now[0].Data["db.conf"] != "a = 2" {
		t.Fatalf("%+v", now)
	}
	for _, pod := range podsOf(t, cluster) {
		if got := configOf(&pod); got != now[0].Name {
			t.Errorf("%s mounts %s, want %s", pod.Name, got, now[0].Name)
		}
	}

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Config = nil })
	awaitReady(t, cluster)
	awaitDeleted(t, &now[0])
}

func password(cluster *dbv1.DatabaseCluster) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "password"},
		Data:       map[string][]byte{"PASSWORD": []byte("first")},
	}
}

func usePassword(c *dbv1.DatabaseCluster) {
	c.Spec.Container.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "password"}}}}
}

func TestAMissingSecretBlocksTheRolloutUntilItExists(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	before := uids(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { usePassword(c); setSecondImage(c) })
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonReferenceMissing,
		"Secret password, which spec.container.envFrom names, does not exist", "Create what is missing in the namespace of the cluster")
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonWaitingForReference)
	awaitTrue(t, cluster, dbv1.ConditionAvailable, dbv1.ReasonAllReplicasReady)
	mustNotBeRestarted(t, cluster, before)

	create(t, password(cluster))
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "1"))
	awaitRestarted(t, cluster, before)
	awaitCondition(t, cluster, dbv1.ConditionStalled, metav1.ConditionFalse, dbv1.ReasonNotStalled)
	mustHaveImage(t, cluster, secondImage)
}

func TestAClusterWithAMissingSecretStartsWhenTheSecretExists(t *testing.T) {
	parallel(t)
	cluster := created(t, usePassword)
	kubelet(t, cluster.Namespace, healthy)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonReferenceMissing)
	if got := uids(t, cluster); len(got) > 0 {
		t.Errorf("members %v exist, although they cannot start", got)
	}
	create(t, password(cluster))
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "1"))
	awaitReady(t, cluster)
}

// Only the annotation triggers a pass for the cluster in this test: the operator does not watch Secrets.
func TestTheRefreshAnnotationRestartsTheMembersWhenASecretHasChanged(t *testing.T) {
	parallel(t)
	cluster := created(t, nil)
	secret := password(cluster)
	create(t, secret)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { atOnce(c); usePassword(c) })
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)

	before := uids(t, cluster)
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "nothing has changed"))
	awaitConverged(t, cluster)
	mustNotBeRestarted(t, cluster, before)

	change(t, secret, func(s *corev1.Secret) { s.Data["PASSWORD"] = []byte("second") })
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "the password has"))
	awaitRestarted(t, cluster, before)

	before = uids(t, cluster)
	change(t, secret, func(s *corev1.Secret) { s.Labels = map[string]string{"no": "content"} })
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "only a label has"))
	awaitConverged(t, cluster)
	mustNotBeRestarted(t, cluster, before)
}

func TestAVolumeOfTheTemplateAndASidecarReachTheMembers(t *testing.T) {
	parallel(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) {
		c.Spec.Pod = dbv1.ClusterPod{
			Labels:      map[string]string{"team": "payments"},
			Annotations: map[string]string{"example.test/scrape": "true"},
			Volumes:     []dbv1.ClusterVolume{{Name: "scratch", EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			InitContainers: []dbv1.ClusterExtraContainer{{
				Name: "prepare", Command: []string{"true"}, VolumeMounts: []dbv1.ClusterVolumeMount{{Name: "data", MountPath: "/data"}},
			}},
			Sidecars: []dbv1.Sidecar{{
				ClusterExtraContainer: dbv1.ClusterExtraContainer{Name: "exporter", Image: "example.test/exporter:1"},
				Ports:                 []dbv1.SidecarPort{{Name: "metrics", ContainerPort: 9187}},
			}},
		}
		c.Spec.Container.VolumeMounts = []dbv1.ClusterVolumeMount{{Name: "scratch", MountPath: "/scratch"}}
	}, healthy)
	pod := read(t, member(cluster, 0))
	if pod.Labels["team"] != "payments" || pod.Annotations["example.test/scrape"] != "true" || len(pod.Spec.InitContainers) != 2 {
		t.Errorf("%+v", pod)
	}
	for _, c := range pod.Spec.InitContainers {
		if s := c.SecurityContext; s == nil || *s.AllowPrivilegeEscalation || !*s.RunAsNonRoot {
			t.Errorf("%s may run as root: %+v", c.Name, s)
		}
	}
	if exporter := pod.Spec.InitContainers[1]; exporter.RestartPolicy == nil || exporter.Ports[0].ContainerPort != 9187 {
		t.Errorf("%+v", exporter)
	}
	before := uids(t, cluster)
	awaitConverged(t, cluster)
	mustNotBeRestarted(t, cluster, before)
	if got := fmt.Sprint(pod.Spec.Containers[0].VolumeMounts); len(pod.Spec.Containers[0].VolumeMounts) != 2 {
		t.Error(got)
	}
}
