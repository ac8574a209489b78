package process

import (
	"slices"
	"syscall"
	"time"
)

// Stop ends one program. It says whether there was anything to end.
func (g Group) Stop(name string) bool {
	process, running := g.Running(name)
	if running {
		process.stop()
	}
	return running
}

// KillStragglers ends every process that has the group's mark, at once: nobody knows how it
// wants to be asked. It returns the executables.
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

// stop asks, and after a while insists.
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
