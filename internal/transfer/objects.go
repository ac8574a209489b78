/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// maxAnswerBytes is the maximum size of what the action objects prints.
	maxAnswerBytes = 8 << 20
	// unanswered is the message about an object without an answer.
	unanswered = "the action did not answer about it"
)

// objects runs the action that makes databases and users. Objects without an answer have failed.
func (r *run) objects(ctx context.Context, call *protocol.Objects) (protocol.Result, error) {
	document, err := os.ReadFile(call.Document)
	declared := protocol.DeclaredObjects{}
	if err == nil {
		err = json.Unmarshal(document, &declared)
	}
	if err != nil {
		return protocol.Result{}, failf(protocol.ActionFailed, "The document of declared objects cannot be read: %v.", err)
	}
	r.hide(declared)
	folder, err := os.MkdirTemp("", "objects")
	if err != nil {
		return protocol.Result{}, fmt.Errorf("create a folder: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the pod ends anyway
	if err := spread(declared, folder); err != nil {
		return protocol.Result{}, fmt.Errorf("write the declared objects: %w", err)
	}
	printed, err := r.tellObjects(ctx, call.Command, document, folder)
	if err != nil {
		return protocol.Result{}, err
	}
	return protocol.Result{Objects: r.answers(declared, printed)}, nil
}

// tellObjects runs the action, and returns what it has printed.
func (r *run) tellObjects(ctx context.Context, command []string, document []byte, folder string) ([]byte, error) {
	printed := &limited{room: maxAnswerBytes + 1}
	action := newAction(ctx, command, r.log)
	action.stderr.hide = r.withoutSecrets
	action.cmd.Env = append(os.Environ(), folderVariable+"="+folder)
	action.cmd.Stdin, action.cmd.Stdout = bytes.NewReader(document), printed
	if err := action.start(); err != nil {
		return nil, err
	}
	if err := action.wait(); err != nil {
		return nil, err
	}
	if len(printed.kept) > maxAnswerBytes {
		return nil, failf(protocol.ActionFailed, "The action %s printed more than %d MiB. Correct the action in the engine.", command[0],
			maxAnswerBytes>>20)
	}
	return printed.kept, nil
}

// hide keeps the passwords out of logs and results.
func (r *run) hide(declared protocol.DeclaredObjects) {
	for _, user := range declared.Users {
		if content, err := os.ReadFile(user.PasswordFile); err == nil {
			r.secrets = append(r.secrets, string(content))
		}
	}
}

// answers are those about all objects. Those of objects that are not in force come first: there may be no room for all messages in the
// result of the call, so the log has them, too.
func (r *run) answers(declared protocol.DeclaredObjects, printed []byte) *protocol.ObjectAnswers {
	given := map[string]protocol.ObjectAnswer{}
	for line := range strings.Lines(string(printed)) {
		answer := protocol.ObjectAnswer{}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			r.log.Warn("the action printed a line that is no answer", "line", r.withoutSecrets(strings.TrimSpace(line)))
			continue
		}
		given[answer.ID] = answer
	}
	results, problems, changes := "", []protocol.ObjectAnswer{}, []protocol.ObjectAnswer{}
	names := namesOf(declared)
	for _, id := range ids(declared) {
		answer := r.checked(id, given[id])
		letter, _ := answer.Result.Letter()
		results += string(letter)
		switch {
		case !answer.Result.InForce():
			problems = append(problems, answer)
			r.log.Warn("an object is not as declared", "name", names[id], "id", id, "result", answer.Result, "cause", answer.Message)
		case answer.Message != "":
			changes = append(changes, answer)
		}
	}
	return &protocol.ObjectAnswers{Results: results, Answers: append(problems, changes...)}
}

// checked is an answer about an object; one that it has not, or of an unknown kind, is a failure.
func (r *run) checked(id string, answer protocol.ObjectAnswer) protocol.ObjectAnswer {
	switch _, known := answer.Result.Letter(); {
	case known:
		text := strings.Join(strings.Fields(r.withoutSecrets(answer.Message)), " ")
		answer.Message = strings.ToValidUTF8(text[:min(len(text), protocol.MaxObjectMessage)], "")
		return answer
	case answer.Result == "":
		return protocol.ObjectAnswer{ID: id, Result: protocol.ObjectFailed, Message: unanswered}
	default:
		text := fmt.Sprintf("the action gave the unknown answer %q", answer.Result)
		return protocol.ObjectAnswer{ID: id, Result: protocol.ObjectFailed, Message: text}
	}
}

// ids are those of all objects, in the order of the document.
func ids(declared protocol.DeclaredObjects) (all []string) {
	for _, d := range declared.Databases {
		all = append(all, d.ID)
	}
	for _, u := range declared.Users {
		all = append(all, u.ID)
	}
	return all
}

func namesOf(declared protocol.DeclaredObjects) map[string]string {
	names := map[string]string{}
	for _, d := range declared.Databases {
		names[d.ID] = d.Name
	}
	for _, u := range declared.Users {
		names[u.ID] = u.Name
	}
	return names
}
