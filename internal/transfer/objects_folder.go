/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// folderVariable names the folder with the declared objects, for scripts that cannot read JSON safely.
const folderVariable = "DBC_OBJECTS_DIR"

// spread writes the declared objects into a folder: a file for each field, with exactly its text.
func spread(declared protocol.DeclaredObjects, folder string) error {
	var failed error
	for i, d := range declared.Databases {
		fields := fieldsOf(d.DeclaredObject)
		fields["owner"] = d.Owner
		failed = errors.Join(failed, writeFields(filepath.Join(folder, "databases", number(i)), fields))
	}
	for i, u := range declared.Users {
		fields := fieldsOf(u.DeclaredObject)
		if u.PasswordFile != "" {
			content, err := os.ReadFile(u.PasswordFile)
			fields["password"], failed = string(content), errors.Join(failed, err)
		}
		for n, g := range u.Databases {
			fields["databases/"+number(n)+"/name"] = g.Name
			fields["databases/"+number(n)+"/privileges"] = strings.Join(g.Privileges, "\n")
		}
		failed = errors.Join(failed, writeFields(filepath.Join(folder, "users", number(i)), fields))
	}
	return failed
}

// number is the name of the folder of an object. The names have the order of the document.
func number(i int) string { return fmt.Sprintf("%04d", i) }

func fieldsOf(d protocol.DeclaredObject) map[string]string {
	fields := map[string]string{"id": d.ID, "name": d.Name, "mode": string(d.Mode), "adopt": strconv.FormatBool(d.Adopt)}
	for key, value := range d.Attributes {
		fields["attributes/"+key] = value
	}
	return fields
}

func writeFields(folder string, fields map[string]string) error {
	var failed error
	for name, text := range fields {
		file := filepath.Join(folder, name)
		failed = errors.Join(failed, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600))
	}
	return failed
}
