/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// The pods of Jobs run as transfer does, by its arguments, with the bucket and the volumes of a world. A started pod
// is halfway until the next step of the kubelet.

// call is the command of a container.
type call struct {
	verb  string // of transfer; "hook" for a command without transfer
	args  []string
	asked protocol.Call // nil for a command without transfer
}

func callOf(container corev1.Container) call {
	args := container.Command
	if len(args) < 2 || args[0] != naming.BinPath+"/"+protocol.Program {
		return call{verb: "hook", args: args}
	}
	asked, err := protocol.Parse(args[1:])
	Must(err)
	return call{verb: args[1], args: args[2:], asked: asked}
}

// exit is the exit code and the output of a container.
type exit struct {
	code   protocol.ExitCode
	result *protocol.Result
	// runs is true if the container has not ended yet.
	runs bool
}

func done() exit { return exit{} }

func exitWith(result protocol.Result) exit { return exit{result: &result} }

func fails(reason protocol.Reason, message string) exit {
	return exit{code: reason.ExitCode(protocol.ExitFailed), result: &protocol.Result{Reason: reason, Message: message}}
}

// actionFails is a call whose action ended with that code.
func actionFails(code protocol.ExitCode, message string) exit {
	return exit{code: code, result: &protocol.Result{Reason: protocol.ActionFailed, Message: message}}
}

// callsOf returns the calls of the containers of a Job's pod in order, without the containers that only prepare.
func callsOf(pod *corev1.Pod) map[string]call {
	calls := map[string]call{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name == naming.RestoreContainer || c.Name == naming.ActionContainer {
			calls[c.Name] = callOf(c)
		}
	}
	return calls
}

// runAction is the step of the kubelet for a pod of a Job.
func (w *World) runAction(pod *corev1.Pod) {
	switch {
	case HasEnded(pod):
	case Runs(pod):
		w.finishAction(pod)
	default:
		w.startAction(pod)
	}
}

func (w *World) startAction(pod *corev1.Pod) {
	if claim := w.unboundClaim(pod); claim != "" {
		return
	}
	if wantsMissingNode(pod) || huge(pod) || w.keptApart(pod) {
		w.setScheduled(pod, false, "0/3 nodes are available")
		if w.Store.Put(pod) {
			w.journal.add(w.by, fmt.Sprintf("pod %s cannot be scheduled", pod.Name))
		}
		return
	}
	w.setScheduled(pod, true, "")
	w.acknowledge(pod)
	image, missing := pod.Spec.Containers[0].Image, w.missingReference(pod)
	switch {
	case missing != "":
		w.setWaiting(pod, "CreateContainerConfigError", missing, nil)
	case strings.Contains(image, "missing"):
		w.setWaiting(pod, "ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s: not found", image, image), nil)
	default:
		w.setRunning(pod)
		w.mount(pod)
		w.beginStream(pod)
	}
	if w.Store.Put(pod) {
		what := "runs"
		if !Runs(pod) {
			what = "does not start: " + pod.Status.ContainerStatuses[0].State.Waiting.Reason
		}
		w.journal.add(w.by, fmt.Sprintf("pod %s %s", pod.Name, what))
	}
}

// finishAction ends a pod whose containers have ended.
func (w *World) finishAction(pod *corev1.Pod) {
	calls := callsOf(pod)
	for _, container := range []string{naming.RestoreContainer, naming.ActionContainer} {
		c, found := calls[container]
		if !found {
			continue
		}
		wrong, is := w.disk.goesWrong(c)
		if is && wrong.Hangs {
			return
		}
		end := done()
		switch {
		case is && c.verb == "hook": // a command of the user without a result that transfer could parse
			end = exit{code: wrong.Code}
		case is:
			end = actionFails(wrong.Code, fmt.Sprintf("%s went wrong", c.verb))
		default:
			end = w.perform(pod, c)
		}
		if end.runs {
			w.Store.Touch() // time passes
			return
		}
		w.setTerminated(pod, container, end)
		if end.code != 0 {
			break
		}
	}
	w.Store.Put(pod)
	container, code := exitOf(pod)
	text := "has done its work"
	if code != 0 {
		text = fmt.Sprintf("fails: %s exits with code %d", container, code)
	}
	w.journal.add(w.by, fmt.Sprintf("pod %s %s", pod.Name, text))
}

func (w *World) setTerminated(pod *corev1.Pod, container string, end exit) {
	message := ""
	if end.result != nil {
		text, err := end.result.Encode()
		Must(err)
		message = string(text)
	}
	state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(end.code), Reason: reasonOf(int32(end.code)),
		Message: message, ContainerID: "sim://" + container, FinishedAt: metav1.NewTime(w.Clock.Now())}}
	if container == naming.RestoreContainer {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: container, State: state}}
	} else {
		pod.Status.ContainerStatuses[0].State = state
	}
	pod.Status.Phase = corev1.PodSucceeded
	if end.code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	w.setCondition(pod, corev1.PodReady, false, "PodCompleted", "")
}

// perform executes a call.
func (w *World) perform(pod *corev1.Pod, c call) exit {
	switch asked := c.asked.(type) {
	case *protocol.Backup:
		return w.performBackup(pod, asked)
	case *protocol.Restore:
		return w.performRestore(pod, asked)
	case *protocol.Delete:
		return w.performDelete(asked)
	case *protocol.Probe:
		return w.performProbe(pod, asked)
	case *protocol.Initialize:
		return w.performInitialize(pod, asked)
	case *protocol.Window:
		return w.performWindow(asked)
	case *protocol.Search:
		return w.performSearch(asked)
	case *protocol.Objects:
		return w.performObjects(pod)
	case *protocol.List, *protocol.Install, *protocol.Reload, *protocol.Archive, *protocol.Fetch, *protocol.Lag, *protocol.Recover:
	}
	if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentRotation {
		w.rotate(pod)
	}
	return w.performOnMembers(pod)
}

func (w *World) performBackup(pod *corev1.Pod, c *protocol.Backup) exit {
	at, member := c.To, c.Member
	there := w.disk.bucket[at]
	if there.id != "" && there.id != c.ID {
		return fails(protocol.IDMismatch, "there is another backup at "+at)
	}
	data, of, reason := w.dataOf(pod)
	if reason != "" {
		return actionFails(protocol.ExitPrecondition, reason)
	}
	there.id, there.cluster, there.engine = c.ID, c.About[protocol.AboutClusterUID], c.About[protocol.AboutEngine]
	source := w.rowsRead(pod, origin{cluster: of, image: w.imagesOf(pod), volume: w.volumeRead(pod)})
	if previous, found := there.sources[member]; !found {
		there = there.with(member, data).from(member, source)
	} else if previous.image != source.image { // transfer overwrites no manifest
		return fails(protocol.VersionMismatch,
			fmt.Sprintf("%s was stored with image %s, and this attempt runs with %s", protocol.MemberManifest(member), previous.image, source.image))
	} else {
		data = there.parts[member]
	}
	if c.Complete {
		if len(there.parts) < c.Members {
			return fails(protocol.ManifestInvalid, fmt.Sprintf("%d of %d members are at %s", len(there.parts), c.Members, at))
		}
		there = w.completed(there)
	}
	w.disk.bucket[at] = there
	return exitWith(protocol.Result{Bytes: 100, StoredBytes: 50, SHA256: fmt.Sprintf("sha256 of %s", data), Check: factsAround(c, data)})
}

// performWindow finds the backups of a cluster. Its times are those of no backup: the end of a story does not depend on them.
func (w *World) performWindow(c *protocol.Window) exit {
	found := protocol.Recoverable{StoredBytes: 100}
	for at, backup := range w.disk.bucket {
		if backup.complete && strings.HasPrefix(at, c.Of+"/") && slices.Contains(c.Trusted, backup.id) {
			found.Based, found.Needed = true, append(found.Needed, backup.id)
		}
	}
	slices.Sort(found.Needed)
	if found.Based {
		found.Current = true
		found.Spans = []protocol.Span{{Oldest: Began, Newest: Began.Add(time.Hour)}}
	}
	return exitWith(protocol.Result{Recoverable: &found, Started: w.Clock.Now(), Completed: w.Clock.Now()})
}

// imagesOf returns the image that reads a member, and the member's own image if it differs.
func (w *World) imagesOf(pod *corev1.Pod) string {
	image, serving := pod.Spec.Containers[0].Image, store.Get[*corev1.Pod](w.Store, memberIn(pod))
	if w.ClaimOf(pod) == nil && serving != nil && serving.Spec.Containers[0].Image != image {
		return image + " from " + serving.Spec.Containers[0].Image
	}
	return image
}

// beginStream records that a pod starts to read the current data of a member.
func (w *World) beginStream(pod *corev1.Pod) {
	c, is := callsOf(pod)[naming.ActionContainer].asked.(*protocol.Backup)
	if !is {
		return
	}
	if source := w.sourceOf(pod); source != nil {
		w.journal.add(w.by, fmt.Sprintf("pod %s reads the data of pod %s", pod.Name, source.Name))
	}
	if claim := w.Claim(int32(c.Member)); claim != nil {
		w.disk.streams[streamOf(c.To, c.Member)] = claim.UID
	}
}

// dataOf returns the data of a member, from its volume or over the network, and the UID of its cluster.
func (w *World) dataOf(pod *corev1.Pod) (data, of, reason string) {
	if claim := w.ClaimOf(pod); claim != nil {
		return w.disk.volumes[claim.UID].data, claim.Labels[dbv1.LabelClusterUID], ""
	}
	source := memberIn(pod)
	serving := store.Get[*corev1.Pod](w.Store, source)
	if serving == nil || !IsReady(serving) {
		return "", "", fmt.Sprintf("%s does not answer", source)
	}
	return w.disk.volumes[w.ClaimOf(serving).UID].data, serving.Labels[dbv1.LabelClusterUID], ""
}

func (w *World) performDelete(c *protocol.Delete) exit {
	there, found := w.disk.bucket[c.At]
	if found && there.id != c.ID {
		return fails(protocol.IDMismatch, "there is another backup at "+c.At)
	}
	delete(w.disk.bucket, c.At)
	w.journal.add(w.by, "nothing is left at "+c.At)
	w.watchBackups()
	return done()
}
