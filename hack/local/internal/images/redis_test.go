package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The words of a start, as they reach the server.
func TestTheRedisEntrypointTakesWhatTheOfficialOneTakes(t *testing.T) {
	folder := t.TempDir()
	// A server that prints its arguments and its umask.
	fake := filepath.Join(folder, "redis-server")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nprintf '%s' \"$(umask)\"\nprintf '|%s' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	open, closed := filepath.Join(folder, "open.conf"), filepath.Join(folder, "closed.conf")
	for path, text := range map[string]string{open: "# protected-mode yes\nport 1\n", closed: "port 1\n Protected-Mode yes\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, c := range map[string]struct {
		arguments []string
		want      string
	}{
		"the server alone":                {[]string{"redis-server"}, "0077|--protected-mode|no"},
		"options":                         {[]string{"--save", "", "--port", "1"}, "0077|--save||--port|1|--protected-mode|no"},
		"a file":                          {[]string{open, "--port", "2"}, "0077|" + open + "|--port|2|--protected-mode|no"},
		"a file that protects":            {[]string{closed}, "0077|" + closed},
		"an option that protects":         {[]string{"redis-server", open, "--protected-mode", "yes"}, "0077|" + open + "|--protected-mode|yes"},
		"a question that must come first": {[]string{"redis-server", "--version"}, "0077|--version|--protected-mode|no"},
		"another command":                 {[]string{"printf", "%s|", "a b", "$c"}, "a b|$c|"},
	} {
		script := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `umask 0022; exec sh redis/entrypoint.sh "$@"`, "sh"}, c.arguments...)...)
		script.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH")}
		if output, err := script.CombinedOutput(); err != nil || string(output) != c.want {
			t.Errorf("%s: %v, and the server gets %q, want %q", what, err, output, c.want)
		}
	}
}
