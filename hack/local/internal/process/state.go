package process

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// State is one row of a table.
type State struct {
	Name, Version, State string
	PID                  int
	Up                   bool
}

// Status looks up programs by their records.
func (g Group) Status(names ...string) []State {
	var states []State
	for _, name := range names {
		state := State{Name: name, State: "not running"}
		if record, running := g.Running(name); running {
			state = State{name, record.Version, "running", record.Identity.PID, true}
		}
		states = append(states, state)
	}
	return states
}

// WriteTable prints the states and says whether all are up.
func WriteTable(out io.Writer, states []State) (allUp bool) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tPID\tSTATE\tVERSION")
	allUp = true
	for _, state := range states {
		pid := "-"
		if state.PID != 0 {
			pid = fmt.Sprint(state.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", state.Name, pid, state.State, state.Version)
		allUp = allUp && state.Up
	}
	_ = table.Flush()
	return allUp
}
