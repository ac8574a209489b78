/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// recoverRun is a run that replays an archive. The command of the engine gets its files over a socket, so it needs no credentials.
type recoverRun struct {
	*run
	*protocol.Recover
	from     *reading
	covering archive.Range
	newest   bool // the archive has no later range
	files    *prefetch
}

func (r *recoverRun) do(ctx context.Context) (result protocol.Result, err error) {
	if err := r.open(ctx); err != nil {
		return result, err
	}
	defer r.from.close() //nolint:errcheck // only read
	err = r.replay(ctx, &result)
	return result, err
}

// storedSoon is how near a time is whose log may still be on its way to the archive.
const storedSoon = 30 * time.Second

// open waits for the log of a time that has just passed.
func (r *recoverRun) open(ctx context.Context) error {
	_, until, _ := r.Times() // they were checked
	for waits := false; ; waits = true {
		err := r.look(ctx)
		if failure, is := errors.AsType[*Error](err); !is || failure.Reason != protocol.TargetNotCovered || time.Since(until).Abs() > storedSoon {
			return err
		}
		if !waits {
			r.log.Info("the archive does not have each commit until then yet", "until", r.Until)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// look refuses a time that the archive does not cover before the command runs: for a database, a missing file is the end.
func (r *recoverRun) look(ctx context.Context) (err error) {
	if r.from, err = r.openArchive(ctx, r.From, r.Store); err != nil {
		return err
	}
	since, until, _ := r.Times()
	backup := archive.BaseBackup{Start: r.Start, Ended: since}
	if r.Point != "" { // only the command sees whether the log has it
		r.covering, r.newest, err = r.from.files.After(backup)
	} else {
		r.covering, err = r.from.files.Covering(backup, until)
	}
	switch {
	case err != nil:
		err = failf(protocol.TargetNotCovered, "%s: %v.", r.from.URL(""), err)
	case !until.IsZero() && until.Before(since):
		err = failf(protocol.TargetNotCovered, "%s is before %s, when the backup ended. Choose a later time, or an earlier backup.",
			r.Until, r.Since)
	}
	if err != nil {
		return errors.Join(err, r.from.close())
	}
	return nil
}

// replay runs the command, and records until when the recovered data has every commit, and when the last one was.
func (r *recoverRun) replay(ctx context.Context, result *protocol.Result) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	folder, err := os.MkdirTemp("", "archive-")
	if err != nil {
		return fmt.Errorf("create a folder for the socket: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the pod ends
	r.files = newPrefetch(r.from, r.covering, r.log, stop)
	if err := r.follow(ctx, folder); err != nil {
		return r.explained(err)
	}
	if result.LastCommit, err = r.lastCommit(folder); err != nil {
		return err
	}
	_, until, _ := r.Times()
	switch {
	case r.Point != "":
		result.RecoveredTo, err = r.timeOfPoint(folder)
	case !until.IsZero():
		result.RecoveredTo, err = r.reached(folder, until)
	default:
		result.RecoveredTo = r.covering.Newest()
	}
	return err
}

// explained adds up to where the archive has log, if the command did not find the point.
func (r *recoverRun) explained(err error) error {
	failure, is := errors.AsType[*Error](err)
	if !is || r.Point == "" || failure.action != protocol.ExitRefused || r.covering.Newest().IsZero() {
		return err
	}
	rest := "."
	if !r.newest {
		rest = "; log that follows is missing. For a later point, choose a later backup."
	}
	end := r.covering.Newest().UTC().Format(time.RFC3339Nano)
	failure.Message += fmt.Sprintf(" From this backup, the archive has the log until %s%s", end, rest)
	return failure
}

// follow runs the command beside a socket in the folder.
func (r *recoverRun) follow(ctx context.Context, folder string) error {
	socket := filepath.Join(folder, "socket")
	list := filepath.Join(folder, "files")
	if err := writeFile(list, []byte(r.files.list())); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("listen for the action: %w", err)
	}
	defer listener.Close()
	go r.serve(ctx, listener)
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	action := newAction(ctx, r.Command, r.log)
	action.cmd.Stdout = action.stderr
	action.cmd.Env = append(os.Environ(), protocol.UntilVariable+"="+r.Until, protocol.PointVariable+"="+r.Point,
		protocol.ReachedVariable+"="+filepath.Join(folder, reachedFile), protocol.LastCommitVariable+"="+filepath.Join(folder, lastCommitFile),
		protocol.FilesVariable+"="+list,
		protocol.FetchVariable+"="+strings.Join([]string{self, "fetch", "--through", socket, "--result", os.DevNull}, " "))
	if err := action.start(); err != nil {
		return err
	}
	ended := action.wait()
	if failure, is := errors.AsType[*Error](context.Cause(ctx)); is {
		return failure
	}
	return ended
}

func (r *recoverRun) serve(ctx context.Context, listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go r.answer(ctx, connection)
	}
}

// answer writes a file where the client wants it, because both are in one container: another copy through the socket takes longer than to
// read it ahead. A connection that ends without an answer means: not now.
func (r *recoverRun) answer(ctx context.Context, connection net.Conn) {
	defer connection.Close()
	var wanted [2]string // the name and the path
	from := bufio.NewReader(connection)
	for i := range wanted {
		line, err := from.ReadString('\n')
		if err != nil {
			return
		}
		wanted[i] = strings.TrimSuffix(line, "\n")
	}
	content, found, err := r.files.get(ctx, wanted[0])
	switch {
	case err != nil:
	case !found:
		fmt.Fprintln(connection, protocol.AnswerAbsent)
	default:
		r.hand(ctx, connection, wanted[1], content)
	}
}

// hand writes a file. The client renames it, so the file of a client that has ended changes nothing.
func (r *recoverRun) hand(ctx context.Context, connection net.Conn, path string, content []byte) {
	err := writeFile(path, content)
	if err != nil && ctx.Err() == nil {
		r.log.Warn(failureOf(err).Message)
		if failureOf(err).Reason == protocol.DataVolumeFull {
			r.files.fail(failureOf(err))
		}
	}
	if err == nil {
		_, err = fmt.Fprintln(connection, protocol.AnswerFile)
	}
	if err != nil {
		_ = os.Remove(path) // a part may be there
	}
}

// fetchThrough gets a file from the recovery that runs this program.
func (r *run) fetchThrough(ctx context.Context, call *protocol.Fetch) error {
	lost := failf(protocol.Interrupted, "The recovery did not send the file %s.", call.File)
	into, err := filepath.Abs(call.Into)
	if err != nil {
		return fmt.Errorf("find the folder of %s: %w", call.Into, err)
	}
	connection, err := new(net.Dialer).DialContext(ctx, "unix", call.Through)
	if err != nil {
		return lost
	}
	defer connection.Close()
	fmt.Fprintln(connection, call.File)
	half := fmt.Sprintf("%s.%d", into, os.Getpid())
	fmt.Fprintln(connection, half)
	answer, err := bufio.NewReader(connection).ReadString('\n')
	switch {
	case err == nil && answer == protocol.AnswerAbsent+"\n":
		return absent(call)
	case err == nil && answer == protocol.AnswerFile+"\n" && os.Rename(half, into) == nil:
		return nil
	}
	return lost
}
