/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Kept is how long a finished Job and its logs are retained, unless a Spec has another time.
const Kept = 7 * 24 * time.Hour

const (
	actionKeptSeconds = int32(Kept / time.Second)
	// actionGraceSeconds is the grace period of transfer: 20 s for the action, the rest to remove incomplete data from
	// the destination.
	actionGraceSeconds = 60
)

// Spec is one operation on a database that the operator runs in a Job.
type Spec struct {
	// Name of the Job.
	Name string
	// Kind has what the action shares with others.
	Kind ActionKind
	// Labels of the Job and its pods; nil for those of an object of the cluster with the component of the kind.
	Labels map[string]string
	// Owner owns the Job. A Job that a deletion still needs has no owner: in a foreground deletion the garbage
	// collector would delete an owned Job immediately.
	Owner *metav1ac.OwnerReferenceApplyConfiguration
	// Command runs in the cluster's image; nil where Transfer runs it.
	Command []string
	// Transfer connects a command with a backup; nil: the command runs alone.
	Transfer *Transfer
	// Member is the ordinal of the member that the action works on; nil for all members.
	Member *int32
	// Variables are those of the action, in addition to the ones of every action.
	Variables []*corev1ac.EnvVarApplyConfiguration
	// Secrets are mounted in addition to that with the credentials.
	Secrets []SecretFolder
	// Members is how many members exist, if that may be more than in the spec: during a scale-in. 0 for the number in the spec.
	Members int32
	// Offline mounts the volume of that member, which must not be running.
	Offline bool
	// Copy runs the action against a temporary copy of the database; nil for the cluster.
	Copy *Copy
	// SecretItems maps files in /dbc/secrets to keys of the Secret with the credentials; nil for all its keys. The pod starts
	// only after the kubelet has read a Secret with these keys.
	SecretItems map[string]string
	// Resources of each working container, where the kind sets none. Fields that are not set get defaults.
	Resources corev1.ResourceRequirements
	// KeptSeconds is how long the finished Job and its logs are retained; 0 for actionKeptSeconds.
	KeptSeconds int32
	// DeadlineSeconds bounds the action, retries included; 0 for the deadline of its kind.
	DeadlineSeconds int64
}

// Transfer is a call of the transfer binary, which runs the action's command.
type Transfer struct {
	// Image holds the binary.
	Image string
	// Call is the request to the binary, with the command that it runs.
	Call protocol.Call
	// At is the location of the backup, which Store describes for the call. Nil if the call needs none.
	At *dbv1.BackupDestination
}

// Build builds the Job of an action, for an effective cluster. The pods of one attempt are deleted before the
// next attempt starts. An exit code can fail the Job immediately, or allow retries until the deadline.
func Build(cluster *dbv1.DatabaseCluster, action Spec) objects.Child {
	cluster = pods.ForJobs(cluster)
	kind, labels := action.Kind, action.labels(cluster)
	if action.DeadlineSeconds == 0 {
		action.DeadlineSeconds = int64(kind.Deadline(cluster).Seconds())
	}
	if kind.Resources != nil {
		action.Resources = kind.Resources(cluster)
	}
	job := batchv1ac.Job(action.Name, cluster.Namespace).
		WithLabels(labels).
		WithSpec(batchv1ac.JobSpec().
			WithBackoffLimit(kind.Retries).
			WithActiveDeadlineSeconds(action.DeadlineSeconds).
			WithTTLSecondsAfterFinished(cmp.Or(action.KeptSeconds, actionKeptSeconds)).
			WithPodReplacementPolicy(batchv1.Failed).
			WithPodFailurePolicy(action.failurePolicy()).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithLabels(action.Kind.access()).
				WithAnnotations(pods.Scripts(cluster)).
				WithSpec(action.pod(cluster).WithRestartPolicy(corev1.RestartPolicyNever))))
	if pods.GeneratesServiceAccount(cluster) {
		job.WithAnnotations(map[string]string{dbv1.AnnotationServiceAccount: naming.ServiceAccount(cluster.Name)})
	}
	if action.Owner != nil {
		job.WithOwnerReferences(action.Owner)
	}
	return objects.New(job)
}

// access is the label of pods that may connect to every port of the members.
func (k ActionKind) access() map[string]string {
	if !k.Connects {
		return nil
	}
	return map[string]string{dbv1.LabelConnects: "true"}
}

func (a Spec) labels(cluster *dbv1.DatabaseCluster) map[string]string {
	if a.Labels != nil {
		return a.Labels
	}
	return naming.Labels(cluster, a.Kind.Component)
}

// failurePolicy maps exit codes to outcomes. A disruption by Kubernetes is not a failure. Each attempt of a copy
// counts: a finished pod keeps its volume until the Job is deleted, so unlimited attempts would fill the storage.
func (a Spec) failurePolicy() *batchv1ac.PodFailurePolicyApplyConfiguration {
	policy := batchv1ac.PodFailurePolicy().WithRules(batchv1ac.PodFailurePolicyRule().
		WithAction(batchv1.PodFailurePolicyActionIgnore).
		WithOnPodConditions(batchv1ac.PodFailurePolicyOnPodConditionsPattern().
			WithType(corev1.DisruptionTarget).WithStatus(corev1.ConditionTrue)))
	final := func(container string) *batchv1ac.PodFailurePolicyRuleApplyConfiguration {
		return onExit(container, batchv1.PodFailurePolicyActionFailJob, protocol.Final())
	}
	if a.Copy != nil {
		return policy.WithRules(final(naming.RestoreContainer), final(naming.ActionContainer))
	}
	return policy.WithRules(final(naming.ActionContainer),
		onExit(naming.ActionContainer, batchv1.PodFailurePolicyActionIgnore, protocol.Uncounted()))
}

func onExit(container string, action batchv1.PodFailurePolicyAction,
	codes []protocol.ExitCode) *batchv1ac.PodFailurePolicyRuleApplyConfiguration {
	requirement := batchv1ac.PodFailurePolicyOnExitCodesRequirement().
		WithContainerName(container).
		WithOperator(batchv1.PodFailurePolicyOnExitCodesOpIn)
	for _, code := range codes {
		requirement.WithValues(int32(code))
	}
	return batchv1ac.PodFailurePolicyRule().WithAction(action).WithOnExitCodes(requirement)
}

func (a Spec) pod(cluster *dbv1.DatabaseCluster) *corev1ac.PodSpecApplyConfiguration {
	spec := pods.Spec(cluster)
	if a.Kind.Places {
		pods.SpreadLikeMembers(cluster, spec, a.labels(cluster))
	} else {
		pods.BesideMembers(spec)
	}
	a.selectSecrets(spec)
	a.withoutObjects(spec)
	if a.Transfer != nil {
		spec.WithTerminationGracePeriodSeconds(actionGraceSeconds)
	}
	a.withTransfer(cluster, spec)
	spec.WithVolumes(volumes(a.Secrets)...)
	switch {
	case a.Copy != nil:
		a.withCopy(cluster, spec)
	case a.Offline:
		spec.WithVolumes(corev1ac.Volume().WithName(naming.DataVolume).WithPersistentVolumeClaim(
			corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(naming.Claim(cluster, *a.Member))))
	}
	container := a.container(cluster, naming.ActionContainer, a.Transfer)
	if a.Transfer == nil { // transfer writes a message itself
		container.WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError)
	}
	if a.Offline {
		container.WithVolumeMounts(dataMount(cluster))
	}
	return spec.WithContainers(container)
}

// selectSecrets limits the volume with the credentials to some of its keys.
func (a Spec) selectSecrets(spec *corev1ac.PodSpecApplyConfiguration) {
	for i := range spec.Volumes {
		if v := &spec.Volumes[i]; *v.Name == naming.SecretsVolume {
			for _, file := range slices.Sorted(maps.Keys(a.SecretItems)) {
				v.Secret.WithItems(corev1ac.KeyToPath().WithKey(a.SecretItems[file]).WithPath(file))
			}
		}
	}
}

// container runs the command in the cluster's image, through transfer where the action has one.
func (a Spec) container(cluster *dbv1.DatabaseCluster, name string, transfer *Transfer) *corev1ac.ContainerApplyConfiguration {
	command := a.Command
	if transfer != nil {
		command = transfer.command()
	}
	return pods.BaseContainer(cluster, name).
		WithCommand(command...).
		WithResources(a.requirements(cluster)).
		WithVolumeMounts(withoutData(pods.VolumeMounts(cluster))...).
		WithVolumeMounts(transfer.mounts()...).
		WithVolumeMounts(mounts(a.Secrets)...).
		WithEnv(a.environment(cluster)...)
}

func dataMount(cluster *dbv1.DatabaseCluster) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(naming.DataVolume).WithMountPath(cluster.Spec.Container.DataPath)
}
