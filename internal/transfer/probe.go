/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// probeTry is the time limit of one attempt of an engine's probe.
	probeTry = 10 * time.Second
	// maxSaidBytes is the reported size of output that is not JSON. In JSON each byte may need six bytes.
	maxSaidBytes = protocol.MaxOutputBytes / 6
)

// probeRun is a run that probes a database.
type probeRun struct {
	*run
	*protocol.Probe
}

// probe runs the command until it exits with 0 and, without --by-exit-code, prints one JSON object.
func (r *probeRun) probe(ctx context.Context) (protocol.Result, error) {
	started := time.Now().UTC()
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, context.DeadlineExceeded)
	defer cancel()
	var said error
	for ; said == nil || ctx.Err() == nil; pause(ctx, r.Interval) {
		output, err := r.ask(ctx)
		if err == nil {
			return protocol.Result{Output: output, Started: started, Completed: time.Now().UTC()}, nil
		}
		if failureOf(err).exitCode().Final() { // a later attempt has the same result
			return protocol.Result{}, err
		}
		if ctx.Err() == nil || said == nil { // the timeout cut off the last attempt, so its error is ignored
			said = err
			tell(r.log, protocol.NoAnswer(r.withoutSecrets(err.Error())))
		}
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return protocol.Result{}, failf(protocol.ProbeFailed, "The database did not answer its probe within %s. %s", r.Timeout, said)
	}
	return protocol.Result{}, verdict(ctx, said)
}

// ask is one attempt.
func (r *probeRun) ask(ctx context.Context) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, r.oneTry())
	defer cancel()
	printed, err := r.output(ctx, r.Command, protocol.MaxOutputBytes)
	if err != nil {
		return nil, err
	}
	answer, err := parseAnswer(printed)
	if err != nil && r.ByExitCode {
		return json.Marshal(beginning(string(printed)))
	}
	return answer, err
}

// oneTry returns the time limit of one attempt. A command of the user may read every row.
func (r *probeRun) oneTry() time.Duration {
	if r.ByExitCode {
		return r.Timeout
	}
	return probeTry
}

// beginning returns the reported part of a text.
func beginning(text string) string {
	text = strings.TrimSpace(text)
	return strings.ToValidUTF8(text[:min(len(text), maxSaidBytes)], "")
}

func parseAnswer(printed []byte) (json.RawMessage, error) {
	if len(printed) > protocol.MaxOutputBytes {
		return nil, failf(protocol.ProbeFailed, "It printed more than %d bytes.", protocol.MaxOutputBytes)
	}
	var object map[string]any
	if err := json.Unmarshal(printed, &object); err != nil || object == nil {
		return nil, failf(protocol.ProbeFailed, "It printed %q instead of one JSON object.", printed)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, printed); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}
