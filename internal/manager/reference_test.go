/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shown are defaults that the reference shows in another form.
var shown = map[string]string{
	"watch-namespace": "empty: all", "leader-election-namespace": "the operator's own", "metrics-cert-path": "self-signed",
	"transfer-image": "empty", "dns-servers": "empty",
	"kubeconfig": "in-cluster", "version": "",
	"zap-log-level": "info", "zap-encoder": "json", "zap-devel": "false", "zap-stacktrace-level": "error", "zap-time-encoding": "rfc3339nano",
}

func TestTheReferenceNamesEveryFlagWithItsDefaultAndNoOther(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([^`]+)` \\| ([^|]*) ?\\|").FindAllStringSubmatch(string(text), -1) {
		rows[row[1]] = strings.TrimSpace(row[2])
	}
	s, err := Parse(nil, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	s.flags.VisitAll(func(f *flag.Flag) {
		given, found := rows[f.Name]
		delete(rows, f.Name)
		want, otherwise := shown[f.Name]
		if !otherwise {
			want = f.DefValue
		}
		if period, err := time.ParseDuration(given); err == nil && period.String() == f.DefValue {
			given = f.DefValue
		}
		if !found || !strings.HasPrefix(given, want) {
			t.Errorf("docs/reference.md gives --%s the default %q, want %q", f.Name, given, want)
		}
	})
	for name := range rows {
		t.Errorf("docs/reference.md names --%s, which is no flag", name)
	}
}
