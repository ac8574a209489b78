/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// probeTry is how long one try of a probe may take.
const probeTry = 10 * time.Second

// probe runs the command until it prints one JSON object and exits with 0.
func probe(ctx context.Context, run *run) (Result, error) {
	started := time.Now().UTC()
	ctx, cancel := context.WithTimeoutCause(ctx, run.timeout, context.DeadlineExceeded)
	defer cancel()
	for said := error(nil); ; {
		output, err := run.ask(ctx)
		if err == nil {
			return Result{Output: output, Started: started, Completed: time.Now().UTC()}, nil
		}
		if final(err) {
			return Result{}, err
		}
		if ctx.Err() == nil || said == nil { // the last try is cut by us, and says nothing
			said = err
		}
		select {
		case <-time.After(run.interval):
			continue
		case <-ctx.Done():
		}
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return Result{}, failf(ProbeFailed, "The database did not answer its probe within %s. %s", run.timeout, said)
		}
		return Result{}, verdict(ctx, said)
	}
}

// final is a refusal that no later try will change.
func final(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && (failure.exitCode() == exitRefused || failure.exitCode() == exitNotApplicable)
}

// ask is one try.
func (r *run) ask(ctx context.Context) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTry)
	defer cancel()
	var printed bytes.Buffer
	action := newAction(ctx, r.command, r.log)
	action.cmd.Stdout = &limited{&printed, maxOutputBytes + 1}
	if err := action.start(); err != nil {
		return nil, err
	}
	if err := action.wait(); err != nil {
		return nil, err
	}
	return parseAnswer(printed.Bytes())
}

func parseAnswer(printed []byte) (json.RawMessage, error) {
	if len(printed) > maxOutputBytes {
		return nil, failf(ProbeFailed, "It printed more than %d bytes.", maxOutputBytes)
	}
	var object map[string]any
	if err := json.Unmarshal(printed, &object); err != nil || object == nil {
		return nil, failf(ProbeFailed, "It printed %q, which is not one JSON object.", printed)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, printed); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// limited drops what is too much.
type limited struct {
	into io.Writer
	room int
}

func (l *limited) Write(data []byte) (int, error) {
	kept := data[:min(len(data), l.room)]
	l.room -= len(kept)
	if _, err := l.into.Write(kept); err != nil {
		return 0, err
	}
	return len(data), nil
}
