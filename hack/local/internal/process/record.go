package process

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// Record is what is kept of a started program.
type Record struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Identity Identity `json:"identity"`
	Path     string   `json:"path"`
	Args     []string `json:"args"`
}

// runs says whether the recorded program is this command, with these arguments.
func (r Record) runs(command Command) bool {
	return r.Path == command.Path && slices.Equal(r.Args, command.Args)
}

// read returns nothing for a record that a crash cut short, too: the mark still finds the program.
func (g Group) read(name string) (record Record, found bool) {
	content, err := os.ReadFile(g.recordPath(name))
	if err != nil {
		return Record{}, false
	}
	return record, json.Unmarshal(content, &record) == nil
}

func (g Group) write(record Record) error {
	content, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("write the record of %s: %w", record.Name, err)
	}
	return files.Write(g.recordPath(record.Name), content, 0o644)
}

// Running returns the record of a program that runs now.
func (g Group) Running(name string) (Record, bool) {
	record, found := g.read(name)
	if !found || !record.Identity.alive() {
		return Record{}, false
	}
	return record, true
}

func (g Group) prepare() error {
	for _, folder := range []string{"run", "logs"} {
		if err := os.MkdirAll(filepath.Join(g.Dir, folder), 0o755); err != nil {
			return fmt.Errorf("make the folder for %s: %w", folder, err)
		}
	}
	return nil
}

// Known says whether a program of this name was ever started here.
func (g Group) Known(name string) bool {
	_, err := os.Stat(g.recordPath(name))
	return err == nil
}
