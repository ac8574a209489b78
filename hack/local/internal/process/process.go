// Package process starts programs that outlive this one, finds them again, and ends them and
// nothing else.
//
// A program is known by its environment, which names its group, the program and its version, and which the kernel shows. So
// nothing is written down that could be wrong after a crash, and what a program started in turn is found as well.
package process

import (
	"context"
	"os"
	"path/filepath"
)

// Command is a program to run in the background.
type Command struct {
	Name    string
	Path    string
	Args    []string
	Version string
	// Ready returns nil once the program is ready.
	Ready func(context.Context) error
}

// Group is a set of programs with their logs below one folder.
type Group struct {
	Dir string
	// Tied programs die with the thread that started them; the others are detached.
	Tied bool
}

// The environment variables of every program: the folder of its group, its name and its version.
const markVariable, nameVariable, versionVariable = "DBC_LOCAL_GROUP", "DBC_LOCAL_NAME", "DBC_LOCAL_VERSION"

// Known reports whether a program of this name was ever started here.
func (g Group) Known(name string) bool {
	_, err := os.Stat(g.LogPath(name))
	return err == nil
}

// LogPath returns the path of a program's output.
func (g Group) LogPath(name string) string { return filepath.Join(g.Dir, "logs", name+".log") }
