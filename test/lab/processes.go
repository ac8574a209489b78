/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/testing/locks"
)

// Process is a process of a container, as the host sees it.
type Process struct {
	PID     int
	Command string
	// First is true for process 1 of the container.
	First bool
}

// containers have the program of a pod: a member, an action, or the operator.
var containers = []string{container, naming.ActionContainer, "manager"}

// Processes returns the processes in the container of a pod that has its program. The test runs on the node.
func Processes(pod *corev1.Pod) ([]Process, error) {
	for _, status := range pod.Status.ContainerStatuses {
		if _, id, found := strings.Cut(status.ContainerID, "://"); found && slices.Contains(containers, status.Name) {
			return inCgroup(id)
		}
	}
	return nil, fmt.Errorf("pod %s has no running container", pod.Name)
}

// inCgroup returns the processes in a cgroup whose path contains a word.
func inCgroup(word string) ([]Process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), word) {
			continue // a process that has ended, or of another container
		}
		folder := filepath.Dir(file)
		pid, _ := strconv.Atoi(filepath.Base(folder))
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		status, _ := os.ReadFile(filepath.Join(folder, "status"))
		found = append(found, Process{
			PID: pid, Command: strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " ")), First: first.Match(status),
		})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no process has a cgroup with %s: the test must run on the node, as root", word)
	}
	return found, nil
}

// first matches the status of a process that is process 1 in its innermost namespace.
var first = regexp.MustCompile(`(?m)^NSpid:.*\s1$`)

// Main reports whether a process is process 1 of its container.
func Main(p Process) bool { return p.First }

// Patroni reports whether a process is Patroni.
func Patroni(p Process) bool { return strings.Contains(p.Command, "/patroni ") }

// Postmaster reports whether a process is the first process of PostgreSQL.
func Postmaster(p Process) bool { return strings.HasPrefix(p.Command, "postgres -D ") }

// Any is every process.
func Any(Process) bool { return true }

// Runs reports whether a process of a member matches.
func Runs(pod *corev1.Pod, match func(Process) bool) bool {
	processes, err := Processes(pod)
	return err == nil && slices.ContainsFunc(processes, match)
}

// WaitsForLock reports whether a process of a member waits for a lock on a file.
func WaitsForLock(pod *corev1.Pod) bool {
	waiting, err := locks.Waiting()
	return err == nil && Runs(pod, func(p Process) bool { return slices.Contains(waiting, p.PID) })
}

// SignalRuntime sends a signal to the process of the container runtime that started process 1 of a member, and that stops it for the
// kubelet.
func SignalRuntime(pod *corev1.Pod, signal syscall.Signal) error {
	processes, err := Processes(pod)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(processes, Main)
	if i < 0 {
		return fmt.Errorf("no process 1 of %s runs", pod.Name)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", processes[i].PID))
	if err != nil {
		return err
	}
	match := parent.FindSubmatch(status)
	if match == nil {
		return fmt.Errorf("process 1 of %s has no parent", pod.Name)
	}
	pid, _ := strconv.Atoi(string(match[1]))
	return syscall.Kill(pid, signal)
}

// parent matches the parent in the status of a process.
var parent = regexp.MustCompile(`(?m)^PPid:\s+([0-9]+)$`)

// Signal sends a signal to those processes of a member that match.
func Signal(pod *corev1.Pod, signal syscall.Signal, match func(Process) bool) error {
	processes, err := Processes(pod)
	if err != nil {
		return err
	}
	sent := 0
	for _, p := range processes {
		if match(p) && syscall.Kill(p.PID, signal) == nil {
			sent++
		}
	}
	if sent == 0 {
		return fmt.Errorf("no process of %s matches", pod.Name)
	}
	return nil
}
