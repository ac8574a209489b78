// Package progress prints the current step to stderr, so that scripts can read results from stdout.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Out is the destination of progress messages.
var Out io.Writer = os.Stderr

// Heartbeat is the maximum time of silence during a step.
var Heartbeat = 20 * time.Second

// Say writes one line.
func Say(format string, args ...any) {
	fmt.Fprintf(Out, format+"\n", args...)
}

// Step prints the start of a step, a line at every heartbeat, and the result.
func Step(what string, do func() error) error {
	start := time.Now()
	fmt.Fprintf(Out, "%s … ", what)

	ended := make(chan error, 1)
	go func() { ended <- do() }()
	ticker := time.NewTicker(Heartbeat)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			outcome := "failed"
			if err == nil {
				outcome = "done in " + time.Since(start).Round(100*time.Millisecond).String()
			}
			fmt.Fprintln(Out, outcome)
			return err
		case <-ticker.C:
			fmt.Fprintf(Out, "\n  still %s after %s … ", what, time.Since(start).Round(time.Second))
		}
	}
}
