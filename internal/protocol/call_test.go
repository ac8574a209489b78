/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// calls has one call of each kind.
func calls() []Call {
	return []Call{&Backup{}, &Restore{}, &Initialize{}, &Delete{}, &List{}, &Probe{}, &Install{}, &Archive{}, &Fetch{}, &Recover{}, &Lag{}, &Window{}, &Search{}}
}

// awkward are words that a flag parser could mistake for something else.
var awkward = []string{"word", "two words", "-c", "--", "--complete", "a=b", "=", "ü\n'\"", "$(x)", "100%"}

// fill sets every field to a valid value. It leaves some optional fields empty.
func fill(random *rand.Rand, value reflect.Value) {
	some := func() string { return awkward[random.IntN(len(awkward))] }
	for i := range value.NumField() {
		field, name := value.Field(i), value.Type().Field(i).Name
		switch into := field.Addr().Interface().(type) {
		case *string:
			*into = some()
			switch name {
			case "To", "From", "At", "Of":
				*into = "file:///shop/" + fmt.Sprint(random.IntN(9))
			case "Through", "Reuse": // in place of From, and only with the right To
				*into = ""
			case "Until", "Since":
				*into = "2026-11-28T03:00:00.5+01:00"
			case "Point": // in place of Until, which is before it
				if until := value.FieldByName("Until"); random.IntN(2) == 1 {
					until.SetString("")
				} else {
					*into = ""
				}
			case "Endpoint":
				*into = "https://s3.example.test"
			}
		case *bool:
			*into = random.IntN(2) == 1
		case *int:
			*into = map[string]int{"Member": random.IntN(3), "Members": 3 + random.IntN(3),
				"Level": random.IntN(MaxCompressionLevel + 1), "Threads": random.IntN(MaxCompressionThreads + 1)}[name]
		case *int64:
			*into = 1 + random.Int64N(maxPieceBytes)
		case *time.Duration:
			*into = time.Duration(1+random.Int64N(1000)) * []time.Duration{1, time.Second, time.Hour}[random.IntN(3)]
		case *[]string:
			*into = []string{some(), some()}
		case *About:
			*into = About{AboutImage: some(), AboutCluster: "", "key " + strings.ReplaceAll(some(), "=", ""): some()}
		default:
			fill(random, field)
		}
	}
}

func TestParseReadsTheArgumentsOfArgs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		for _, call := range calls() {
			fill(random, reflect.ValueOf(call).Elem())
			if store := storeOf(call); store != nil && store.WorkloadIdentity {
				store.Credentials = ""
			}
			got, err := Parse(Args(call))
			if diff := difference(call, got); err != nil || diff != "" {
				t.Fatalf("%q: %v\n%s", Args(call), err, diff)
			}
		}
	}
}

func storeOf(call Call) *Store {
	field := reflect.ValueOf(call).Elem().FieldByName("Store")
	if !field.IsValid() {
		return nil
	}
	return field.Addr().Interface().(*Store)
}

// A field without a flag would be lost. The operator could not set a flag without a field.
func TestEveryFieldHasItsOwnFlag(t *testing.T) {
	for _, call := range calls() {
		fields := count(reflect.TypeOf(call).Elem())
		if commandOf(call) != nil {
			fields-- // the command comes after the flags
		}
		if _, is := call.(*Install); is {
			fields-- // its folder is an argument
		}
		if options := options(call); len(options) != fields {
			t.Errorf("%T has %d fields and %d flags", call, fields, len(options))
		}
	}
}

func count(of reflect.Type) (fields int) {
	for field := range of.Fields() {
		if field.Anonymous {
			fields += count(field.Type)
		} else {
			fields++
		}
	}
	return fields
}

func TestTheArgumentsOfEachCallKeepTheirNamesAndOrder(t *testing.T) {
	store := Store{
		Endpoint: "https://s3.example.test", Region: "here", SSE: "aws:kms", KMSKeyID: "alias/a", Credentials: "/keys", Encryption: "/age", Root: "/root",
	}
	const flags = " --endpoint https://s3.example.test --region here --server-side-encryption aws:kms --kms-key-id alias/a --credentials /keys --encryption /age --root /root"
	for want, call := range map[string]Call{
		"backup --to s3://a/b --id 1 --member 0 --members 2 --about cluster=orders --about namespace=shop --about image= --about z=1 --check=sh --check=-c --index --reuse s3://a/c --complete" +
			flags + " --piece-size 65536 --compression-level 9 --compression-threads 2 --idle-timeout 60s --progress-interval 50ms --result /out -- pg_dump --all": &Backup{
			To: "s3://a/b", ID: "1", Part: Part{0, 2}, About: About{"z": "1", AboutImage: "", AboutNamespace: "shop", AboutCluster: "orders"},
			Check: []string{"sh", "-c"}, Index: true, Reuse: "s3://a/c", Complete: true, Store: store, PieceSize: 64 << 10, Compression: Compression{9, 2}, Timing: Timing{time.Minute, 50 * time.Millisecond},
			Report: Report{"/out"}, Command: []string{"pg_dump", "--all"},
		},
		"restore --from s3://a/b --id 1 --into /data --member 1 --members 2" + flags + " -- tar x": &Restore{
			From: "s3://a/b", ID: "1", Into: "/data", Part: Part{1, 2}, Store: store, Command: []string{"tar", "x"},
		},
		"delete --at s3://a/b --id 1 --workload-identity": &Delete{At: "s3://a/b", ID: "1", Store: Store{WorkloadIdentity: true}},
		"list --at s3://a" + flags + " --json":            &List{At: "s3://a", Store: store, JSON: true},
		"probe --timeout 10800s --by-exit-code --check=sh --interval 1500ms -- psql": &Probe{
			Timeout: 3 * time.Hour, ByExitCode: true, Check: []string{"sh"}, Interval: 1500 * time.Millisecond, Command: []string{"psql"},
		},
		"install /dbc/bin": &Install{"/dbc/bin"},
	} {
		want = strings.Replace(want, "1500ms", "1.5s", 1)
		if got := strings.Join(Args(call), " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestMissingFlagsHaveTheirDefaults(t *testing.T) {
	got, err := Parse(Args(&Backup{To: "s3://a/b", ID: "1", Command: []string{"true"}}))
	want := &Backup{
		To: "s3://a/b", ID: "1", Part: Part{0, 1}, PieceSize: 1 << 30, Timing: Timing{15 * time.Minute, 5 * time.Second},
		Report: Report{ResultFile}, Command: []string{"true"},
	}
	if diff := difference(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	probe, err := Parse([]string{"probe", "--", "true"})
	if diff := difference(&Probe{Timeout: 5 * time.Minute, Interval: time.Second, Report: Report{ResultFile}, Command: []string{"true"}}, probe); err != nil || diff != "" {
		t.Error(err, diff)
	}
	again, err := Parse(Args(got))
	if diff := difference(got, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestErrorsNameInvalidFlags(t *testing.T) {
	for says, arguments := range map[string][]string{
		`a command is required: `:            {},
		`unknown command "copy"`:             {"copy"},
		`unknown command "install"`:          {"install"},
		`not defined: -nothing`:              {"list", "--nothing"},
		`the location is required`:           {"list"},
		`--root is required`:                 {"list", "--at", "file:///a"},
		`s3://bucket/path or file:///path`:   {"list", "--at", "gs://a/b"},
		`must look like s3://bucket`:         {"list", "--at", "s3:///a"},
		`must look like s3://`:               {"list", "--at", "file://host/a"},
		`consist only of`:                    {"list", "--at", "s3://user:hidden@a/b"},
		`'.' or '..'`:                        {"list", "--at", "file:///a/../../etc"},
		`https://host:port`:                  {"list", "--at", "s3://a", "--endpoint", "minio:9000"},
		`only flags are allowed`:             {"list", "--at", "s3://a", "b"},
		`mutually exclusive`:                 {"list", "--at", "s3://a", "--credentials", "/keys", "--workload-identity"},
		`--id is required`:                   {"delete", "--at", "s3://a/b"},
		`folder of one backup`:               {"delete", "--at", "s3://a", "--id", "1"},
		`command is required after --`:       {"backup", "--to", "s3://a/b", "--id", "1"},
		`--reuse needs --index`:              {"backup", "--to", "s3://a/b", "--id", "1", "--reuse", "s3://a/c", "--", "true"},
		`another backup in the same folder`:  {"backup", "--to", "s3://a/b", "--id", "1", "--index", "--reuse", "s3://a/c/d", "--", "true"},
		`--member must be at least 0`:        {"backup", "--to", "s3://a/b", "--id", "1", "--member", "1", "--", "true"},
		`key=value`:                          {"backup", "--about", "x"},
		`"64 Gigs" for flag -piece-size`:     {"backup", "--piece-size", "64 Gigs"},
		`from 1 to 64Gi`:                     {"backup", "--piece-size", "65Gi"},
		`above 0`:                            {"backup", "--idle-timeout", "0s"},
		`--compression-level must be 0 to 9`: {"backup", "--to", "s3://a/b", "--id", "1", "--compression-level", "10", "--", "true"},
		`--compression-threads must be 0 to`: {"backup", "--to", "s3://a/b", "--id", "1", "--compression-threads", "-1", "--", "true"},
		`--into is required`:                 {"restore", "--from", "s3://a/b", "--id", "1", "--", "true"},
		`"soon" for flag -timeout`:           {"probe", "--timeout", "soon"},
		`invalid flags of transfer probe`:    {"probe"},
	} {
		_, err := Parse(arguments)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestHelpDescribesTheFlags(t *testing.T) {
	_, err := Parse([]string{"backup", "--help"})
	help, ok := errors.AsType[*HelpError](err)
	if !ok {
		t.Fatal(err)
	}
	for _, line := range []string{"Usage of transfer backup:", "-piece-size size", "(default 1Gi)", "(default 15m0s)", "(default " + DefaultRegion + ")"} {
		if !strings.Contains(help.Usage, line) {
			t.Errorf("%q is not in\n%s", line, help.Usage)
		}
	}
}
