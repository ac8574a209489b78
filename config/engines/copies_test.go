/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBothEnginesOfPostgreSQLHaveTheSameScriptsForObjects(t *testing.T) {
	files, err := filepath.Glob("postgresql-*v1/scripts/objects*")
	if err != nil || len(files) == 0 || len(files)%2 != 0 {
		t.Fatal(files, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if other, found := texts[name]; found && other != string(text) {
			t.Errorf("%s differs", name)
		}
		texts[name] = string(text)
	}
	if len(texts)*2 != len(files) {
		t.Error("one engine lacks a script:", files)
	}
}
