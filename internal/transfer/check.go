/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// maxProblemBytes is the maximum size of the recorded message of a failed check.
const maxProblemBytes = 512

// moment is the time of a check: the value of DBC_CHECK.
type moment string

const (
	beforeBackup moment = "before"
	afterBackup  moment = "after"
	ofCopy       moment = "copy"
)

// before runs the check before the stream begins, so that the backup contains at least the data of the facts. It never
// fails the backup: data without facts is better than no data.
func (r *backupRun) before(ctx context.Context) *protocol.Check {
	if len(r.Check) == 0 {
		return nil
	}
	facts, err := r.facts(ctx, r.Check, beforeBackup, nil, r.IdleTimeout)
	return r.recorded(&protocol.Check{Before: facts}, err)
}

// after runs the check again. It skips a check that returned no facts before the stream.
func (r *backupRun) after(ctx context.Context, check *protocol.Check) *protocol.Check {
	if check == nil || check.Problem != "" {
		return check
	}
	facts, err := r.facts(ctx, r.Check, afterBackup, check.Before, r.IdleTimeout)
	check.After = facts
	return r.recorded(check, err)
}

// recorded records in a check how it failed. It returns nil for a check that does not apply.
func (r *backupRun) recorded(check *protocol.Check, err error) *protocol.Check {
	switch {
	case err == nil:
		return check
	case failureOf(err).exitCode() == protocol.ExitNotApplicable && check.Before == nil:
		return nil
	case failureOf(err).exitCode() == protocol.ExitNotApplicable:
		return check
	}
	check.Problem = short(r.withoutSecrets(err.Error()), maxProblemBytes)
	r.log.Warn("the facts about the data are incomplete; the backup continues", "error", check.Problem)
	return check
}

// facts runs a check once.
func (r *run) facts(ctx context.Context, command []string, when moment, before protocol.Facts,
	limit time.Duration) (protocol.Facts, error) {
	hung := failf(protocol.CheckFailed, "The action %s did not end within %s. See its log.", command[0], limit)
	limited, cancel := context.WithTimeoutCause(ctx, limit, hung)
	defer cancel()
	variables := []string{"DBC_CHECK=" + string(when)}
	if before != nil {
		text, err := json.Marshal(before)
		if err != nil {
			return nil, err
		}
		variables = append(variables, "DBC_FACTS="+string(text))
	}
	printed, err := r.output(limited, command, 4*protocol.MaxFactsBytes, variables...)
	if err != nil {
		return nil, verdict(limited, err)
	}
	return parseFacts(printed)
}

// do waits for an answer of the database, and then for the facts about its data. Each may take the whole timeout. A
// command of the user comes last, because it may write.
func (r *probeRun) do(ctx context.Context) (protocol.Result, error) {
	if len(r.Check) == 0 {
		return r.probe(ctx)
	}
	started := time.Now().UTC()
	var result protocol.Result
	var facts protocol.Facts
	steps := []func() error{
		func() (err error) { result, err = r.probe(ctx); return err },
		func() (err error) { facts, err = r.copied(ctx); return err },
	}
	if r.ByExitCode {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return protocol.Result{}, err
		}
	}
	result.Facts, result.Started, result.Completed = facts, started, time.Now().UTC()
	return result, nil
}

// copied returns the facts of the restored database. It repeats the check while it fails. The last attempt is cut off,
// so its error is ignored.
func (r *probeRun) copied(ctx context.Context) (protocol.Facts, error) {
	end := time.Now().Add(r.Timeout)
	for said := error(nil); ; pause(ctx, r.Interval) {
		facts, err := r.facts(ctx, r.Check, ofCopy, nil, time.Until(end))
		if err == nil {
			return facts, nil
		}
		if said == nil || time.Now().Before(end) {
			said = err
		}
		if ctx.Err() != nil || failureOf(said).exitCode().Final() || time.Now().Add(r.Interval).After(end) {
			return unchecked(ctx, err, said)
		}
	}
}

// unchecked returns the failure of a probe whose check never succeeded. A check that does not apply returns no facts.
func unchecked(ctx context.Context, err, said error) (protocol.Facts, error) {
	code := failureOf(said).exitCode()
	switch {
	case code == protocol.ExitNotApplicable:
		return protocol.Facts{}, nil
	case ctx.Err() != nil:
		return nil, verdict(ctx, err)
	default:
		return nil, &Error{Reason: protocol.CheckFailed, Message: fmt.Sprintf("The restored data cannot be checked. %s", said), action: code}
	}
}

// short returns the beginning of a text.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// factName is the pattern of the name of a fact, as in spec.actions.check.facts of the engine.
var factName = regexp.MustCompile(`^[A-Za-z][-_A-Za-z0-9]{0,62}$`)

func parseFacts(printed []byte) (protocol.Facts, error) {
	var facts protocol.Facts
	if err := json.Unmarshal(printed, &facts); err != nil || facts == nil {
		return nil, failf(protocol.CheckFailed,
			"The action check printed %q instead of one JSON object. Correct spec.actions.check of the engine.", short(string(printed), 200))
	}
	for name, value := range facts {
		if !factName.MatchString(name) {
			return nil, failf(protocol.CheckFailed, "The action check printed a fact named %q. A name starts with a letter, followed by letters, "+
				"digits, '_' and '-', up to 63 characters.", short(name, 80))
		}
		if bytes.ContainsAny(value[:1], "{[n") {
			return nil, failf(protocol.CheckFailed, "The action check printed %s as the fact %s. A fact must be a string, a number or a boolean.",
				short(string(value), 80), name)
		}
	}
	encoded, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	if len(facts) > protocol.MaxFacts || len(encoded) > protocol.MaxFactsBytes {
		return nil, failf(protocol.CheckFailed, "The action check printed %d facts with %d bytes. The limit is %d facts with %d bytes.",
			len(facts), len(encoded), protocol.MaxFacts, protocol.MaxFactsBytes)
	}
	return facts, nil
}
