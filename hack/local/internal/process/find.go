package process

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Process is a live process of a group: a program of it, or a descendant of a program.
type Process struct {
	PID           int
	Executable    string
	Args          []string // with the path of the program
	name, version string
	group         Group
	// handle refers to this process: a later process with the same ID is never signaled.
	handle *os.Process
}

// processes returns the processes with the group's mark, except this one.
func (g Group) processes() []Process {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	var found []Process
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if process, ok := g.look(pid); ok {
			found = append(found, process)
		}
	}
	return found
}

// look opens the handle first, so that everything it reads belongs to the process of the handle. A zombie has no
// environment.
func (g Group) look(pid int) (Process, bool) {
	handle, err := os.FindProcess(pid)
	if err != nil {
		return Process{}, false
	}
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	environment := words(filepath.Join(folder, "environ"))
	executable, err := os.Readlink(filepath.Join(folder, "exe"))
	if err != nil || !slices.Contains(environment, markVariable+"="+g.Dir) {
		_ = handle.Release()
		return Process{}, false
	}
	found := Process{
		PID: pid, Executable: strings.TrimSuffix(executable, " (deleted)"), Args: words(filepath.Join(folder, "cmdline")), group: g,
		handle: handle,
	}
	for _, variable := range environment {
		switch key, value, _ := strings.Cut(variable, "="); key {
		case nameVariable:
			found.name = value
		case versionVariable:
			found.version = value
		}
	}
	return found, true
}

// words returns the strings in a file of /proc.
func words(path string) []string {
	content, _ := os.ReadFile(path)
	return strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00")
}

// Running returns the running program of that name. It leads a session. Its descendants have the same name but do not.
func (g Group) Running(name string) (Process, bool) {
	for _, process := range g.processes() {
		if session, err := unix.Getsid(process.PID); process.name == name && err == nil && session == process.PID {
			return process, true
		}
	}
	return Process{}, false
}

// runs reports whether the process has this command and these arguments.
func (p Process) runs(command Command) bool {
	return slices.Equal(p.Args, append([]string{command.Path}, command.Args...))
}

func (p Process) alive() bool {
	_, marked := p.group.look(p.PID)
	return marked && p.handle.Signal(syscall.Signal(0)) == nil
}
