/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func limits(cpu string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
}

// transfers is a kind with the resources of backups.
var transfers = jobs.ActionKind{Component: dbv1.ComponentBackup, Retries: 6, Deadline: jobs.Within(time.Hour), Resources: jobs.BackupResources, Connects: true}

func TestEveryContainerOfAJobHasRequestsAndLimits(t *testing.T) {
	member := corev1.ResourceRequirements{Requests: pods.Quantities("3", "4Gi"), Limits: pods.Quantities("4", "8Gi")}
	zero := int32(0)
	command := dbv1.DeletionHook{Name: "run", Resources: limits("50m")}
	cases := map[string]struct {
		make func(*dbv1.DatabaseCluster) objects.Child
		// want are the CPU and memory requests, then the limits, of the container "action".
		want [4]string
	}{
		"a hook": {func(c *dbv1.DatabaseCluster) objects.Child { return HookJob(c, dbv1.DeletionHook{Name: "run"}) }, [4]string{"100m", "256Mi", "2", "1Gi"}},
		"a hook with a limit below the default request": {func(c *dbv1.DatabaseCluster) objects.Child { return HookJob(c, command) }, [4]string{"50m", "256Mi", "50m", "1Gi"}},
		"an action with a transfer": {func(c *dbv1.DatabaseCluster) objects.Child {
			return jobs.Build(c, jobs.Spec{Kind: HookAction, Name: "a", Transfer: &jobs.Transfer{Image: "operator:1", Call: &protocol.Probe{}}})
		}, [4]string{"100m", "256Mi", "2", "1Gi"}},
		"an action that requests more than the default limit": {func(c *dbv1.DatabaseCluster) objects.Child {
			return jobs.Build(c, jobs.Spec{Kind: HookAction, Name: "a", Resources: corev1.ResourceRequirements{Requests: pods.Quantities("5", "3Gi")}})
		}, [4]string{"5", "3Gi", "5", "3Gi"}},
		"an action that may start the database": {func(c *dbv1.DatabaseCluster) objects.Child {
			return jobs.Build(c, jobs.Spec{Kind: HookAction, Name: "a", Offline: true, Member: &zero})
		}, [4]string{"3", "4Gi", "4", "8Gi"}},
		"a transfer": {func(c *dbv1.DatabaseCluster) objects.Child {
			c.Spec.Backup = &dbv1.ClusterBackup{Resources: limits("500m")}
			return jobs.Build(c, jobs.Spec{Kind: transfers, Name: "a"})
		}, [4]string{"100m", "256Mi", "500m", "1Gi"}},
		"a transfer without spec.backup": {func(c *dbv1.DatabaseCluster) objects.Child {
			return jobs.Build(c, jobs.Spec{Kind: transfers, Name: "a"})
		}, [4]string{"100m", "256Mi", "2", "1Gi"}},
		"a hand-over with the resources of helpers": {func(c *dbv1.DatabaseCluster) objects.Child {
			c.Spec.Helpers.Resources = corev1.ResourceRequirements{Requests: pods.Quantities("20m", "64Mi"), Limits: pods.Quantities("50m", "300Mi")}
			return jobs.Build(c, jobs.Spec{Kind: HandOverAction, Name: "a"})
		}, [4]string{"20m", "64Mi", "50m", "300Mi"}},
		"a transfer with a limit of its own": {func(c *dbv1.DatabaseCluster) objects.Child {
			c.Spec.Backup, c.Spec.Helpers.Resources = &dbv1.ClusterBackup{Resources: limits("500m")}, corev1.ResourceRequirements{Requests: pods.Quantities("20m", "64Mi")}
			return jobs.Build(c, jobs.Spec{Kind: transfers, Name: "a"})
		}, [4]string{"100m", "64Mi", "500m", "1Gi"}},
		"an action of a small member": {func(c *dbv1.DatabaseCluster) objects.Child {
			c.Spec.Resources.Limits = pods.Quantities("500m", "128Mi")
			return jobs.Build(c, jobs.Spec{Kind: ConfigureAction, Name: "a", Transfer: &jobs.Transfer{Image: "operator:1", Call: &protocol.Probe{}}})
		}, [4]string{"100m", "256Mi", "500m", "256Mi"}},
		"an action that may start the database of a small member": {func(c *dbv1.DatabaseCluster) objects.Child {
			c.Spec.Resources = corev1.ResourceRequirements{Limits: pods.Quantities("500m", "512Mi")}
			return jobs.Build(c, jobs.Spec{Kind: RestoreAction, Name: "a", Offline: true, Member: &zero})
		}, [4]string{"500m", "512Mi", "500m", "1Gi"}},
		"a copy": {func(c *dbv1.DatabaseCluster) objects.Child {
			return jobs.Build(c, jobs.Spec{Kind: HookAction, Name: "a", Transfer: &jobs.Transfer{Image: "operator:1", Call: &protocol.Probe{}}, Copy: &jobs.Copy{Restore: jobs.Transfer{Call: &protocol.Restore{}}}})
		}, [4]string{"100m", "256Mi", "2", "1Gi"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := &dbv1.DatabaseCluster{Spec: dbv1.DatabaseClusterSpec{Resources: member}}
			job := &batchv1.Job{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(c.make(cluster).Object.Object, job); err != nil {
				t.Fatal(err)
			}
			pod := job.Spec.Template.Spec
			for _, container := range append(pod.InitContainers, pod.Containers...) {
				has := container.Resources
				if len(has.Requests) != 2 || len(has.Limits) != 2 {
					t.Errorf("container %s has %+v", container.Name, has)
				}
			}
			has := pod.Containers[0].Resources
			got := [4]string{has.Requests.Cpu().String(), has.Requests.Memory().String(), has.Limits.Cpu().String(), has.Limits.Memory().String()}
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestAnActionThatMayStartADatabaseWithoutLimitsHasNone(t *testing.T) {
	if got := pods.WithDefaults(corev1.ResourceRequirements{}, jobs.AtLeast(corev1.ResourceRequirements{})); len(got.Limits) > 0 || len(got.Requests) != 2 {
		t.Errorf("%+v", got)
	}
	if got := pods.WithDefaults(limits("3"), jobs.AtLeast(limits("1"))); got.Limits.Cpu().String() != "3" || got.Requests.Cpu().String() != "1" {
		t.Errorf("%+v", got)
	}
}
