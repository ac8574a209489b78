/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func (w *world) remove() outcome {
	w.t.Helper()
	return w.run("delete", "--at", "file:///shop/orders", "--root", w.root, "--id", "uid-1")
}

func TestADeletedBackupLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.must(w.remove())
	w.must(w.backup("cat " + w.noise()))
	w.must(w.remove())
	if _, err := os.Stat(w.path("")); !os.IsNotExist(err) {
		t.Errorf("left are %v, %v", w.stored(), err)
	}
	w.must(w.remove())
}

func TestTheRestOfAFailedBackupIsDeleted(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("cat "+w.noise(), "--complete=false"))
	w.worked(os.Remove(w.path("member-0/manifest.json")))
	w.must(w.remove())
	w.nothing()
}

func TestADeletionRemovesOnlyObjectsOfTheBackup(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	w.worked(os.MkdirAll(w.path("other/member-0"), 0o755))
	for _, name := range []string{"notes.txt", "other/manifest.json", "other/member-0/00000.zst"} {
		w.worked(os.WriteFile(w.path(name), []byte("keep"), 0o600))
	}
	w.must(w.remove())
	want := []string{"shop/orders/notes.txt", "shop/orders/other/manifest.json", "shop/orders/other/member-0/00000.zst"}
	if left := w.stored(); !slices.Equal(left, want) {
		t.Errorf("left are %v", left)
	}
}

func TestADeletionNeedsAReadableManifest(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	w.change(protocol.ManifestName, func([]byte) []byte { return []byte("{") })
	w.fails(w.remove(), protocol.ExitRefused, protocol.ManifestInvalid, "shop/orders/manifest.json")
	if left := w.stored(); len(left) != 3 {
		t.Errorf("left are %v", left)
	}
}

func TestListShowsCompleteBackupsNewestFirst(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.must(w.run("backup", "--to", "file:///shop/orders/"+name, "--root", w.root, "--id", name, "--complete",
			"--about", "namespace=shop", "--about", "cluster=orders", "--about", "engine=ledger-v1", "--", "echo", "rows"))
	}
	w.must(w.run("backup", "--to", "file:///shop/orders/cut", "--root", w.root, "--id", "cut", "--", "echo", "rows"))
	w.worked(os.WriteFile(w.path("b/manifest.json"), []byte("{"), 0o600))

	o := w.must(w.run("list", "--at", "file:///", "--root", w.root))
	rows := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if len(rows) != 3 || !strings.HasPrefix(rows[0], "LOCATION") || !strings.HasPrefix(rows[1], "file:///shop/orders/c ") || !strings.HasPrefix(rows[2], "file:///shop/orders/a ") {
		t.Errorf("printed was\n%s", o.stdout)
	}
	for _, cell := range []string{"shop/orders ", "ledger-v1", "  5 B  "} {
		if !strings.Contains(rows[1], cell) {
			t.Errorf("%q lacks %q", rows[1], cell)
		}
	}
	if !strings.Contains(o.stderr, "b/manifest.json cannot be read") {
		t.Errorf("there is no warning about b: %s", o.stderr)
	}

	var listed []Listed
	o = w.must(w.run("list", "--at", "file:///shop", "--root", w.root, "--json"))
	if err := json.Unmarshal([]byte(o.stdout), &listed); err != nil || len(listed) != 2 || listed[0].ID != "c" || listed[0].Location != "file:///shop/orders/c" {
		t.Errorf("printed was %s, %v", o.stdout, err)
	}
}

func TestAnUnreadableManifestHidesNoOtherBackup(t *testing.T) {
	w := newWorld(t)
	gone := func(name string) {
		w.must(w.run("backup", "--to", "file:///shop/orders/"+name, "--root", w.root, "--id", name, "--complete", "--", "echo", "rows"))
		file := filepath.Join(w.root, "shop/orders", name, protocol.ManifestName)
		if err := errors.Join(os.Remove(file), os.Symlink("archived", file)); err != nil {
			t.Fatal(err)
		}
	}
	gone("a")
	w.fails(w.run("list", "--at", "file:///shop", "--root", w.root, "--json"), protocol.ExitPrecondition, protocol.DestinationMissing, "a/manifest.json")
	w.must(w.run("backup", "--to", "file:///shop/orders/b", "--root", w.root, "--id", "b", "--complete", "--", "echo", "rows"))
	o := w.must(w.run("list", "--at", "file:///shop", "--root", w.root, "--json"))
	if !strings.Contains(o.stdout, "file:///shop/orders/b") || !strings.Contains(o.stderr, "a/manifest.json") {
		t.Errorf("printed was %s, logged was %s", o.stdout, o.stderr)
	}
}

func TestListOfNothingIsAnEmptyList(t *testing.T) {
	w := newWorld(t)
	if o := w.must(w.run("list", "--at", "file:///", "--root", w.root, "--json")); o.stdout != "[]\n" {
		t.Errorf("printed was %q", o.stdout)
	}
	if o := w.must(w.run("list", "--at", "file:///nowhere", "--root", w.root)); !strings.Contains(o.stderr, "no complete backup below file:///nowhere") {
		t.Errorf("logged was %q", o.stderr)
	}
}

func TestAProbeRetriesUntilTheDatabaseAnswers(t *testing.T) {
	w := newWorld(t)
	tries := filepath.Join(t.TempDir(), "tries")
	script := `echo x >> ` + tries + `; case $(wc -l < ` + tries + `) in 1) exit 1;; 2) echo starting;; *) echo '{ "writable": true }';; esac`
	o := w.must(w.run("probe", "--timeout", "1m", "--interval", "1ms", "--", "sh", "-c", script))
	if string(o.Output) != `{"writable":true}` {
		t.Errorf("the output is %s", o.Output)
	}
	if content, err := os.ReadFile(tries); err != nil || len(content) != 6 {
		t.Errorf("attempts were %q, %v", content, err)
	}
}

func TestInvalidAnswersOfAProbe(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		code   protocol.ExitCode
		reason protocol.Reason
		says   string
	}{
		"no JSON":        {"echo up", protocol.ExitFailed, protocol.ProbeFailed, `It printed "up\n"`},
		"nothing":        {"true", protocol.ExitFailed, protocol.ProbeFailed, "instead of one JSON object"},
		"two objects":    {"echo '{}{}'", protocol.ExitFailed, protocol.ProbeFailed, "instead of one JSON object"},
		"no object":      {"echo null", protocol.ExitFailed, protocol.ProbeFailed, "instead of one JSON object"},
		"too much":       {`printf '{"a":"%04000d"}' 0`, protocol.ExitFailed, protocol.ProbeFailed, "more than 3072 bytes"},
		"a failure":      {"echo refused >&2; exit 1", protocol.ExitFailed, protocol.ProbeFailed, "exit code 1. The end of its stderr: refused"},
		"a hung probe":   {"sleep 1000", protocol.ExitFailed, protocol.ProbeFailed, "within 300ms"},
		"a refusal":      {"exit 30", protocol.ExitRefused, protocol.ActionFailed, "exit code 30"},
		"not applicable": {"exit 40", protocol.ExitNotApplicable, protocol.ActionFailed, "exit code 40"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := w.run("probe", "--timeout", "300ms", "--interval", "10ms", "--", "sh", "-c", test.script)
			w.fails(o, test.code, test.reason, test.says)
		})
	}
}

func TestAProbeLogsWhyItHasNotBeenAnsweredYet(t *testing.T) {
	w := newWorld(t)
	o := w.run("probe", "--timeout", "300ms", "--interval", "10ms", "--", "sh", "-c", "echo no such table >&2; exit 1")
	if !strings.Contains(o.stderr, `"msg":"no answer","said":"The action sh failed with exit code 1. The end of its stderr: no such table"`) {
		t.Error(o.stderr)
	}
}

func TestTheExitCodeOfAUsersCommandIsTheAnswerWithoutLimitsOfTimeAndOutput(t *testing.T) {
	for script, want := range map[string]string{
		"echo 42; echo":          `"42"`,
		"true":                   `""`,
		`echo '{ "rows": 42 }'`:  `{"rows":42}`,
		`echo '{"a":1}{"b":2}'`:  `"{\"a\":1}{\"b\":2}"`,
		`printf '%04000d' 7`:     `"` + strings.Repeat("0", maxSaidBytes) + `"`,
		`head -c 4000 /dev/zero`: `"` + strings.Repeat(`\u0000`, maxSaidBytes) + `"`,
		`[ -e tried ] || { touch tried; exit 1; }; echo rows`: `"rows"`,
	} {
		w := newWorld(t)
		t.Chdir(t.TempDir())
		o := w.must(w.run("probe", "--by-exit-code", "--timeout", "1m", "--interval", "1ms", "--", "sh", "-c", script))
		if string(o.Output) != want {
			t.Errorf("%s: the output is %s", script, o.Output)
		}
	}
	w := newWorld(t)
	w.fails(w.run("probe", "--by-exit-code", "--timeout", "300ms", "--interval", "10ms", "--", "sh", "-c", "echo no rows >&2; exit 1"),
		protocol.ExitFailed, protocol.ProbeFailed, "no rows")
}

func TestOnlyAnEnginesProbeIsCutShort(t *testing.T) {
	if (&probeRun{Probe: &protocol.Probe{Timeout: time.Hour}}).oneTry() != probeTry || (&probeRun{Probe: &protocol.Probe{Timeout: time.Hour, ByExitCode: true}}).oneTry() != time.Hour {
		t.Error("a long query was cut off")
	}
}

func TestInstallPutsARunningProgramInPlace(t *testing.T) {
	w, folder := newWorld(t), t.TempDir()
	for range 2 { // a Job may start the container again
		var stderr bytes.Buffer
		if code := Run(t.Context(), []string{"install", folder}, &stderr, &stderr); code != 0 {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o755 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "transfer"), "list", "--at", "file:///", "--root", w.root, "--json", "--result", filepath.Join(folder, "result"))
	cmd.Env = append(os.Environ(), "BE_TRANSFER=1")
	if output, err := cmd.Output(); err != nil || string(output) != "[]\n" {
		t.Errorf("printed was %q, %v", output, err)
	}
}

func TestErrorsNameInvalidFlags(t *testing.T) {
	for says, arguments := range map[string][]string{
		`a command is required`:           {},
		`consist only of`:                 {"list", "--at", "s3://user:hidden@a/b"},
		`invalid flags of transfer probe`: {"probe"},
	} {
		var stdout, stderr bytes.Buffer
		if code := Run(t.Context(), arguments, &stdout, &stderr); code != protocol.ExitFailed {
			t.Errorf("%v: exit code %d", arguments, code)
		}
		var line struct{ Msg, Reason string }
		if err := json.Unmarshal(stderr.Bytes(), &line); err != nil || !strings.Contains(line.Msg, says) || line.Reason != string(protocol.Failed) {
			t.Errorf("%v: printed was %s", arguments, &stderr)
		}
		if strings.Contains(stderr.String(), "hidden") {
			t.Errorf("a password was printed: %s", &stderr)
		}
	}
}

func TestHelpExitsWithZero(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := Run(t.Context(), []string{"backup", "--help"}, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "-piece-size size") {
		t.Errorf("exit code %d, printed was %s%s", code, &stdout, &stderr)
	}
}

func TestTheOutputOfAnActionIsLoggedByLine(t *testing.T) {
	w := newWorld(t)
	o := w.fails(w.backup(`for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $i >&2; done; head -c 100000 /dev/zero | tr '\0' x >&2; exit 1`),
		protocol.ExitFailed, protocol.ActionFailed, "line 12 | xxx")
	if strings.Contains(o.Message, "line 3 ") || len(o.Message) > 2000 {
		t.Errorf("the message is %q", o.Message)
	}
	if !strings.Contains(o.stderr, `"line":"line 1"`) {
		t.Errorf("logged was %s", o.stderr)
	}
}

func TestCredentialsAreNeverLogged(t *testing.T) {
	r := &run{secrets: []string{"AKIA1", "hush", ""}}
	if said := r.withoutSecrets("the key AKIA1 with hush is wrong"); said != "the key *** with *** is wrong" {
		t.Errorf("logged was %q", said)
	}
}
