package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Identity tells a process from every other that had or will have its id.
type Identity struct {
	PID        int    `json:"pid"`
	Boot       string `json:"boot"`
	StartTicks uint64 `json:"startTicks"`
	Executable string `json:"executable"`
}

// identify reads the identity of a live process.
func identify(pid int) (Identity, error) {
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return Identity{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	state, ticks, err := parseStat(string(stat))
	if err != nil {
		return Identity{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	if state == "Z" || state == "X" {
		return Identity{}, fmt.Errorf("process %d has ended", pid)
	}
	executable, err := os.Readlink(filepath.Join(folder, "exe"))
	if err != nil {
		return Identity{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("ask which boot this is: %w", err)
	}
	return Identity{pid, strings.TrimSpace(string(boot)), ticks, strings.TrimSuffix(executable, " (deleted)")}, nil
}

// parseStat reads the state and the start time from /proc/PID/stat. The second field is the
// program's name in parentheses and may hold anything, parentheses and spaces too.
func parseStat(stat string) (state string, startTicks uint64, err error) {
	const stateField, startField = 0, 19
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startField {
		return "", 0, fmt.Errorf("stat has %d fields after the name, expected more than %d: %q", len(fields), startField, stat)
	}
	startTicks, err = strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("read the start time: %w", err)
	}
	return fields[stateField], startTicks, nil
}

func (i Identity) alive() bool {
	now, err := identify(i.PID)
	return err == nil && now == i
}

// signal goes only to the process that is meant.
func (i Identity) signal(signal syscall.Signal) {
	if i.alive() {
		_ = syscall.Kill(i.PID, signal)
	}
}

// marked returns every live process that carries the mark, this one apart.
func marked(mark string) []Identity {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	var found []Identity
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() {
			continue
		}
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !carries(environment, mark) {
			continue
		}
		if identity, err := identify(pid); err == nil {
			found = append(found, identity)
		}
	}
	return found
}

func carries(environment []byte, mark string) bool {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if string(variable) == mark {
			return true
		}
	}
	return false
}
