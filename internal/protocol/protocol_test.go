/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ended = began.Add(time.Minute)
	facts = Facts{"rows": json.RawMessage("7")}
)

func TestAResultIsReadAsItWasWritten(t *testing.T) {
	whole := Result{
		Bytes: 1, TotalBytes: 2, StoredBytes: 3, SHA256: "ab", Started: began, Completed: ended, Output: json.RawMessage(`{"role":"primary"}`),
		Check: &Check{Before: facts, After: facts, Problem: "it failed"}, Facts: facts, Reason: ActionFailed, Message: "The action failed.",
	}
	for text, result := range map[string]Result{
		`{"reason":"","message":""}`: {},
		`{"bytes":1,"totalBytes":2,"storedBytes":3,"sha256":"ab","started":"2026-01-02T03:04:05Z","completed":"2026-01-02T03:05:05Z",` +
			`"output":{"role":"primary"},"check":{"before":{"rows":7},"after":{"rows":7},"problem":"it failed"},"facts":{"rows":7},` +
			`"reason":"ActionFailed","message":"The action failed."}`: whole,
	} {
		encoded, err := result.Encode()
		if err != nil || string(encoded) != text {
			t.Errorf("got  %s %v\nwant %s", encoded, err, text)
		}
		decoded, err := DecodeResult(text)
		if diff := difference(&result, decoded); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	if _, err := DecodeResult("Killed"); err == nil {
		t.Error("a message of the kubelet was decoded as a result")
	}
}

func TestAResultFitsIntoATerminationMessage(t *testing.T) {
	for _, message := range []string{"", "short", strings.Repeat("long ", 5000), strings.Repeat("<\x00\"ü", 3000)} {
		encoded, err := Result{Bytes: 1, Started: time.Now(), Reason: ActionFailed, Message: message}.Encode()
		if err != nil || len(encoded) > MaxResultBytes {
			t.Fatalf("%d bytes, %v", len(encoded), err)
		}
		decoded, err := DecodeResult(string(encoded))
		if err != nil || decoded.Reason != ActionFailed || decoded.Bytes != 1 {
			t.Errorf("%s, %v", encoded, err)
		}
		if len(message) < 10 && decoded.Message != message {
			t.Errorf("%q became %q", message, decoded.Message)
		}
	}
}

func TestProgressIsReadAsItWasLogged(t *testing.T) {
	for _, want := range []Progress{{}, {Bytes: 10, StoredBytes: 4, BytesPerSecond: 2}, {Bytes: 10, StoredBytes: 4, TotalBytes: 100, BytesPerSecond: 1e12, PeakMemoryBytes: 9}} {
		line := logged(want)
		if got, ok := ParseProgress("half a line\n" + line + "output of the action\n"); !ok || got != want {
			t.Errorf("%s became %+v", line, got)
		}
	}
}

func TestProgressIsTheLastInALog(t *testing.T) {
	const line = `{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"progress","bytes":10,"storedBytes":4,"totalBytes":100,"bytesPerSecond":2.5}` + "\n"
	want := Progress{Bytes: 10, StoredBytes: 4, TotalBytes: 100, BytesPerSecond: 2.5}
	cases := map[string]struct {
		log  string
		want Progress
		ok   bool
	}{
		"nothing":             {"", Progress{}, false},
		"output of an action": {"dumping table a\n{\"msg\":\"other\",\"bytes\":3}\n", Progress{}, false},
		"the last of several": {strings.Replace(line, "10", "5", 1) + line + "done\n", want, true},
		"after half a line":   {`"bytes":7}` + "\n" + line, want, true},
		"an incomplete line":  {line + `{"msg":"progress","byt`, want, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, ok := ParseProgress(c.log); got != c.want || ok != c.ok {
				t.Errorf("got %+v %v", got, ok)
			}
		})
	}
}

func TestAnAnswerIsTheLastInALog(t *testing.T) {
	first, last := logged(NoAnswer("connection refused")), logged(NoAnswer("relation item does not exist"))
	for name, c := range map[string]struct{ log, want string }{
		"nothing":             {"", ""},
		"progress":            {`{"msg":"progress","bytes":1}`, ""},
		"the last of several": {first + last + "output of the action\n", "relation item does not exist"},
		"a long one":          {`{"msg":"no answer","said":"` + strings.Repeat("x", 600) + `"}`, strings.Repeat("x", 500) + " …"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ParseAnswer(c.log); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestExitCodesDecideOnAnotherAttempt(t *testing.T) {
	if !slices.Equal(Final(), []ExitCode{30, 40}) || !slices.Equal(Uncounted(), []ExitCode{11}) {
		t.Errorf("final are %v, uncounted are %v", Final(), Uncounted())
	}
	for code, want := range map[ExitCode]bool{0: false, 1: false, 11: false, 20: false, 30: true, 40: true, 137: false} {
		if code.Final() != want {
			t.Errorf("%d is final: %t", code, !want)
		}
	}
}

func TestTheExitCodeOfAReason(t *testing.T) {
	for reason, want := range map[Reason]ExitCode{
		Interrupted: 11, DestinationMissing: 20, IDMismatch: 30, EmptyBackup: 1, "": 1, "OfALaterVersion": 1,
	} {
		if got := reason.ExitCode(40); got != want {
			t.Errorf("%s: %d", reason, got)
		}
	}
	for action, want := range map[ExitCode]ExitCode{-1: 1, 0: 1, 1: 1, 3: 1, 11: 11, 20: 20, 30: 30, 40: 40, 137: 1} {
		if got := ActionFailed.ExitCode(action); got != want {
			t.Errorf("an action that ends with %d: %d", action, got)
		}
	}
}

func TestAManifestIsReadAsItWasWritten(t *testing.T) {
	stream := Stream{
		Member: 1, Attempt: "0a1b2c3d", Bytes: 9, StoredBytes: 7, SHA256: "ab", Recipient: "age1x", Started: began, Completed: ended,
		Check: &Check{Before: facts, Problem: "it failed"},
	}
	for number, bytes := range []int64{4, 3} {
		stream.Pieces = append(stream.Pieces, Piece{Name: stream.PieceName(number), Bytes: bytes, SHA256: "cd"})
	}
	want := &Manifest{
		ID: "uid-1", About: About{AboutCluster: "orders"}, Members: 2, Started: began, Completed: ended, Streams: []Stream{stream},
	}
	again := func(file string) {
		want.Format = FormatOf(want.Streams)
		encoded, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, file, encoded)
		got, err := DecodeManifest(encoded)
		if diff := difference(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	again("testdata/manifest-2.json")
	of := stream
	of.NewBytes, of.Index, of.Check = 9, &Piece{stream.IndexName(), 48, "ef"}, nil
	all := &want.Streams[0]
	all.NewBytes, all.Index, all.Order = 5, &Piece{stream.IndexName(), 68, "ef"}, &Piece{stream.OrderName(), 11, "01"}
	all.Sources = []Source{{Number: 1, Folder: "monday-0a1b2c3d", UsedBytes: 4, Stream: of}}
	again("testdata/manifest-3.json")
}

// The first format has no attempts. No current version writes it.
func TestAManifestOfTheFirstFormatIsRead(t *testing.T) {
	content, err := os.ReadFile("testdata/manifest-1.json")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := DecodeManifest(content)
	if err != nil || manifest.Format != 1 || manifest.Streams[0].Pieces[0].Name != "member-0/00000.zst" {
		t.Errorf("%+v, %v", manifest, err)
	}
}

func TestAnInvalidManifestIsRejected(t *testing.T) {
	const whole = `{"format":2,"id":"1","members":1,"streams":[{"member":0,"attempt":"0a1b2c3d","storedBytes":5,"pieces":[{"name":"member-0/00000-0a1b2c3d.zst","bytes":5}]}]}`
	if _, err := DecodeManifest([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string][2]string{
		"cannot be read: ":                    {"}]}]}", ""},
		"its format is 4, but this vers":      {`"format":2`, `"format":4`},
		"its format is 0, but this vers":      {`"format":2`, `"format":0`},
		"it has no id":                        {`"id":"1"`, `"id":""`},
		"it has no members":                   {`"members":1`, `"members":0`},
		`the invalid name "../x"`:             {`"attempt":"0a1b2c3d"`, `"attempt":"../x"`},
		"piece 0 of member 0 has the na":      {"00000-", "../../00000-"},
		"have 5 bytes in total instead of 6":  {`"storedBytes":5`, `"storedBytes":6`},
		"the 0 pieces of member 0 have 0 byt": {`[{"name":"member-0/00000-0a1b2c3d.zst","bytes":5}]`, `[]`},
	} {
		if _, err := DecodeManifest([]byte(strings.Replace(whole, change[0], change[1], 1))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestAManifestWhoseSourcesCannotBeReadIsRejected(t *testing.T) {
	const source = `{"number":1,"folder":"monday","usedBytes":4,"stream":{"member":0,"attempt":"0a1b2c3d","storedBytes":5,"pieces":[{"name":"member-0/00000-0a1b2c3d.zst","bytes":5}],"index":{"name":"member-0/index-0a1b2c3d.bin"}}}`
	const whole = `{"format":3,"id":"1","members":1,"streams":[{"member":0,"attempt":"1a1b2c3d","storedBytes":0,"pieces":[],"index":{"name":"member-0/index-1a1b2c3d.bin"},"order":{"name":"member-0/order-1a1b2c3d.bin"},"sources":[` + source + `]}]}`
	if _, err := DecodeManifest([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string][2]string{
		`a source in the folder "../x"`:       {`"monday"`, `"../x"`},
		`a source in the folder ""`:           {`"monday"`, `""`},
		"has sources, but no order":           {`"order":{"name":"member-0/order-1a1b2c3d.bin"},`, ""},
		"in monday has no index":              {`,"index":{"name":"member-0/index-0a1b2c3d.bin"}`, ""},
		`the order of member 0 has the name`:  {"member-0/order-1a1b2c3d", "../order-1a1b2c3d"},
		`the index of member 0 has the name`:  {"member-0/index-1a1b2c3d", "member-0/index-0a1b2c3d"},
		"in its source monday, the 1 pieces":  {`"storedBytes":5`, `"storedBytes":6`},
		"the source 9 of member 0 is not one": {`"number":1`, `"number":9`},
	} {
		if _, err := DecodeManifest([]byte(strings.Replace(whole, change[0], change[1], 1))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestOwnedNamesOfABackup(t *testing.T) {
	of := Stream{Member: 12, Attempt: "0a1b2c3d", Recipient: "age1x"}
	for name, want := range map[string]bool{
		ManifestName: true, MemberManifest(3): true, of.PieceName(7): true, of.PieceName(123456) + ".1a2b.tmp": true,
		(&Stream{}).PieceName(0): true, ManifestName + ".1a2b.tmp": true,
		"notes.txt": false, "other/manifest.json": false, "member-0/other": false, "member-x/manifest.json": false, "member-0/0.zst": false,
	} {
		if IsOwned(name) != want {
			t.Errorf("%s is owned: %t", name, !want)
		}
	}
	if !IsMemberManifest("orders/"+MemberManifest(3)) || IsMemberManifest("orders/"+ManifestName) {
		t.Error("the manifest of a member was accepted as the manifest of the backup")
	}
}

func TestAMarkIsReadAsItWasWritten(t *testing.T) {
	for text, want := range map[string]Mark{
		`{"id":"1","state":"running"}`:                                            {ID: "1", State: MarkRunning},
		`{"id":"1","state":"done","result":{"bytes":5,"reason":"","message":""}}`: {ID: "1", State: MarkDone, Result: Result{Bytes: 5}},
	} {
		encoded, err := want.Encode()
		if err != nil || string(encoded) != text {
			t.Errorf("%s, %v", encoded, err)
		}
		if got, err := DecodeMark(encoded); err != nil || difference(*got, want) != "" {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// logged returns an entry as transfer logs it.
func logged(entry Entry) string {
	var line strings.Builder
	message, attributes := entry.Log()
	slog.New(slog.NewJSONHandler(&line, nil)).Info(message, attributes...)
	return line.String()
}

// difference returns "" for equal values.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("want %+v\ngot  %+v", want, got)
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if want, err := os.ReadFile(file); err != nil || string(want) != string(got) { //nolint:gosec // a golden file of this package
		t.Errorf("%v; got\n%s", err, got)
	}
}

// Kubernetes cuts a longer one off, and nothing of it can be decoded.
func TestTheLongestRecoverableFitsAndNamesTheNewestUnusableBackups(t *testing.T) {
	const uid = "6f1e0c52-1111-4222-8333-0a1b2c3d4e"
	at := time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)
	seen := &Recoverable{Based: true, Current: true, StoredBytes: 1 << 50, Removed: 1 << 30, Left: strings.Repeat("l", 512), Unread: strings.Repeat("u", 512)}
	for range MaxSpans {
		seen.Spans = append(seen.Spans, Span{at, at})
	}
	for i := range MaxNeeded {
		seen.Needed = append(seen.Needed, fmt.Sprintf("%s%02d", uid, i))
	}
	for i := range MaxUnusable {
		seen.Unusable = append(seen.Unusable, fmt.Sprintf("%s%02d", uid, i))
	}
	encoded, err := Result{Started: at, Completed: at, Recoverable: seen}.Encode()
	if err != nil || len(encoded) > MaxResultBytes {
		t.Fatalf("%d bytes, %v", len(encoded), err)
	}
	result, err := DecodeResult(string(encoded))
	if err != nil {
		t.Fatal(err)
	}
	got := result.Recoverable
	if len(got.Needed) != MaxNeeded || len(got.Spans) != MaxSpans || len(got.Unusable) == MaxUnusable || len(seen.Unusable) != MaxUnusable ||
		!slices.Equal(got.Unusable, seen.Unusable[:len(got.Unusable)]) {
		t.Errorf("%d bytes: %+v", len(encoded), got)
	}
	t.Logf("%d unusable backups in %d bytes", len(got.Unusable), len(encoded))
}
