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
	"strings"
	"time"
)

const (
	// probeTry is how long one try of an engine's probe may take.
	probeTry = 10 * time.Second
	// maxSaidBytes is how much is told of what a command printed that is no JSON: as JSON each may take six.
	maxSaidBytes = maxOutputBytes / 6
)

// probe runs the command until it exits with 0 and, where that is asked for, prints one JSON object.
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
			run.log.Info("no answer", "said", run.withoutSecrets(err.Error()))
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
	ctx, cancel := context.WithTimeout(ctx, r.oneTry())
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
	answer, err := parseAnswer(printed.Bytes())
	if err != nil && r.byExitCode {
		return json.Marshal(beginning(printed.String()))
	}
	return answer, err
}

// oneTry is how long one try may take. A command of a user's may ask for every row there is.
func (r *run) oneTry() time.Duration {
	if r.byExitCode {
		return r.timeout
	}
	return probeTry
}

// beginning is as much of a text as is told.
func beginning(text string) string {
	text = strings.TrimSpace(text)
	return strings.ToValidUTF8(text[:min(len(text), maxSaidBytes)], "")
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
