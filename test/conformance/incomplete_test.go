//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// rehearsal is a pod like that of a Job, in which the test runs the action itself.
type rehearsal struct {
	*trial
	pod     string
	command []string
}

// incompleteRestore gives the action restore a whole backup, half of it, and nothing. Only the first may succeed.
func incompleteRestore(ctx context.Context, t *trial) (string, error) {
	if t.restored == nil {
		if _, err := restore(ctx, t); err != nil {
			return "", err
		}
	}
	from, err := t.rehearse(ctx, t.Name, dbv1.ComponentBackup)
	if err != nil {
		return "", err
	}
	into, err := t.rehearse(ctx, t.restored.Name, dbv1.ComponentRestore)
	if err != nil {
		return "", err
	}
	var whole bytes.Buffer
	if code, text := from.run(ctx, nil, &whole); code != 0 {
		return "", fmt.Errorf("the action backup exits with %d: %s", code, text)
	}
	codes := map[string]int{}
	for name, size := range map[string]int{"whole": whole.Len(), "half": whole.Len() / 2, "empty": 0} {
		if codes[name], err = into.restore(ctx, whole.Bytes()[:size]); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	seen := fmt.Sprintf("the action restore exits with %d after %d bytes, with %d after half of them, and with %d after none",
		codes["whole"], whole.Len(), codes["half"], codes["empty"])
	switch {
	case codes["whole"] != 0:
		return "", errors.New(seen + ": the whole backup must be restored")
	case codes["half"] == 0 || codes["empty"] == 0:
		return "", errors.New(seen + ": an incomplete backup must fail")
	}
	err = t.remove(ctx, t.restored)
	t.restored = nil
	return seen, err
}

// rehearse starts a pod like those of a Job of a cluster. Its data is not on the volume of a member.
func (t *trial) rehearse(ctx context.Context, cluster, component string) (*rehearsal, error) {
	var jobs batchv1.JobList
	if err := t.List(ctx, &jobs, client.InNamespace(t.Namespace),
		client.MatchingLabels{dbv1.LabelInstance: cluster, dbv1.LabelComponent: component}); err != nil {
		return nil, err
	}
	if len(jobs.Items) == 0 {
		return nil, fmt.Errorf("%s has no Job with the component %s", cluster, component)
	}
	t.number++
	pod, command := rehearsalOf(&jobs.Items[0])
	pod.Namespace, pod.Name = t.Namespace, fmt.Sprintf("rehearsal%d", t.number)
	if err := t.Create(ctx, pod); err != nil {
		return nil, err
	}
	return &rehearsal{t, pod.Name, command}, lab.Await(ctx, "the pod "+pod.Name, func() bool {
		now, err := t.Pod(ctx, pod.Name)
		return err == nil && lab.Ready(now)
	})
}

// rehearsalOf is the pod of a Job without `transfer`, and the command that `transfer` runs.
func rehearsalOf(job *batchv1.Job) (*corev1.Pod, []string) {
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: template.Annotations}, Spec: template.Spec}
	action := template.Spec.Containers[slices.IndexFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "action" })]
	words := action.Command[slices.Index(action.Command, "--")+1:]
	environment := map[string]string{}
	for _, variable := range action.Env {
		environment[variable.Name] = expand(variable.Value, environment)
	}
	command := make([]string, 0, len(words))
	for _, word := range words {
		command = append(command, expand(word, environment))
	}
	action.Command = []string{"sleep", "infinity"}
	pod.Spec.Containers, pod.Spec.InitContainers, pod.Spec.Affinity = []corev1.Container{action}, nil, nil
	pod.Spec.RestartPolicy, pod.Spec.TerminationGracePeriodSeconds, pod.Spec.ActiveDeadlineSeconds = corev1.RestartPolicyNever, new(int64(1)), nil
	for i, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			pod.Spec.Volumes[i].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
		}
	}
	return pod, command
}

var variable = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// expand replaces $(NAME) as Kubernetes does.
func expand(text string, environment map[string]string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		if value, is := maps.Clone(environment)[found[2:len(found)-1]]; is {
			return value
		}
		return found
	})
}

// restore runs the action with this input on an empty folder, and returns its exit code.
func (r *rehearsal) restore(ctx context.Context, input []byte) (int, error) {
	if _, err := r.Exec(ctx, r.pod, "action", "sh", "-c", `find "$DBC_DATA_DIR" -mindepth 1 -delete`); err != nil {
		return 0, err
	}
	code, text := r.run(ctx, bytes.NewReader(input), io.Discard)
	if code < 0 {
		return code, errors.New(text)
	}
	return code, nil
}

// run runs the action, and returns its exit code and the end of its errors; a negative code if it has not ended.
func (r *rehearsal) run(ctx context.Context, input io.Reader, output io.Writer) (code int, text string) {
	ctx, cancel := context.WithTimeout(ctx, lab.Patience)
	defer cancel()
	var problems strings.Builder
	command := exec.CommandContext(ctx, "kubectl", append([]string{"-n", r.Namespace, "exec", "-i", r.pod, "-c", "action", "--"}, r.command...)...)
	command.Stdin, command.Stdout, command.Stderr = input, output, &problems
	err := command.Run()
	text = problems.String()
	text = text[max(0, len(text)-500):]
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0, text
	case errors.As(err, &ended):
		return ended.ExitCode(), text
	default:
		return -1, err.Error()
	}
}
