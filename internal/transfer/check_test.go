/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// checked returns the flags for a shell script as the check.
func checked(script string) []string {
	return []string{"--check", "sh", "--check", "-c", "--check", script}
}

func text(f protocol.Facts) string {
	text, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestABackupRecordsTheFactsBeforeAndAfterTheStream(t *testing.T) {
	w := newWorld(t)
	rows := filepath.Join(t.TempDir(), "rows")
	script := `echo "{ \"rows\": $(cat ` + rows + ` 2>/dev/null || echo 0), \"when\": \"$DBC_CHECK\", \"given\": $(test -z "${DBC_FACTS:-}" && echo false || echo true) }"`
	o := w.must(w.backup("echo 7 > "+rows+"; echo data", checked(script)...))
	if got := fmt.Sprint(text(o.Check.Before), " ", text(o.Check.After), o.Check.Problem); got != `{"given":false,"rows":0,"when":"before"} {"given":true,"rows":7,"when":"after"}` {
		t.Error(got)
	}
	var manifest protocol.Manifest
	content, err := os.ReadFile(w.path(protocol.ManifestName))
	if err != nil || json.Unmarshal(content, &manifest) != nil || manifest.Streams[0].Check.After["rows"] == nil {
		t.Errorf("the manifest is %s, %v", content, err)
	}
	again := w.must(w.backup("exit 1", checked("exit 1")...))
	if again.Check == nil || text(again.Check.After) != text(o.Check.After) {
		t.Errorf("the next attempt has %+v", again.Check)
	}
}

func TestTheSecondCheckGetsTheFactsOfTheFirst(t *testing.T) {
	w := newWorld(t)
	o := w.must(w.backup("echo data", checked(`if [ "$DBC_CHECK" = before ]; then echo '{"a": 1}'; else echo "{\"same\": $(test "$DBC_FACTS" = '{"a":1}' && echo true)}"; fi`)...))
	if got := text(o.Check.After); got != `{"same":true}` {
		t.Error(got, o.Check.Problem)
	}
}

func TestAFailedCheckCompletesTheBackupWithoutFactsAndRecordsTheReason(t *testing.T) {
	second := `test $DBC_CHECK = after || { echo '{"a":1}'; exit; }; `
	for name, test := range map[string]struct{ script, before, after, problem string }{
		"it fails":                    {"echo locked >&2; exit 1", "null", "null", "exit code 1. The end of its stderr: locked"},
		"it fails transiently":        {"exit 11", "null", "null", "exit code 11"},
		"it fails the second time":    {second + "exit 1", `{"a":1}`, "null", "exit code 1"},
		"no JSON":                     {"echo up", "null", "null", `printed "up\n" instead of one JSON object`},
		"a list":                      {`echo '{"a":[1]}'`, "null", "null", `printed [1] as the fact a`},
		"null":                        {`echo '{"a":null}'`, "null", "null", `printed null as the fact a`},
		"a bad name":                  {`echo '{"a b":1}'`, "null", "null", `a fact named "a b"`},
		"too long":                    {`printf '{"a":"%01100d"}' 0`, "null", "null", "1 facts with 1108 bytes. The limit is 20 facts with 1024 bytes"},
		"far too long":                {`printf '{"a":"%09000d"}' 0`, "null", "null", "one JSON object"},
		"too many":                    {`echo '{"a":1'; for i in $(seq 20); do echo ",\"b$i\":1"; done; echo '}'`, "null", "null", "21 facts"},
		"it hangs":                    {"sleep 1000", "null", "null", "did not end within 1s"},
		"a message that does not fit": {`head -c 9000 /dev/zero | tr '\0' '\001' >&2; exit 1`, "null", "null", "…"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			idle := "1m"
			if strings.HasPrefix(test.script, "sleep") {
				idle = "1s"
			}
			o := w.must(w.backup("echo data", append(checked(test.script), "--idle-timeout", idle)...))
			if o.Check == nil {
				t.Fatal("there is no check")
			}
			if text(o.Check.Before) != test.before || text(o.Check.After) != test.after || !strings.Contains(o.Check.Problem, test.problem) {
				t.Errorf("the check is %s, %s, %q", o.Check.Before, o.Check.After, o.Check.Problem)
			}
		})
	}
}

func TestACheckThatDoesNotApplyHasNoFacts(t *testing.T) {
	w := newWorld(t)
	if o := w.must(w.backup("echo data", checked("exit 40")...)); o.Check != nil {
		t.Errorf("the result is %+v", o.Check)
	}
}

func TestTheMaximumOfFactsFitsIntoAResult(t *testing.T) {
	w := newWorld(t)
	script := `printf '{"a":"%0980d"}' 0; test "$DBC_CHECK" != copy || exit 0`
	o := w.must(w.backup("echo data", checked(script)...))
	if len(o.Check.Before) != 1 || len(o.Check.After) != 1 {
		t.Errorf("the result is %+v", o.Check)
	}
	o = w.must(w.run(append(append([]string{"probe"}, checked(script)...), "--", "sh", "-c", `printf '{"a":"%03000d"}' 0`)...))
	if len(o.Facts) != 1 || o.Output != nil {
		t.Errorf("the result is %+v", o)
	}
}

func TestACopyIsCheckedOnceItAnswers(t *testing.T) {
	w := newWorld(t)
	tries := filepath.Join(t.TempDir(), "tries")
	script := `echo x >> ` + tries + `; test $(wc -l < ` + tries + `) -gt 2 || exit 1; echo "{\"rows\": 7, \"of\": \"$DBC_CHECK\"}"`
	o := w.must(w.run(append(append([]string{"probe", "--interval", "1ms"}, checked(script)...), "--", "echo", `{"role": "primary"}`)...))
	if got := text(o.Facts) + string(o.Output); got != `{"of":"copy","rows":7}{"role":"primary"}` {
		t.Error(got)
	}
}

func TestACopyIsCheckedBeforeACommandOfTheUserThatMayWrite(t *testing.T) {
	w := newWorld(t)
	rows := filepath.Join(t.TempDir(), "rows")
	count := `echo "{\"rows\": $(cat ` + rows + ` 2>/dev/null | wc -l)}"`
	o := w.must(w.run(append(append([]string{"probe", "--by-exit-code"}, checked(count)...), "--", "sh", "-c", "echo mine >> "+rows)...))
	if got := text(o.Facts); got != `{"rows":0}` {
		t.Error(got)
	}
}

func TestACopyThatCannotBeCheckedFails(t *testing.T) {
	for name, test := range map[string]struct {
		script, timeout string
		code            protocol.ExitCode
		says            string
	}{
		"it fails":   {"echo 'invalid page' >&2; exit 1", "3s", protocol.ExitFailed, "The restored data cannot be checked. The action sh failed with exit code 1. The end of its stderr: invalid page"},
		"a refusal":  {"exit 30", "1m", protocol.ExitRefused, "exit code 30"},
		"no JSON":    {"echo up", "3s", protocol.ExitFailed, "one JSON object"},
		"a hung one": {"sleep 1000", "300ms", protocol.ExitFailed, "did not end within"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := w.run(append(append([]string{"probe", "--timeout", test.timeout, "--interval", "1s"}, checked(test.script)...), "--", "echo", "{}")...)
			w.fails(o, test.code, protocol.CheckFailed, test.says)
		})
	}
	w := newWorld(t)
	if o := w.must(w.run(append(append([]string{"probe"}, checked("exit 40")...), "--", "echo", "{}")...)); len(o.Facts) != 0 {
		t.Errorf("the facts are %s", o.Facts)
	}
}
