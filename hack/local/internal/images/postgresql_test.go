package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheStopSignalIsAFastShutdown(t *testing.T) {
	if signal := postgreSQL.config.StopSignal; signal != "SIGINT" {
		t.Errorf("the stop signal is %q, want SIGINT", signal)
	}
}

func TestTheEntrypointRefusesWhatWouldNotBeASafeDatabase(t *testing.T) {
	volume := t.TempDir()
	foreign := filepath.Join(volume, "foreign")
	if err := os.MkdirAll(filepath.Join(foreign, "lost+found"), 0o755); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(volume, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fresh := "PGDATA=" + filepath.Join(volume, "pgdata")
	for want, env := range map[string][]string{
		"set POSTGRES_PASSWORD or":                                 {fresh},
		"are both set: keep one":                                   {fresh, "POSTGRES_PASSWORD=a", "POSTGRES_PASSWORD_FILE=" + empty},
		"POSTGRES_PASSWORD_FILE=" + empty + " is missing or empty": {fresh, "POSTGRES_PASSWORD_FILE=" + empty},
		"PGDATA=/proc is the volume itself":                        {"PGDATA=/proc", "POSTGRES_PASSWORD=a"},
		"PGDATA=" + foreign + " contains files":                    {"PGDATA=" + foreign + "/", "POSTGRES_PASSWORD=a"},
	} {
		script := exec.CommandContext(t.Context(), "sh", "postgresql/entrypoint.sh")
		script.Env = slices.Concat(env, []string{"PATH=" + os.Getenv("PATH")})
		output, err := script.CombinedOutput()
		if err == nil || !strings.HasPrefix(string(output), "entrypoint: ") || !strings.Contains(string(output), want) {
			t.Errorf("with %q: %v, and it says %q, want %q", env, err, output, want)
		}
	}
	assertHolds(t, volume, "empty", "foreign")
}

func TestTheEntrypointRunsAnyOtherCommandAsItIs(t *testing.T) {
	script := exec.CommandContext(t.Context(), "sh", "postgresql/entrypoint.sh", "printf", "%s|", "a b", "$c")
	script.Env = []string{"PATH=" + os.Getenv("PATH"), "PGDATA=/not/there"}
	output, err := script.CombinedOutput()
	if err != nil || string(output) != "a b|$c|" {
		t.Errorf("%v, and it prints %q", err, output)
	}
}

func assertHolds(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", folder, got, want)
	}
}
