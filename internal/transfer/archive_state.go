/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// stateInterval is the time between two states in the file.
	stateInterval = time.Second
	// staleState is the age from which a state shows that its program hangs.
	staleState = 30 * time.Second
	// silentAction is the time without a frame after which the pod starts again. A database that answers gives a mark each second.
	silentAction = 10 * time.Minute
	// shownGap is how long an archive is behind after a gap, so that an alert fires.
	shownGap = 15 * time.Minute
	// archiveAgain and maxArchiveAgain are the times between two runs that fail. After archiveRuns, a run counts as a good one.
	archiveAgain    = time.Second
	maxArchiveAgain = 30 * time.Second
	archiveRuns     = time.Minute
)

// archive archives once, or with a file for its state until it is asked to stop: then whatever fails runs again, and the file has the
// cause.
func (r *run) archive(ctx context.Context, call *protocol.Archive) (protocol.Result, error) {
	if call.State == "" {
		return (&archiveRun{run: r, Archive: call}).do(ctx)
	}
	state := &archiveState{}
	stop := state.every(call.State)
	defer stop()
	for again := archiveAgain; ; again = min(2*again, maxArchiveAgain) {
		began := time.Now()
		result, err := (&archiveRun{run: r, Archive: call, state: state}).do(ctx)
		if ctx.Err() != nil {
			return result, err
		}
		if err == nil {
			err = failf(protocol.ActionFailed, "The archive action %s ended. It has to run until it is stopped.", call.Command[0])
		}
		text := r.withoutSecrets(failureOf(err).Message)
		r.log.Error(text)
		state.fails(text)
		if time.Since(began) > archiveRuns {
			again = archiveAgain
		}
		pause(ctx, again)
	}
}

// archiveState is what the file has. A run gives its state while it has one.
type archiveState struct {
	mutex sync.Mutex
	of    func() protocol.Archived
	last  protocol.Archived
}

// follow takes the state from a run. A nil state is of a program without a file.
func (s *archiveState) follow(of func() protocol.Archived) {
	if s == nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.of = of
}

// fails records why a run has ended.
func (s *archiveState) fails(cause string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.update()
	s.of = nil
	if s.last.Problem == "" {
		s.last.Since = time.Now().UTC()
	}
	s.last.Problem, s.last.Said = cause, ""
}

func (s *archiveState) now() protocol.Archived {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.update()
	s.last.At = time.Now().UTC()
	return s.last
}

// update takes the state of the run, if there is one. Its gaps stay known when it has ended: the pod may remain ready.
func (s *archiveState) update() {
	if s.of == nil {
		return
	}
	now := s.of()
	if now.Lost.Before(s.last.Lost) {
		now.Lost = s.last.Lost
	}
	s.last = now
}

// every writes the state until the returned function is called.
func (s *archiveState) every(path string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(stateInterval)
		defer ticker.Stop()
		for {
			_ = s.write(path) // without it the probe fails
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (s *archiveState) write(path string) error {
	content, err := json.Marshal(s.now())
	return errors.Join(err, os.WriteFile(path+".tmp", content, 0o600), os.Rename(path+".tmp", path))
}

// lag prints what an archive has, or what it lacks.
func (r *run) lag(call *protocol.Lag) protocol.ExitCode {
	state := protocol.Archived{}
	content, err := os.ReadFile(call.State)
	if err == nil {
		err = json.Unmarshal(content, &state)
	}
	lack := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		lack = "the archive has not begun"
	case err != nil:
		lack = fmt.Sprintf("the state of the archive cannot be read: %v", err)
	default:
		lack = behind(state, call.Max, time.Now())
	}
	if lack != "" {
		fmt.Fprintln(r.stdout, lack)
		return protocol.ExitFailed
	}
	fmt.Fprintln(r.stdout, "the archive has every commit until", state.Mark.Format(time.RFC3339))
	return protocol.ExitDone
}

// behind is what an archive lacks; "" for nothing.
func behind(state protocol.Archived, most time.Duration, now time.Time) string {
	until := "the archive has no commits yet"
	if !state.Mark.IsZero() {
		until = "the archive has every commit until " + state.Mark.Format(time.RFC3339) + " only"
	}
	switch age := now.Sub(state.At); {
	case age > staleState:
		return fmt.Sprintf("the archive has not reported its state for %s", age.Round(time.Second))
	case !state.Heard.IsZero() && now.Sub(state.Heard) > silentAction:
		return fmt.Sprintf("the engine has sent nothing for %s", now.Sub(state.Heard).Round(time.Second))
	case most > 0 && now.Sub(state.Lost) < shownGap:
		return fmt.Sprintf(
			"log is missing since %s: the database had removed it, or has another history. Create a backup: "+
				"no previous one can be recovered to a later time",
			state.Lost.Format(time.RFC3339))
	case most == 0, now.Sub(state.Mark) <= most && state.Problem == "":
		return ""
	case state.Problem != "":
		return fmt.Sprintf("%s. Since %s: %s", until, state.Since.Format(time.RFC3339), state.Problem)
	case state.Said != "":
		return until + ". The engine reports: " + state.Said
	default:
		return until
	}
}
