/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// The pods of Jobs do what transfer does, by its arguments, with the bucket and the volumes of a world. A pod that
// has started is halfway until the kubelet's next turn.

// call is what a container was told to do.
type call struct {
	verb string // of transfer; "hook" for a command that runs alone
	args []string
}

func callOf(container corev1.Container) call {
	args := container.Command
	if len(args) < 2 || args[0] != naming.BinPath+"/transfer" {
		return call{verb: "hook", args: args}
	}
	return call{verb: args[1], args: args[2:]}
}

func (c call) flag(name string) string {
	if i := slices.Index(c.args, name); i >= 0 {
		return c.args[i+1]
	}
	return ""
}

func (c call) number(name string) int {
	n, err := strconv.Atoi(c.flag(name))
	must(err)
	return n
}

// exit is how a container ends, and what it says.
type exit struct {
	code   int32
	result map[string]any
}

func done() exit { return exit{} }

func fails(code int32, reason, message string) exit {
	return exit{code, map[string]any{"reason": reason, "message": message}}
}

// callsOf are what the containers of a Job's pod do that do not only get things ready, in their order.
func callsOf(pod *corev1.Pod) map[string]call {
	calls := map[string]call{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name == naming.RestoreContainer || c.Name == naming.ActionContainer {
			calls[c.Name] = callOf(c)
		}
	}
	return calls
}

// runAction is the kubelet with a pod of a Job.
func (w *world) runAction(pod *corev1.Pod) {
	switch {
	case hasEnded(pod):
	case runs(pod):
		w.finishAction(pod)
	default:
		w.startAction(pod)
	}
}

func (w *world) startAction(pod *corev1.Pod) {
	if claim := w.unboundClaim(pod); claim != "" {
		return
	}
	if wantsNodeThatIsNot(pod) || huge(pod) {
		w.setScheduled(pod, false, "0/3 nodes are available")
		if w.store.put(pod) {
			w.story.add(w.by, fmt.Sprintf("pod %s cannot be scheduled", pod.Name))
		}
		return
	}
	w.setScheduled(pod, true, "")
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
	if w.store.put(pod) {
		what := "runs"
		if !runs(pod) {
			what = "does not start: " + pod.Status.ContainerStatuses[0].State.Waiting.Reason
		}
		w.story.add(w.by, fmt.Sprintf("pod %s %s", pod.Name, what))
	}
}

// finishAction ends a pod whose containers have done what they were told.
func (w *world) finishAction(pod *corev1.Pod) {
	calls := callsOf(pod)
	for _, container := range []string{naming.RestoreContainer, naming.ActionContainer} {
		c, found := calls[container]
		if !found {
			continue
		}
		wrong, is := w.store.disk.goesWrong(c)
		if is && wrong.hangs {
			return
		}
		end := done()
		switch {
		case is && c.verb == "hook": // a command of the user, who says nothing that anybody could parse
			end = exit{code: wrong.code}
		case is:
			end = fails(wrong.code, "Trouble", fmt.Sprintf("%s went wrong", c.verb))
		default:
			end = w.perform(pod, c)
		}
		w.setTerminated(pod, container, end)
		if end.code != 0 {
			break
		}
	}
	w.store.put(pod)
	container, code := exitOf(pod)
	text := "has done its work"
	if code != 0 {
		text = fmt.Sprintf("fails: %s exits with code %d", container, code)
	}
	w.story.add(w.by, fmt.Sprintf("pod %s %s", pod.Name, text))
}

func (w *world) setTerminated(pod *corev1.Pod, container string, end exit) {
	message := ""
	if end.result != nil {
		text, err := json.Marshal(end.result)
		must(err)
		message = string(text)
	}
	state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: end.code, Reason: reasonOf(end.code), Message: message, ContainerID: "sim://" + container}}
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

// reasonOf is the kubelet's word for an exit code.
func reasonOf(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

// perform does what a call asks for.
func (w *world) perform(pod *corev1.Pod, c call) exit {
	switch c.verb {
	case "backup":
		return w.performBackup(pod, c)
	case "restore":
		return w.performRestore(pod, c)
	case "delete":
		return w.performDelete(c)
	case "probe":
		return w.performProbe(pod, c)
	default:
		return done()
	}
}

func (w *world) performBackup(pod *corev1.Pod, c call) exit {
	at, id, member, members := c.flag("--to"), c.flag("--id"), c.number("--member"), c.number("--members")
	there := w.store.disk.bucket[at]
	if there.id != "" && there.id != id {
		return fails(30, "IdMismatch", "there is another backup at "+at)
	}
	data, of, reason := w.dataOf(pod, member)
	if reason != "" {
		return fails(20, "ActionFailed", reason)
	}
	there.id = id
	source := origin{of, w.imagesOf(pod, member)}
	if earlier, found := there.sources[member]; !found {
		there = there.with(member, data).from(member, source)
	} else if earlier.image != source.image { // no manifest is overwritten
		return fails(30, "VersionMismatch", fmt.Sprintf("member-%d/manifest.json was stored with image %s, and this attempt runs with %s", member, earlier.image, source.image))
	} else {
		data = there.parts[member]
	}
	if slices.Contains(c.args, "--complete") {
		if len(there.parts) < members {
			return fails(30, "ManifestInvalid", fmt.Sprintf("%d of %d members are at %s", len(there.parts), members, at))
		}
		there.complete = true
	}
	w.store.disk.bucket[at] = there
	result := map[string]any{"bytes": 100, "storedBytes": 50, "sha256": fmt.Sprintf("sha256 of %s", data)}
	if check := factsAround(c, data); check != nil {
		result["check"] = check
	}
	return exit{result: result}
}

// imagesOf is the image that reads a member, and that of the member where it is another.
func (w *world) imagesOf(pod *corev1.Pod, member int) string {
	image, serving := pod.Spec.Containers[0].Image, get[*corev1.Pod](w.store, naming.Member(name, int32(member)))
	if w.claimOf(pod, naming.DataVolume) == nil && serving != nil && serving.Spec.Containers[0].Image != image {
		return image + " from " + serving.Spec.Containers[0].Image
	}
	return image
}

// beginStream notes that a pod starts to read what a member has written so far.
func (w *world) beginStream(pod *corev1.Pod) {
	c := callsOf(pod)[naming.ActionContainer]
	if c.verb != "backup" {
		return
	}
	member := c.number("--member")
	if claim := get[*corev1.PersistentVolumeClaim](w.store, naming.Claim(name, int32(member))); claim != nil {
		w.store.disk.streams[streamOf(c.flag("--to"), member)] = claim.UID
	}
}

// dataOf is what a member gives, from its volume or over the network, and the UID of its cluster.
func (w *world) dataOf(pod *corev1.Pod, member int) (data, of, reason string) {
	if claim := w.claimOf(pod, naming.DataVolume); claim != nil {
		return w.store.disk.volumes[claim.UID].data, claim.Labels[dbv1.LabelClusterUID], ""
	}
	serving := get[*corev1.Pod](w.store, naming.Member(name, int32(member)))
	if serving == nil || !isReady(serving) {
		return "", "", fmt.Sprintf("member %d does not answer", member)
	}
	return w.store.disk.volumes[w.claimOf(serving, naming.DataVolume).UID].data, serving.Labels[dbv1.LabelClusterUID], ""
}

func (w *world) performRestore(pod *corev1.Pod, c call) exit {
	from, id, member, members := c.flag("--from"), c.flag("--id"), c.number("--member"), c.number("--members")
	claim := w.claimOf(pod, naming.DataVolume)
	on := w.store.disk.volumes[claim.UID]
	there, found := w.store.disk.bucket[from]
	switch {
	case on.marker == id+" done":
		return done()
	case on.marker != id+" running":
		return fails(30, "DataDirectoryNotEmpty", "the data directory is not empty")
	case !found || !there.complete:
		return fails(20, "BackupMissing", "there is no backup at "+from)
	case there.corrupt:
		return fails(30, "BackupCorrupt", fmt.Sprintf("member-%d/00000.zst is not what the manifest says", member))
	case len(there.parts) != members:
		return fails(30, "ManifestInvalid", fmt.Sprintf("the backup holds %d members, not %d", len(there.parts), members))
	}
	on.marker = id + " done"
	if !there.lossy {
		on.data = there.parts[member]
	}
	w.store.disk.volumes[claim.UID] = on
	return exit{result: map[string]any{"bytes": 100}}
}

func (w *world) performDelete(c call) exit {
	at := c.flag("--at")
	there, found := w.store.disk.bucket[at]
	if found && there.id != c.flag("--id") {
		return fails(30, "IdMismatch", "there is another backup at "+at)
	}
	delete(w.store.disk.bucket, at)
	w.story.add(w.by, "nothing is left at "+at)
	w.watchBackups()
	return done()
}

// mount is what starts with a pod: what it does to its data volume, which nobody else may have at that time.
func (w *world) mount(pod *corev1.Pod) {
	claim := w.claimOf(pod, naming.DataVolume)
	if claim == nil {
		return
	}
	for _, other := range all[*corev1.Pod](w.store) {
		if has := w.claimOf(other, naming.DataVolume); other.Name != pod.Name && runs(other) && has != nil && has.UID == claim.UID {
			w.breaks("pods %s and %s have claim %s at one time", other.Name, pod.Name, claim.Name)
		}
	}
	on := w.store.disk.volumes[claim.UID]
	switch pod.Labels[dbv1.LabelComponent] {
	case dbv1.ComponentDatabase:
		w.serve(pod, claim, &on)
	case dbv1.ComponentRestore, dbv1.ComponentVerification:
		w.beginRestore(pod, claim, &on)
	}
	on.ranWith(engineOf(pod))
	w.store.disk.volumes[claim.UID] = on
}

// engineOf is the engine whose container a pod runs: what it sees, not what anybody has noted about it.
func engineOf(pod *corev1.Pod) string {
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == engineVariable {
			return variable.Value
		}
	}
	return engineName
}

func (v *volume) ranWith(engine string) {
	if !strings.HasSuffix(v.engines, " "+engine) {
		v.engines += " " + engine
	}
}

// serve is a member that starts.
func (w *world) serve(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim, on *volume) {
	owner := claim.Labels[dbv1.LabelClusterUID]
	switch {
	case strings.HasSuffix(on.marker, " running"):
		w.breaks("pod %s starts on claim %s, which is half restored", pod.Name, claim.Name)
	case owner != pod.Labels[dbv1.LabelClusterUID]:
		w.breaks("pod %s starts on claim %s of another cluster", pod.Name, claim.Name)
	}
	if on.data == "" {
		on.data = fmt.Sprintf("what %s wrote", pod.Name)
	}
	on.served = true
}

// beginRestore is a restore that starts.
func (w *world) beginRestore(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim, on *volume) {
	c := callsOf(pod)[naming.ActionContainer]
	if restore, found := callsOf(pod)[naming.RestoreContainer]; found {
		c = restore
	}
	id := c.flag("--id")
	switch on.marker {
	case id + " done":
	case id + " running", "":
		if on.marker == "" && on.data != "" {
			w.breaks("pod %s restores over what claim %s holds", pod.Name, claim.Name)
			return
		}
		on.data, on.marker = "a part of "+c.flag("--from"), id+" running"
	default:
		w.breaks("pod %s restores over what claim %s holds of another backup", pod.Name, claim.Name)
	}
}

// stopped is the last that the kubelet says of a pod that was deleted.
func (w *world) stopped(pod *corev1.Pod) string {
	text := fmt.Sprintf("pod %s has stopped", pod.Name)
	if hasEnded(pod) || len(pod.Status.ContainerStatuses) == 0 {
		pod.Status.Phase = corev1.PodFailed
		return text
	}
	status := &pod.Status.ContainerStatuses[0]
	end := &corev1.ContainerStateTerminated{ContainerID: status.ContainerID, FinishedAt: metav1.NewTime(w.clock.Now())}
	if wrong, is := w.store.disk.goesWrong(call{verb: "member", args: []string{pod.Name}}); is && pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase {
		end.ExitCode = wrong.code
		text += fmt.Sprintf(" with exit code %d", wrong.code)
	}
	if hasFinalizer(pod, dbv1.Finalizer) {
		w.store.disk.exits[pod.Name] = end.ExitCode
	}
	end.Reason = reasonOf(end.ExitCode)
	status.State, pod.Status.Phase = corev1.ContainerState{Terminated: end}, corev1.PodSucceeded
	if end.ExitCode != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	w.setCondition(pod, corev1.PodReady, false, "PodFailed", "")
	return text
}
