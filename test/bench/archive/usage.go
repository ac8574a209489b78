/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// ticks is the unit of CPU time in /proc.
const ticks = 100

// descendants are the processes below one, without itself. A look at all processes of the machine would cost more.
func descendants(of int) (below []procfs.ProcStat) {
	for _, pid := range children(of) {
		process, err := procfs.NewProc(pid)
		if err != nil {
			continue // it has ended
		}
		if stat, err := process.Stat(); err == nil {
			below = append(below, stat)
		}
		below = append(below, descendants(pid)...)
	}
	return below
}

// children are those of all threads of a process.
func children(of int) (all []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", of)) // the pattern is right
	for _, file := range files {
		text, _ := os.ReadFile(file) // the thread may have ended
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// cpu returns the CPU seconds of a program and all its descendants so far, with those that have ended.
func (p *process) cpu() (float64, error) {
	if p == nil {
		return 0, nil
	}
	select {
	case <-p.ended:
		return (p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Seconds(), nil
	default:
	}
	tree := descendants(p.cmd.Process.Pid)
	self, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("find %s: %w", p.name, err)
	}
	stat, err := self.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of %s: %w", p.name, err)
	}
	// The helper uses next to nothing, but has the time of the descendants that have ended.
	return cpuOf(append(tree, stat)), nil
}

func cpuOf(tree []procfs.ProcStat) (seconds float64) {
	for _, stat := range tree {
		seconds += float64(int(stat.UTime)+int(stat.STime)+stat.CUTime+stat.CSTime) / ticks
	}
	return seconds
}

// spent measures the CPU seconds of programs.
type spent struct {
	programs []*process
	before   []float64
}

func spending(programs ...*process) (s spent, err error) {
	s.programs = programs
	for _, p := range programs {
		seconds, err := p.cpu()
		if err != nil {
			return s, err
		}
		s.before = append(s.before, seconds)
	}
	return s, nil
}

func (s spent) since() (seconds []float64, err error) {
	for i, p := range s.programs {
		now, err := p.cpu()
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, now-s.before[i])
	}
	return seconds, nil
}

// others is the name of everything in a tree that is no server of PostgreSQL.
const others = "all"

// memory has the largest sum of the resident memory of the processes with a name at one time, in MiB.
type memory struct {
	peaks      map[string]float64
	stop, done chan struct{}
}

// watch looks at the memory of a program ten times a second.
func watch(p *process) *memory {
	m := &memory{peaks: map[string]float64{}, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(m.done)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-m.stop:
				return
			case <-p.ended:
				return
			case <-ticker.C:
				m.add(descendants(p.cmd.Process.Pid))
			}
		}
	}()
	return m
}

func (m *memory) add(tree []procfs.ProcStat) {
	sums := map[string]float64{}
	for _, stat := range tree {
		mib := float64(stat.RSS) * float64(os.Getpagesize()) / (1 << 20)
		sums[stat.Comm] += mib
		if stat.Comm != "postgres" {
			sums[others] += mib
		}
	}
	for name, sum := range sums {
		m.peaks[name] = max(m.peaks[name], sum)
	}
}

// peak ends the looks.
func (m *memory) peak(name string) float64 {
	select {
	case <-m.stop:
	default:
		close(m.stop)
	}
	<-m.done
	return m.peaks[name]
}
