/*
SPDX-License-Identifier: Apache-2.0
*/

package connecting

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	// Container is the container of the client.
	Container = "client"
	// folder has the CA in the pod of the client.
	folder = "/dbc-client"
	// Component is the label of the pod. No Service of the cluster selects it.
	Component = "client"
	// expiry is after how many seconds Kubernetes deletes the Job if the plugin could not.
	expiry = 60
)

// Client is a client in a Job.
type Client struct {
	Cluster *dbv1.DatabaseCluster
	// Member is a pod of the cluster. The client has its image, and its settings for security and scheduling.
	Member *corev1.Pod
	// Secret has the form of the connection Secret.
	Secret *corev1.Secret
	// Name is that of the Job. The plugin chooses it, so it can delete the Job even if it does not see the answer of the API server.
	Name string
	// Command is for sh; empty for an interactive shell. Terminal is true if the client gets a terminal.
	Command  string
	Terminal bool
	// Seconds is how long the client may run.
	Seconds int64
}

// Job runs the client. Kubernetes deletes it with the cluster, and soon after its end. The values of the Secret are in neither the Job nor
// the pod, which only name it.
func (c Client) Job() (*batchv1.Job, error) {
	i := slices.IndexFunc(c.Member.Spec.Containers, func(c corev1.Container) bool { return c.Name == "database" })
	if i < 0 {
		return nil, fmt.Errorf("pod %s has no container database", c.Member.Name)
	}
	labels := map[string]string{
		dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: c.Cluster.Name, dbv1.LabelComponent: Component,
		dbv1.LabelConnects: "true", // the NetworkPolicy of the members admits it
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Cluster.Namespace, Name: c.Name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: dbv1.GroupVersion.String(), Kind: "DatabaseCluster", Name: c.Cluster.Name, UID: c.Cluster.UID,
			}},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32), TTLSecondsAfterFinished: new(int32(expiry)), ActiveDeadlineSeconds: new(c.Seconds),
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: c.pod(c.Member.Spec.Containers[i])},
		},
	}, nil
}

func (c Client) pod(database corev1.Container) corev1.PodSpec {
	member := c.Member.Spec
	spec := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
		TerminationGracePeriodSeconds: new(int64(5)), SecurityContext: member.SecurityContext, ImagePullSecrets: member.ImagePullSecrets,
		NodeSelector: member.NodeSelector, Tolerations: member.Tolerations,
		Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{{
			Name: Container, Image: database.Image, ImagePullPolicy: database.ImagePullPolicy, SecurityContext: database.SecurityContext,
			Command: c.command(), Env: c.environment(), Stdin: true, StdinOnce: true, TTY: c.Terminal, Resources: modest(),
			VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
		}},
	}
	if CA(c.Secret.Data) != nil {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "ca", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: c.Secret.Name, Items: []corev1.KeyToPath{{Key: authority, Path: authority}},
		}}})
		client := &spec.Containers[0]
		client.VolumeMounts = append(client.VolumeMounts, corev1.VolumeMount{Name: "ca", MountPath: folder, ReadOnly: true})
	}
	return spec
}

// Start is what the plugin sends when it is attached. The client waits for that line, so none of its output is lost.
const Start = "\n"

// command waits for the line Start and then runs the command. Kubernetes would replace $(NAME), so each $ is doubled.
func (c Client) command() []string {
	run := "exec sh"
	if c.Command != "" {
		run = c.Command
	}
	return []string{"sh", "-c", `read -r line; exec sh -c "$$1"`, "sh", strings.ReplaceAll(run, "$", "$$")}
}

// environment are the variables of the client: those of Connection.Environment, with the address of the Service.
func (c Client) environment() []corev1.EnvVar {
	all := []corev1.EnvVar{{Name: "HOME", Value: "/tmp"}}
	for _, key := range slices.Sorted(maps.Keys(c.Secret.Data)) {
		if key == authority {
			all = append(all, corev1.EnvVar{Name: "DBC_CA_FILE", Value: folder + "/" + authority})
			continue
		}
		all = append(all, corev1.EnvVar{Name: variable(key), ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: c.Secret.Name}, Key: key,
		}}})
	}
	return all
}

// modest are the resources of a client. A quota of the namespace can require them.
func modest() corev1.ResourceRequirements {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	return corev1.ResourceRequirements{Requests: list("10m", "64Mi"), Limits: list("500m", "256Mi")}
}

// refused are the reasons for which a container does not start until a user corrects something.
var refused = []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"}

// Begun reports whether the client runs or has ended. If not, the state is what it waits for, which the newest event of the pod describes.
func Begun(pod *corev1.Pod, events []corev1.Event) (begun bool, state string, err error) {
	for _, c := range pod.Status.ContainerStatuses {
		waiting := c.State.Waiting
		switch {
		case c.State.Running != nil, c.State.Terminated != nil:
			return true, "", nil
		case waiting != nil && slices.Contains(refused, waiting.Reason):
			return false, "", fmt.Errorf("pod %s does not start: %s: %s", pod.Name, waiting.Reason, waiting.Message)
		case waiting != nil:
			return false, fmt.Sprintf("Pod %s starts: %s", pod.Name, cmp.Or(newest(events), waiting.Reason)), nil
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return false, fmt.Sprintf("Pod %s cannot be scheduled: %s", pod.Name, c.Message), nil
		}
	}
	return false, fmt.Sprintf("Pod %s starts.", pod.Name), nil
}

// newest is the message of the newest event; "" without any.
func newest(events []corev1.Event) string {
	if len(events) == 0 {
		return ""
	}
	at := func(e corev1.Event) time.Time {
		if e.LastTimestamp.IsZero() {
			return e.EventTime.Time
		}
		return e.LastTimestamp.Time
	}
	return slices.MaxFunc(events, func(a, b corev1.Event) int { return at(a).Compare(at(b)) }).Message
}

// Ended is the exit code of the client; ended is false while it runs.
func Ended(pod *corev1.Pod) (code int, ended bool) {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			return int(c.State.Terminated.ExitCode), true
		}
	}
	return 1, pod.Status.Phase == corev1.PodFailed
}
