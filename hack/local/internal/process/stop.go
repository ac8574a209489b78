package process

import (
	"slices"
	"syscall"
	"time"
)

// Stop stops one program. It returns whether the program ran.
func (g Group) Stop(name string) bool {
	process, running := g.Running(name)
	if running {
		process.stop()
	}
	return running
}

// KillStragglers kills every process with the group's mark, because a clean stop is unknown for them. It returns the
// executables.
func (g Group) KillStragglers() []string {
	var ended []string
	for _, process := range g.processes() {
		_ = process.handle.Kill()
		process.ends(stopWithin)
		ended = append(ended, process.Executable)
	}
	slices.Sort(ended)
	return slices.Compact(ended)
}

// stop sends the stop signal, and SIGKILL after a timeout.
func (p Process) stop() {
	_ = p.handle.Signal(syscall.SIGTERM)
	if !p.ends(stopWithin) {
		_ = p.handle.Kill()
		p.ends(stopWithin)
	}
}

func (p Process) ends(within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if !p.alive() {
			return true
		}
	}
	return false
}
