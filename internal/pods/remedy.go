/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// ofCluster is the kind of which members and Jobs are.
const ofCluster = "DatabaseCluster"

// OfCluster is the source of members and Jobs, whose resources are in a field.
func OfCluster(resources string) Source { return Source{ofCluster, resources} }

// Source is where users correct a pod: the kind of the object, and the field with the resources of the pod.
type Source struct{ Kind, Resources string }

// Remedy returns the correction that lets a pod start; "" if no action of the user is known to be required.
func Remedy(pod *corev1.Pod, source Source) string {
	if i := slices.IndexFunc(pod.Status.Conditions, Unschedulable); i >= 0 {
		return placement(pod.Status.Conditions[i].Message, source)
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := s.State.Waiting; waiting != nil && !starting[waiting.Reason] && !unstartable[waiting.Reason] {
			return containerRemedy(s.Name, waiting, source.Kind)
		}
	}
	return ""
}

// placement returns the correction for a message of the scheduler.
func placement(message string, source Source) string {
	switch text := strings.ToLower(message); {
	case strings.Contains(text, "persistentvolume") || strings.Contains(text, "volume node affinity"):
		return "See kubectl describe of the pod's PersistentVolumeClaim: it needs a StorageClass that provisions volumes, and the node of its " +
			"volume"
	case source.Kind != ofCluster: // the other texts name fields of members
	case strings.Contains(text, "existing pods anti-affinity") && !strings.Contains(text, "match pod anti-affinity"):
		return "Add a node. If spec.scheduling.affinity of the DatabaseCluster keeps its members apart from all its pods, annotate the " +
			"DatabaseCluster with database.dbcluster.io/update=1: the members then ignore Jobs"
	case strings.Contains(text, "anti-affinity"):
		return "Add a node for each member, or correct spec.scheduling.affinity.podAntiAffinity or spec.scheduling.spread.nodes of the " +
			"DatabaseCluster, which keep its members on different nodes"
	case strings.Contains(text, "topology spread"):
		return "Add a node in another zone, or correct spec.scheduling of the DatabaseCluster: with spread.zones Required, no zone has more " +
			"than one member above another"
	}
	return "Correct spec.scheduling or " + source.Resources + " of the " + source.Kind + ", or add a node"
}

// ours are the containers with the image in the spec.
var ours = []string{naming.Container, naming.ActionContainer, naming.RestoreContainer, naming.CompanionContainer}

func containerRemedy(name string, waiting *corev1.ContainerStateWaiting, kind string) string {
	field, user := "spec.image", "spec.pod.securityContext.runAsUser"
	if !slices.Contains(ours, name) {
		field, user = "the image of this container", "securityContext.runAsUser of this container" // in spec.pod, or injected
	}
	switch {
	case strings.Contains(waiting.Message, "runAsNonRoot") || strings.Contains(waiting.Message, "non-root"):
		return "Set " + user + " of the " + kind + " to the number of a user other than 0"
	case !pulling[waiting.Reason] && !unusable[waiting.Reason]:
		return "Create or correct the object that this message names"
	case name == naming.TransferContainer:
		return "Correct the operator's flag --transfer-image, or spec.pod.imagePullSecrets of the " + kind
	default:
		return "Correct " + field + " or spec.pod.imagePullSecrets of the " + kind
	}
}
