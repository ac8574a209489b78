//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// object is a database or a user that the action should create, change or remove.
type object struct {
	id, name, mode, password string
	adopt                    bool
	attributes               map[string]string
	grants                   []grant
}

// grant are the privileges of a user on what the engine restricts by.
type grant struct {
	on         string
	privileges string // one in each line
}

// user is a user with the password "secret of ID".
func user(id, name string, grants ...grant) object {
	return object{id: id, name: name, mode: "Apply", password: "secret-of-" + id, grants: grants}
}

func (o object) in(mode string) object { o.mode = mode; return o }

func (o object) adopting() object { o.adopt = true; return o }

func (o object) with(password string) object { o.password = password; return o }

// files are the object in the form that scripts read: a file for each field, with exactly its text.
func (o object) files() map[string]string {
	all := map[string]string{"id": o.id, "name": o.name, "mode": o.mode, "adopt": fmt.Sprint(o.adopt)}
	if o.mode != "Remove" {
		all["password"] = o.password
	}
	for key, value := range o.attributes {
		all["attributes/"+key] = value
	}
	for n, g := range o.grants {
		all[fmt.Sprintf("databases/%04d/name", n)] = g.on
		all[fmt.Sprintf("databases/%04d/privileges", n)] = g.privileges
	}
	return all
}

// folder has the users, and the databases with their names.
func folder(t *testing.T, users []object, databases ...string) string {
	t.Helper()
	root := t.TempDir()
	for n, o := range users {
		store(t, filepath.Join(root, "users", fmt.Sprintf("%04d", n)), o.files())
	}
	for n, name := range databases {
		files := map[string]string{"id": fmt.Sprintf("database-%d", n), "name": name, "owner": "", "mode": "Apply", "adopt": "false"}
		store(t, filepath.Join(root, "databases", fmt.Sprintf("%04d", n)), files)
	}
	return root
}

func store(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
