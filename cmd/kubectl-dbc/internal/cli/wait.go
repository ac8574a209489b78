/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// waiting are the flags --wait and --timeout.
type waiting struct {
	wanted  bool
	timeout time.Duration
}

func addWait(cmd *cobra.Command, what string) *waiting {
	w := &waiting{}
	cmd.Flags().BoolVar(&w.wanted, "wait", false, "Wait until "+what)
	cmd.Flags().DurationVar(&w.timeout, "timeout", 30*time.Minute, "Time after which --wait ends with an error")
	return w
}

// look reports whether the wait is over, and the state.
type look func(ctx context.Context) (done bool, state string, err error)

// pause is the time between two looks.
const pause = time.Second

// until waits until a look reports the end, and prints each new state.
func (s *session) until(ctx context.Context, w *waiting, look look) error {
	if !w.wanted {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, w.timeout)
	defer stop()
	last := ""
	for {
		done, state, err := look(ctx)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fmt.Errorf("the wait ended after %s: %s", w.timeout, last)
		case ctx.Err() != nil:
			return errors.New("the command was interrupted")
		case err != nil:
			return err
		}
		if state != "" && state != last {
			s.say("%s", state)
			last = state
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
