/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// run is one call of the program, with its logger and its secrets.
type run struct {
	log     *slog.Logger
	stdout  io.Writer
	secrets []string // never logged
}

// Run executes the arguments, writes the result and returns the exit code.
func Run(ctx context.Context, arguments []string, stdout, stderr io.Writer) protocol.ExitCode {
	debug.SetMemoryLimit(softLimit)
	run := &run{log: slog.New(slog.NewJSONHandler(stderr, nil)), stdout: stdout}
	call, err := protocol.Parse(arguments)
	if help, ok := errors.AsType[*protocol.HelpError](err); ok {
		fmt.Fprint(stdout, help.Usage)
		return protocol.ExitDone
	}
	if probe, is := call.(*protocol.Lag); is && err == nil {
		return run.lag(probe)
	}
	path, result := protocol.ResultFile, protocol.Result{}
	if call != nil {
		path = call.ResultPath()
	}
	if err == nil {
		result, err = run.do(ctx, call)
	}
	return run.end(result, path, err)
}

func (r *run) do(ctx context.Context, call protocol.Call) (result protocol.Result, err error) {
	if work := r.work(call); work != nil {
		result, err = work(ctx)
	} else {
		err = r.only(ctx, call)
	}
	if errors.Is(err, context.Canceled) { // has no cause of its own
		err = verdict(ctx, err)
	}
	return result, err
}

// work executes a call that has a result; nil for other calls.
func (r *run) work(call protocol.Call) func(context.Context) (protocol.Result, error) {
	switch call := call.(type) {
	case *protocol.Archive:
		return func(ctx context.Context) (protocol.Result, error) { return r.archive(ctx, call) }
	case *protocol.Backup:
		return (&backupRun{run: r, Backup: call}).do
	case *protocol.Initialize:
		return (&initializeRun{run: r, Initialize: call}).do
	case *protocol.Objects:
		return func(ctx context.Context) (protocol.Result, error) { return r.objects(ctx, call) }
	case *protocol.Probe:
		return (&probeRun{run: r, Probe: call}).do
	case *protocol.Recover:
		return (&recoverRun{run: r, Recover: call}).do
	case *protocol.Restore:
		return (&restoreRun{run: r, Restore: call}).do
	case *protocol.Search:
		return (&searchRun{run: r, Search: call}).do
	case *protocol.Window:
		return (&windowRun{run: r, Window: call}).do
	case *protocol.Delete, *protocol.Fetch, *protocol.Install, *protocol.Lag, *protocol.List, *protocol.Reload:
	}
	return nil
}

// only executes a call that has no result but its success.
func (r *run) only(ctx context.Context, call protocol.Call) error {
	switch call := call.(type) {
	case *protocol.Delete:
		return r.remove(ctx, call)
	case *protocol.Fetch:
		return r.fetch(ctx, call)
	case *protocol.Install:
		return install(call.Folder)
	case *protocol.List:
		return r.list(ctx, call)
	case *protocol.Reload:
		return (&reloadRun{run: r, Reload: call}).do(ctx)
	case *protocol.Archive, *protocol.Backup, *protocol.Initialize, *protocol.Lag, *protocol.Objects, *protocol.Probe, *protocol.Recover,
		*protocol.Restore, *protocol.Search, *protocol.Window:
	}
	return nil
}

// end reports the outcome in the log and in the result.
func (r *run) end(result protocol.Result, path string, err error) protocol.ExitCode {
	code := protocol.ExitDone
	if err != nil {
		failure := failureOf(err)
		code, result.Reason, result.Message = failure.exitCode(), failure.Reason, r.withoutSecrets(failure.Message)
		r.log.Error(result.Message, "reason", string(result.Reason))
	}
	if err := write(result, path); err != nil {
		r.log.Warn(err.Error())
	}
	return code
}

// tell logs an entry for the operator.
func tell(log *slog.Logger, entry protocol.Entry) {
	message, attributes := entry.Log()
	log.Info(message, attributes...)
}

// withoutSecrets removes credentials from the output of servers and actions.
func (r *run) withoutSecrets(text string) string {
	for _, secret := range r.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
