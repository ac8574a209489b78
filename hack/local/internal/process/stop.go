package process

import (
	"slices"
	"syscall"
	"time"
)

// Stop ends one program, by its record. It says whether there was anything to end.
func (g Group) Stop(name string) bool {
	record, running := g.Running(name)
	if running {
		g.stop(record.Identity)
	}
	return running
}

// KillStragglers ends every program that carries the group's mark, at once: nobody knows how it
// wants to be asked. It returns the executables.
func (g Group) KillStragglers() []string {
	var ended []string
	for _, identity := range marked(g.mark()) {
		identity.signal(syscall.SIGKILL)
		ends(identity, stopWithin)
		ended = append(ended, identity.Executable)
	}
	slices.Sort(ended)
	return slices.Compact(ended)
}

// stopUnrecorded ends what a start that was cut short left running without a record.
func (g Group) stopUnrecorded(executable string) {
	for _, identity := range marked(g.mark()) {
		if identity.Executable == executable {
			g.stop(identity)
		}
	}
}

// stop asks, and after a while insists.
func (g Group) stop(identity Identity) {
	identity.signal(syscall.SIGTERM)
	if !ends(identity, stopWithin) {
		identity.signal(syscall.SIGKILL)
		ends(identity, stopWithin)
	}
}

func ends(identity Identity, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if !identity.alive() {
			return true
		}
	}
	return false
}
