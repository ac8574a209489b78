/*
SPDX-License-Identifier: Apache-2.0
*/

package text_test

import (
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

func TestColumnsLineUpWithColorsAndWithLettersOfSeveralBytes(t *testing.T) {
	rows := [][]text.Cell{text.Cells("POD", "STATE"), {{Text: "ä"}, {Text: "Ready", Tone: text.Good}}, {{Text: "b", Tone: text.Bad}, {Text: "x"}}}
	if got, want := text.Palette(false).Table("  ", rows), "  POD   STATE\n  ä     Ready\n  b     x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want := "POD   STATE\nä     \x1b[32mReady\x1b[0m\n\x1b[31mb\x1b[0m     x\n"
	if got := text.Palette(true).Table("", rows); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSizesAndAgesAreReadable(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 3 << 29: "1.5 GiB", 5 << 60: "5120.0 PiB"} {
		if got := text.Bytes(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	for want, since := range map[string]time.Time{"-": {}, "0s": now.Add(time.Second), "90s": now.Add(-90 * time.Second), "3d4h": now.Add(-76 * time.Hour)} {
		if got := text.Age(since, now); got != want {
			t.Errorf("%s: got %q, want %q", since, got, want)
		}
	}
	if got := text.Time(now.In(time.FixedZone("", 3600))) + text.Time(time.Time{}); got != "2026-11-21T14:00:00Z-" {
		t.Errorf("got %q", got)
	}
}
