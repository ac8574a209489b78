/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
)

// commands are what a transfer can be.
var commands = map[string]struct {
	flags func(*run, *flag.FlagSet)
	do    func(context.Context, *run) (Result, error)
}{
	"backup":  {(*run).backupFlags, backup},
	"restore": {(*run).restoreFlags, restore},
	"delete":  {(*run).deleteFlags, remove},
	"list":    {(*run).listFlags, list},
	"probe":   {(*run).probeFlags, verify},
}

// Run does what the arguments say, writes the result and returns the exit code.
func Run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	debug.SetMemoryLimit(softLimit)
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	run := &run{log: log, stdout: stdout, result: terminationLog}
	if len(arguments) == 2 && arguments[0] == "install" {
		return run.end(Result{}, install(arguments[1]))
	}
	result, err := run.do(ctx, arguments)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	return run.end(result, err)
}

func (r *run) do(ctx context.Context, arguments []string) (Result, error) {
	known := strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
	if len(arguments) == 0 {
		return Result{}, fmt.Errorf("say what to do: %s or install DIR", known)
	}
	command, found := commands[arguments[0]]
	if !found {
		return Result{}, fmt.Errorf("%q is not known: say %s or install DIR", arguments[0], known)
	}
	if err := r.parse(arguments, command.flags); err != nil {
		return Result{}, err
	}
	result, err := command.do(ctx, r)
	if errors.Is(err, context.Canceled) { // says nothing of itself, wherever that was
		err = verdict(ctx, err)
	}
	return result, err
}

// end tells how it went, to those who read the log and to those who read the result.
func (r *run) end(result Result, err error) int {
	code := exitDone
	if err != nil {
		failure := failureOf(err)
		code, result.Reason, result.Message = failure.exitCode(), failure.Reason, r.withoutSecrets(failure.Message)
		r.log.Error(result.Message, "reason", string(result.Reason))
	}
	if err := result.write(r.result); err != nil {
		r.log.Warn(err.Error())
	}
	return code
}

// withoutSecrets keeps credentials out, whatever a server or an action said.
func (r *run) withoutSecrets(text string) string {
	for _, secret := range r.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
