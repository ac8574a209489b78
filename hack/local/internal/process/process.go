// Package process starts programs that outlive this one, finds them again, and ends them and
// nothing else.
//
// A program is known by two things. A record names its process id together with what makes the
// id unambiguous: the time the kernel started it, the boot, and the executable. And every
// program carries a mark in its environment, so that what was started in the instant before a
// crash, and what it started in turn, is found without a record.
package process

import (
	"context"
	"path/filepath"
)

// Command is a program to run in the background.
type Command struct {
	Name    string
	Path    string
	Args    []string
	Version string
	// Ready returns nil once the program does its work.
	Ready func(context.Context) error
}

// Group is a set of programs with their records and logs below one folder.
type Group struct {
	Dir string
	// Tied programs die with the thread that started them; the others are detached.
	Tied bool
}

// markVariable is the environment variable that holds the folder of the group.
const markVariable = "DBC_LOCAL_GROUP"

func (g Group) mark() string { return markVariable + "=" + g.Dir }

func (g Group) recordPath(name string) string { return filepath.Join(g.Dir, "run", name+".json") }

// LogPath is where the output of a program goes.
func (g Group) LogPath(name string) string { return filepath.Join(g.Dir, "logs", name+".log") }
