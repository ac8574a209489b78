package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

func (g Group) read(name string) (record Record, found bool, err error) {
	content, err := os.ReadFile(g.recordPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("read the record of %s: %w", name, err)
	}
	// A record that a crash cut short names nothing; the mark still finds the program.
	if json.Unmarshal(content, &record) != nil {
		return Record{}, false, nil
	}
	return record, true, nil
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
	record, found, err := g.read(name)
	if err != nil || !found || !record.Identity.alive() {
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
