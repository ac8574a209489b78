/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// storing returns an engine whose parameter follows the volume, and a cluster with a volume of this size.
func storing(size string) (*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {
	declared, cluster := &dbv1.DatabaseEngine{}, &dbv1.DatabaseCluster{}
	declared.Spec.Parameters = []dbv1.EngineParameter{{Name: "wal", Default: "1GB", Storage: &dbv1.EngineParameterStorage{DefaultPercent: 10, MaxPercent: 40}}}
	declared.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
	cluster.Spec.Engine, cluster.Spec.Storage.Size, cluster.Spec.Replicas = "db", resource.MustParse(size), 1
	return cluster, declared
}

func TestADefaultFitsOnTheVolume(t *testing.T) {
	for size, want := range map[string]string{"700Mi": "70MB", "1Gi": "102MB", "9Gi": "921MB", "20Gi": "1GB", "1Ti": "1GB", "1Mi": "1MB"} {
		cluster, declared := storing(size)
		resolved := Resolve(cluster, declared)
		if got := resolved.Spec.Parameters["wal"]; got != want {
			t.Errorf("%s: %s, want %s", size, got, want)
		}
		if _, text := Refusal(resolved, declared, true); text != "" {
			t.Errorf("%s: the default is refused: %s", size, text)
		}
		FitParameters(resolved, cluster, declared, 700<<20) // a volume that has not grown yet
		if got := resolved.Spec.Parameters["wal"]; size != "1Mi" && got != "70MB" {
			t.Errorf("%s: %s before the volume has grown", size, got)
		}
	}
	cluster, declared := storing("1Gi")
	declared.Spec.Parameters[0].Default = "2147483648"
	if got := Resolve(cluster, declared).Spec.Parameters["wal"]; got != "107374180" {
		t.Error("a number of bytes becomes", got)
	}
}

func TestAValueThatDoesNotFitOnTheVolumeIsRefused(t *testing.T) {
	for value, refused := range map[string]bool{"280MB": false, "281MB": true, "1GB": true, "99999999999999TB": true, "10000kB": false, "-1": false} {
		cluster, declared := storing("700Mi")
		cluster.Spec.Parameters = map[string]string{"wal": value}
		reason, text := Refusal(Resolve(cluster, declared), declared, true)
		if (reason != "") != refused || refused && (reason != dbv1.ReasonInvalidParameter || !strings.Contains(text, "spec.parameters[wal] is "+value) || !strings.Contains(text, "raise spec.storage.size")) {
			t.Error(value, reason, text)
		}
	}
	cluster, declared := storing("1Gi")
	declared.Spec.Parameters[0] = dbv1.EngineParameter{Name: "quota", Default: "2147483648", Storage: &dbv1.EngineParameterStorage{MaxPercent: 50}}
	if _, text := Refusal(Resolve(cluster, declared), declared, true); text != "" {
		t.Error("a default that the cluster has not set is refused: ", text)
	}
	declared.Spec.Parameters[0].Default = "" // the start script computes it from the volume
	cluster.Spec.Parameters = map[string]string{"quota": "2147483648"}
	if _, text := Refusal(Resolve(cluster, declared), declared, true); !strings.Contains(text, "must be at most 50% of spec.storage.size") {
		t.Error("a value that does not fit is accepted: ", text)
	}
}

func TestADefaultThatFollowsTheVolumeNeedsConfigure(t *testing.T) {
	_, declared := storing("1Gi")
	declared.Spec.Actions.Configure = nil
	if got := strings.Join(Flaws(declared.Spec), "; "); !strings.Contains(got, "spec.parameters[wal].storage.defaultPercent needs the action configure") {
		t.Error(got)
	}
}

func TestAPortThatTheEngineUsesIsRefused(t *testing.T) {
	cluster, declared := storing("1Gi")
	declared.Spec.Container.OtherPorts = []int32{8008}
	for port, refused := range map[int32]bool{0: false, 5433: false, 8008: true} {
		cluster.Spec.Container.Port = port
		reason, text := Refusal(Resolve(cluster, declared), declared, true)
		if (reason == dbv1.ReasonFieldUnsupported) != refused || refused && !strings.Contains(text, "spec.container.port is 8008") {
			t.Error(port, reason, text)
		}
	}
}

func TestSharedMemoryIsAVolumeUnlessTheClusterHasOne(t *testing.T) {
	cluster, declared := storing("1Gi")
	if resolved := Resolve(cluster, declared); len(resolved.Spec.Pod.Volumes)+len(resolved.Spec.Container.VolumeMounts) > 0 {
		t.Error("an engine that does not ask for it has it")
	}
	declared.Spec.Container.SharedMemory = true
	once := Resolve(cluster, declared)
	twice := Resolve(once, declared)
	for _, resolved := range []*dbv1.DatabaseCluster{once, twice} {
		volumes, mounts := resolved.Spec.Pod.Volumes, resolved.Spec.Container.VolumeMounts
		if len(volumes) != 1 || volumes[0].EmptyDir == nil || volumes[0].EmptyDir.Medium != "Memory" || len(mounts) != 1 || mounts[0].MountPath != "/dev/shm" {
			t.Error(volumes, mounts)
		}
	}
	cluster.Spec.Container.VolumeMounts = []dbv1.ClusterVolumeMount{{Name: "own", MountPath: "/dev/shm"}}
	if mounts := Resolve(cluster, declared).Spec.Container.VolumeMounts; len(mounts) != 1 || mounts[0].Name != "own" {
		t.Error("the volume of the cluster is covered:", mounts)
	}
}
