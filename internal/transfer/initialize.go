/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// initializeRun is a run that creates the first data of a cluster.
type initializeRun struct {
	*run
	*protocol.Initialize
}

// do runs the action in an empty directory. An interrupted attempt starts again with an empty directory.
func (i *initializeRun) do(ctx context.Context) (protocol.Result, error) {
	data := dataDirectory(i.Into)
	mark, err := data.look(i.ID)
	switch {
	case err != nil:
		return protocol.Result{}, err
	case mark != nil && mark.State == protocol.MarkDone:
		return mark.Result, nil
	}
	result := protocol.Result{Started: time.Now().UTC()}
	err = data.begin(i.ID)
	if err == nil {
		err = i.create(ctx, data)
	}
	if err != nil {
		return protocol.Result{}, err
	}
	result.Completed = time.Now().UTC()
	return result, data.write(protocol.Mark{ID: i.ID, State: protocol.MarkDone, Result: result})
}

func (i *initializeRun) create(ctx context.Context, data dataDirectory) error {
	action := newAction(ctx, i.Command, i.log)
	action.cmd.Stdout = action.stderr
	err := action.start()
	if err == nil {
		err = action.wait()
	}
	if err == nil {
		return nil
	}
	err = verdict(ctx, err)
	if ranOut(err, data) {
		err = data.noRoom()
	}
	return errors.Join(err, data.empty())
}
