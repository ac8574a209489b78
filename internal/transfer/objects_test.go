/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// declared writes a document with these users, and returns the arguments of a call that runs a script.
func declared(t *testing.T, script string, names ...string) []string {
	t.Helper()
	folder, all := t.TempDir(), protocol.DeclaredObjects{}
	for _, name := range names {
		user := protocol.DeclaredUser{DeclaredObject: protocol.DeclaredObject{ID: "id-" + name, Name: name, Mode: protocol.ApplyObject}}
		user.PasswordFile = filepath.Join(folder, user.ID)
		if err := os.WriteFile(user.PasswordFile, []byte("password of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		all.Users = append(all.Users, user)
	}
	document, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "document")
	if err := os.WriteFile(path, document, 0o600); err != nil {
		t.Fatal(err)
	}
	return protocol.Args(&protocol.Objects{Document: path, Command: []string{"sh", "-c", script}})
}

func TestTheActionReadsTheDocumentAndAnswersAreReported(t *testing.T) {
	w := newWorld(t)
	out := w.run(declared(t, `grep -q '"name":"b"' || exit 1
		[ "$(cat "$DBC_OBJECTS_DIR"/users/0001/password)" = "password of b" ] && [ "$(ls "$DBC_OBJECTS_DIR"/users)" = "$(printf '%04d\n' 0 1 2 3 4)" ] || exit 1
		echo '{"id":"id-a","result":"Done"}'
		echo 'no answer'
		echo '{"id":"id-b","result":"Created","message":"created"}'
		printf '%s\n' '{"id":"id-c","result":"Refused","message":"the password of c\n is bad"}'
		echo '{"id":"id-d","result":"Maybe"}'`, "a", "b", "c", "d", "e")...)
	if out.code != protocol.ExitDone || out.Objects == nil {
		t.Fatalf("%+v", out)
	}
	want := []protocol.ObjectAnswer{
		{ID: "id-c", Result: protocol.ObjectRefused, Message: "the *** is bad"},
		{ID: "id-d", Result: protocol.ObjectFailed, Message: `the action gave the unknown answer "Maybe"`},
		{ID: "id-e", Result: protocol.ObjectFailed, Message: unanswered},
		{ID: "id-b", Result: protocol.ObjectCreated, Message: "created"},
	}
	if !slices.Equal(out.Objects.Answers, want) || out.Objects.Results != ".crff" {
		t.Errorf("got %+v, want %+v", out.Objects, want)
	}
}

func TestTheResultHasALetterForEachObjectAlsoIfItsMessageDoesNotFit(t *testing.T) {
	names := []string{}
	for i := range 100 {
		names = append(names, strings.Repeat("x", i+1))
	}
	out := newWorld(t).run(declared(t, "true", names...)...)
	if listed := len(out.Objects.Answers); listed == 0 || listed == len(names) || out.Objects.Results != strings.Repeat("f", len(names)) {
		t.Errorf("%d of %d are listed: %s", listed, len(names), out.Objects.Results)
	}
}

func TestAnActionThatFailsHasNoAnswersThatCount(t *testing.T) {
	w := newWorld(t)
	out := w.run(declared(t, "exit 11", "a")...)
	if out.code != protocol.ExitTransient || out.Objects != nil {
		t.Errorf("%+v", out)
	}
}
