//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// archiveFaults are those of the archive itself, and those of members after which it must continue with the right history.
var archiveFaults = slices.Concat(
	ofArchive, withArchive(
		"kill-postgres", "freeze-container", "delete-force", "lose-volume-of-primary", "cut-from-both", "hand-over", "rolling-restart",
		"scale-out-and-in", "hibernate-and-resume-with-slow-member", "disk-full-on-primary"),
	ofBucket, besideOthers)

var ofArchive = []archiveFault{
	{fault: fault{name: "targets", inject: nothing}, check: checkTargets},
	{fault: fault{name: "kills", inject: killAtRandom, hold: 3 * time.Second}},
	{fault: fault{name: "archiver-cut-from-primary", inject: cutArchiver, hold: time.Minute}},
	{fault: fault{name: "two-archivers", inject: twoArchivers, hold: 30 * time.Second}},
}

// withArchive are faults of the other campaign.
func withArchive(names ...string) (all []archiveFault) {
	for _, name := range names {
		i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
		all = append(all, archiveFault{fault: faults[i]})
	}
	return all
}

func nothing(*world) (func() error, error) { return func() error { return nil }, nil }

// archiver selects the pod of the archive.
func (w *world) archiver() (*corev1.Pod, error) { return w.Archiver(w.Context()) }

// victim is a process that is killed.
type victim struct {
	name  string
	match func(lab.Process) bool
	pod   target
}

// victims are those of the fault kills. The operator comes last, because other users of the node need it.
var victims = []victim{
	{"the archiver", lab.Archiver, (*world).archiver},
	{"transfer", lab.Transfer, (*world).archiver},
	{"PostgreSQL of the primary", lab.Postmaster, (*world).primary},
	{"PostgreSQL of a replica", lab.Postmaster, (*world).replica},
	{"the operator", lab.Main, (*world).operatorPod},
}

// operatorPod selects a replica of the operator.
func (w *world) operatorPod() (*corev1.Pod, error) {
	pods, err := w.operatorPods()
	if err != nil || len(pods) == 0 {
		return nil, fmt.Errorf("no replica of the operator runs: %w", err)
	}
	return &pods[w.random.IntN(len(pods))], nil
}

// killAtRandom kills processes one after the other, without waiting until the last one has been replaced. A process that does not run at the
// moment does not count.
func killAtRandom(w *world) (func() error, error) {
	eligible := victims
	if !wholeNode {
		eligible = victims[:len(victims)-1]
	}
	missed := 0
	for n := 0; n < kills; {
		v := eligible[w.random.IntN(len(eligible))]
		err := w.kill(v)
		w.Logf("%s %s: %v", time.Now().Format(time.TimeOnly), v.name, err)
		if err == nil {
			n++
		} else if missed++; missed > 10*kills {
			return nil, fmt.Errorf("only %d of %d processes were killed: %w", n, kills, err)
		}
		time.Sleep(time.Second + w.seconds(10*time.Second))
	}
	return nothing(w)
}

// kill kills a process. If the kubelet has restarted its container several times, the pod is replaced: the kubelet delays each further
// restart longer, and the fault would be such a delay.
func (w *world) kill(v victim) error {
	pod, err := v.pod(w)
	if err != nil {
		return err
	}
	if err := lab.Signal(pod, syscall.SIGKILL, v.match); err != nil {
		return err
	}
	if len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].RestartCount < 2 {
		return nil
	}
	return w.DeletePod(w.Context(), pod, 0)
}

// cutArchiver separates the pod of the archive from the primary.
func cutArchiver(w *world) (func() error, error) {
	primary, err := w.primary()
	archiver, problem := w.archiver()
	if err := errors.Join(err, problem); err != nil {
		return nil, err
	}
	return healer(w, primary), lab.Cut(w.Context(), primary, archiver.Status.PodIP)
}

// twoArchivers freezes the pod of the archive, as if its node did not respond, and starts another one. After half a minute both run.
func twoArchivers(w *world) (func() error, error) {
	first, err := w.archiver()
	if err != nil {
		return nil, err
	}
	second, err := w.SecondArchiver(w.Context())
	if err != nil {
		return nil, err
	}
	err = lab.Signal(first, syscall.SIGSTOP, lab.Any)
	runs := lab.Await(w.Context(), second.Name+" to run", func() bool {
		pod, err := w.Pod(w.Context(), second.Name)
		return err == nil && lab.Runs(pod, lab.Archiver)
	})
	time.Sleep(30 * time.Second) // the server disconnects a receiver that does not answer
	remove := func() error { return w.DeletePod(w.Context(), second, -1) }
	return remove, errors.Join(err, runs, lab.Signal(first, syscall.SIGCONT, lab.Any))
}

// checkTargets recovers the same moment in several time zones, and moments that must be refused.
func checkTargets(w *world, r *lab.Restorer, result *lab.ArchiveResult) {
	p := w.archived.past
	moment := w.momentOf(p, 0, &result.Result)
	for _, hours := range []float64{5.5, -8, 14} {
		w.recoverMoment(r, p, moment.In(time.FixedZone("", int(hours*3600))), result)
	}
	for _, wrong := range []time.Time{
		time.Now().Add(time.Hour), time.Now().AddDate(70, 0, 0), p.bases[0].Ended.Add(-time.Minute), time.Unix(0, 0),
	} {
		text := wrong.UTC().Format(time.RFC3339Nano)
		if _, err := r.RecoverAtOnce(w.Context(), p.bases[0], text); !errors.Is(err, lab.ErrRefused) {
			result.Problems = append(result.Problems, fmt.Sprintf("%s is not refused: %v", text, err))
		}
	}
}
