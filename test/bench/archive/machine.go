/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// machine describes the machine, and the load at the end of the run.
func (b *bench) machine() string {
	facts := []string{fmt.Sprintf("%d cores", runtime.NumCPU())}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return facts[0]
	}
	if info, err := fs.CPUInfo(); err == nil && len(info) > 0 {
		facts[0] += " (" + info[0].ModelName + ")"
	}
	if memory, err := fs.Meminfo(); err == nil && memory.MemTotal != nil {
		facts = append(facts, fmt.Sprintf("%d GiB", (*memory.MemTotal+1<<19)>>20))
	}
	if text, err := os.ReadFile("/etc/os-release"); err == nil {
		_, name, _ := strings.Cut(string(text), `PRETTY_NAME="`)
		name, _, _ = strings.Cut(name, `"`)
		facts = append(facts, name)
	}
	if kernel, err := b.do(nil, "uname", "-r"); err == nil {
		facts = append(facts, "Linux "+kernel)
	}
	return strings.Join(append(facts, b.versions()...), ", ")
}

// versions are those of the programs, where they exist.
func (b *bench) versions() (all []string) {
	for _, program := range [][]string{
		{"postgres", "--version"}, {b.path("versitygw"), "--version"}, {"pgbackrest", "version"}, {"zstd", "--version"},
	} {
		text, err := b.do(nil, program...)
		if err != nil {
			continue
		}
		line, _, _ := strings.Cut(text, "\n")
		line = strings.ReplaceAll(strings.Trim(line, "* "), "Version  :", "versitygw")
		line, _, _ = strings.Cut(line, ", by")
		all = append(all, line)
	}
	return all
}

// conditions are the settings of the run.
func (b *bench) conditions() string {
	return fmt.Sprintf(
		"Rounds: %d. Losses of each contestant: %d. Seconds of `maxLagSeconds`: %d. CPU of other work on the machine: %.0f%% of its cores.",
		b.rounds, b.rounds*b.settings.losses, int(b.lag.Seconds()), 100*b.foreign())
}

// busy is the CPU time of the machine so far, in seconds.
func busy() float64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0
	}
	total := stat.CPUTotal
	return total.User + total.Nice + total.System + total.IRQ + total.SoftIRQ + total.Steal
}

// foreign is the share of the cores that others have used since the benchmark started.
func (b *bench) foreign() float64 {
	own := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if syscall.Getrusage(who, &usage) == nil {
			own += time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
		}
	}
	for _, p := range b.processes {
		if seconds, err := p.cpu(); err == nil {
			own += seconds
		}
	}
	return max(0, busy()-b.busy-own) / time.Since(b.started).Seconds() / float64(runtime.NumCPU())
}
