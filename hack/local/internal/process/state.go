package process

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// State is one row of a table.
type State struct {
	Name, Version, State string
	PID                  int
	Up                   bool
}

// Status looks up the programs, and checks their readiness where possible.
func (g Group) Status(ctx context.Context, commands []Command) []State {
	var states []State
	for _, command := range commands {
		state := State{Name: command.Name, State: "not running"}
		if process, running := g.Running(command.Name); running {
			state = State{command.Name, process.version, "running", process.PID, true}
			if err := command.readyNow(ctx); err != nil {
				state.State, state.Up = fmt.Sprintf("not ready: %v", err), false
			}
		}
		states = append(states, state)
	}
	return states
}

func (c Command) readyNow(ctx context.Context) error {
	if c.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return c.Ready(ctx)
}

// WriteTable prints the states and returns whether all are up.
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
