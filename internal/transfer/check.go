/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// maxFacts and maxFactsBytes bound what a check may print: before and after a backup it fits into one result.
	maxFacts      = 20
	maxFactsBytes = 1 << 10
	// maxProblemBytes is how much of a failed check's message is recorded.
	maxProblemBytes = 512
)

// moment is when a check runs: the value of DBC_CHECK.
type moment string

const (
	beforeBackup moment = "before"
	afterBackup  moment = "after"
	ofCopy       moment = "copy"
)

// Facts are strings, numbers and booleans about the data of a member, by their names.
type Facts map[string]json.RawMessage

// Check is what the engine's action check printed around a backup. What it means is for others to decide.
type Check struct {
	Before  Facts  `json:"before,omitempty"`
	After   Facts  `json:"after,omitempty"`
	Problem string `json:"problem,omitempty"` // how the check failed
}

func (r *run) checkFlag(flags *flag.FlagSet) {
	flags.Func("check", "a `word` of the command that prints facts about the data as one JSON object; repeat it for each word", func(word string) error {
		r.checkCommand = append(r.checkCommand, word)
		return nil
	})
}

// before runs the check before the stream begins, so that the backup holds at least what the facts say. It never
// fails the backup: data without facts is better than no data.
func (r *run) before(ctx context.Context) *Check {
	if len(r.checkCommand) == 0 {
		return nil
	}
	facts, err := r.facts(ctx, beforeBackup, nil, r.idleTimeout)
	return r.noted(&Check{Before: facts}, err)
}

// after runs the check again. A check that could say nothing before the stream is not asked again.
func (r *run) after(ctx context.Context, check *Check) *Check {
	if check == nil || check.Problem != "" {
		return check
	}
	facts, err := r.facts(ctx, afterBackup, check.Before, r.idleTimeout)
	check.After = facts
	return r.noted(check, err)
}

// noted adds to a check how it failed; nil stands for a check that does not apply.
func (r *run) noted(check *Check, err error) *Check {
	failure, failed := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return check
	case failed && failure.exitCode() == exitNotApplicable && check.Before == nil:
		return nil
	case failed && failure.exitCode() == exitNotApplicable:
		return check
	}
	check.Problem = short(r.withoutSecrets(err.Error()), maxProblemBytes)
	r.log.Warn("the facts about the data are incomplete; the backup goes on", "error", check.Problem)
	return check
}

// facts runs the check once.
func (r *run) facts(ctx context.Context, when moment, before Facts, limit time.Duration) (Facts, error) {
	hung := failf(CheckFailed, "The action %s did not end within %s. See its log.", r.checkCommand[0], limit)
	limited, cancel := context.WithTimeoutCause(ctx, limit, hung)
	defer cancel()
	var printed bytes.Buffer
	action := newAction(limited, r.checkCommand, r.log)
	action.cmd.Stdout = newLimited(&printed)
	action.cmd.Env = append(os.Environ(), "DBC_CHECK="+string(when))
	if before != nil {
		text, err := json.Marshal(before)
		if err != nil {
			return nil, err
		}
		action.cmd.Env = append(action.cmd.Env, "DBC_FACTS="+string(text))
	}
	if err := action.start(); err != nil {
		return nil, err
	}
	if err := action.wait(); err != nil {
		return nil, verdict(limited, err)
	}
	return parseFacts(printed.Bytes())
}

// newLimited keeps what a check may print, and enough of more to see that it is too much.
func newLimited(into *bytes.Buffer) *limited { return &limited{into, 4*maxFactsBytes + 1} }

// verify asks the database whether it answers, and for the facts about its data, each for as long as a probe may take. A
// command of the user's comes last: it may write.
func verify(ctx context.Context, run *run) (Result, error) {
	if len(run.checkCommand) == 0 {
		return probe(ctx, run)
	}
	started := time.Now().UTC()
	var result Result
	var facts Facts
	steps := []func() error{
		func() (err error) { result, err = probe(ctx, run); return err },
		func() (err error) { facts, err = run.copied(ctx); return err },
	}
	if run.byExitCode {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return Result{}, err
		}
	}
	result.Facts, result.Started, result.Completed = facts, started, time.Now().UTC()
	return result, nil
}

// copied are the facts of the database. The check is repeated while it fails; the last try, which we cut, says nothing.
func (r *run) copied(ctx context.Context) (Facts, error) {
	end := time.Now().Add(r.timeout)
	for said := error(nil); ; {
		facts, err := r.facts(ctx, ofCopy, nil, time.Until(end))
		if err == nil {
			return facts, nil
		}
		if said == nil || time.Now().Before(end) {
			said = err
		}
		if ctx.Err() != nil || final(said) || time.Now().Add(r.interval).After(end) {
			return unchecked(ctx, err, said)
		}
		select {
		case <-time.After(r.interval):
		case <-ctx.Done():
		}
	}
}

// unchecked is what it means that no check succeeded. One that does not apply to a copy has no facts.
func unchecked(ctx context.Context, err, said error) (Facts, error) {
	failure, failed := errors.AsType[*Error](said)
	switch {
	case failed && failure.exitCode() == exitNotApplicable:
		return Facts{}, nil
	case ctx.Err() != nil:
		return nil, verdict(ctx, err)
	default:
		return nil, failf(CheckFailed, "The restored data cannot be checked. %s", said).as(failure)
	}
}

// as takes over the exit code of another failure.
func (f *Error) as(other *Error) *Error {
	if other != nil {
		f.action = other.exitCode()
	}
	return f
}

// short is the beginning of a text.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// factName is what a fact may be called, as in the engine's spec.actions.check.facts.
var factName = regexp.MustCompile(`^[A-Za-z][-_A-Za-z0-9]{0,62}$`)

func parseFacts(printed []byte) (Facts, error) {
	var facts Facts
	if err := json.Unmarshal(printed, &facts); err != nil || facts == nil {
		return nil, failf(CheckFailed, "The action check printed %q, which is not one JSON object.", short(string(printed), 200))
	}
	for name, value := range facts {
		if !factName.MatchString(name) {
			return nil, failf(CheckFailed, "The action check printed a fact named %q. A name has a letter, then letters, digits, '_' and '-', at most 63 characters.", short(name, 80))
		}
		if bytes.ContainsAny(value[:1], "{[n") {
			return nil, failf(CheckFailed, "The action check printed %s as the fact %s, which is no string, number or boolean.", short(string(value), 80), name)
		}
	}
	encoded, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	if len(facts) > maxFacts || len(encoded) > maxFactsBytes {
		return nil, failf(CheckFailed, "The action check printed %d facts with %d bytes. It may print %d with %d bytes.", len(facts), len(encoded), maxFacts, maxFactsBytes)
	}
	return facts, nil
}
