/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// machineTime is the CPU time of the machine, and the part of it that the benchmark and its control plane have used. Both
// are in seconds.
type machineTime struct{ busy, own float64 }

// readMachineTime counts as its own the children of the program that started the benchmark and the control plane.
func readMachineTime() (machineTime, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return machineTime{}, fmt.Errorf("open /proc: %w", err)
	}
	stat, err := fs.Stat()
	if err != nil {
		return machineTime{}, fmt.Errorf("read the CPU time of the machine: %w", err)
	}
	all, err := fs.AllProcs()
	if err != nil {
		return machineTime{}, fmt.Errorf("list processes: %w", err)
	}
	total := stat.CPUTotal
	t := machineTime{busy: total.User + total.Nice + total.System + total.IRQ + total.SoftIRQ + total.Steal}
	parents, times := map[int]int{}, map[int]float64{}
	for _, process := range all {
		if stat, err := process.Stat(); err == nil { // it may have ended
			parents[stat.PID], times[stat.PID] = stat.PPID, stat.CPUTime()
		}
	}
	root := os.Getppid()
	for pid := range times {
		for parent := pid; parent > 1; parent = parents[parent] {
			if parent == root {
				t.own += times[pid]
				break
			}
		}
	}
	return t, nil
}

// foreign returns the share of the machine that others have used since then.
func (t machineTime) foreign(since machineTime, window time.Duration, cores int) float64 {
	return max(0, (t.busy-since.busy)-(t.own-since.own)) / window.Seconds() / float64(cores)
}

// machineFacts describe the machine, the versions and the settings of a run.
func machineFacts(o options, kubernetes string) map[string]string {
	facts := map[string]string{
		"form": o.form, "kubernetes": kubernetes, "cores": fmt.Sprint(runtime.NumCPU()), "go": runtime.Version(),
		"system":  runtime.GOOS + "/" + runtime.GOARCH,
		"changes": fmt.Sprint(o.changes), "in flight": fmt.Sprint(o.inFlight), "drifts in flight": fmt.Sprint(o.storm),
		"rest":    o.restTime.String(),
		"started": time.Now().UTC().Format(time.RFC3339),
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return facts
	}
	if info, err := fs.CPUInfo(); err == nil && len(info) > 0 {
		facts["processor"] = info[0].ModelName
	}
	if memory, err := fs.Meminfo(); err == nil && memory.MemTotal != nil {
		facts["memory"] = fmt.Sprintf("%d GiB", (*memory.MemTotal+1<<19)>>20)
	}
	if load, err := fs.LoadAvg(); err == nil {
		facts["load before"] = number(load.Load1)
	}
	if out, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		facts["commit"] = strings.TrimSpace(string(out))
	}
	return facts
}
