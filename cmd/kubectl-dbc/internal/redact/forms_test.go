/*
SPDX-License-Identifier: Apache-2.0
*/

package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/redact"
)

func TestASecretIsRemovedByItsFormAlone(t *testing.T) {
	const secret = "Two hunters"
	for _, line := range []string{
		`password = 'Two hunters' and more`,
		`{"password":"Two hunters","user":"app"}`,
		`{"msg":"{\"password\":\"Two hunters\",\"user\":\"app\"}"}`,
		`{"password":"Two \"hunters\"","user":"app"}`,
		`ALTER ROLE app PASSWORD 'it''s Two hunters'`,
		`ALTER ROLE app PASSWORD E'Two\'s hunters'`,
		`ALTER ROLE app PASSWORD $$Two-hunters$$`,
		`CREATE USER app IDENTIFIED BY 'Two hunters'`,
		`CREATE USER app IDENTIFIED WITH sha256 BY "Two hunters"`,
		`password: 'Two hunters without an end`,
	} {
		got := redact.Values{}.Text(line)
		if !strings.Contains(got, "REDACTED") || strings.Contains(got, "hunters") || strings.Contains(got, strings.Fields(secret)[0]) {
			t.Errorf("%s: got %s", line, got)
		}
	}
	for line, want := range map[string]string{
		"requirepass hunter22":                           "requirepass REDACTED",
		`"CONFIG" "SET" "requirepass" "hunter22"`:        `"CONFIG" "SET" "requirepass" REDACTED`,
		"masterauth hunter22":                            "masterauth REDACTED",
		"sentinel auth-pass orders hunter22":             "sentinel auth-pass orders REDACTED",
		"AUTH hunter22":                                  "AUTH REDACTED",
		`"AUTH" "default" "hunter22"`:                    `"AUTH" REDACTED`,
		"ACL SETUSER app on >hunter22 ~* +@all":          "ACL SETUSER app on REDACTED ~* +@all",
		"user app on #b1946ac92492d234 >hunter22 ~*":     "user app on REDACTED REDACTED ~*",
		"etcdctl --auth-token hunter22 --port 1":         "etcdctl --auth-token REDACTED --port 1",
		"app://u:p@ss@host:1/db":                         "app://u:REDACTED@host:1/db",
		"Password=a;b,c port=1":                          "Password=REDACTED port=1",
		"user app may read keys > 5":                     "user app may read keys > 5",
		"ERROR:  password authentication failed for app": "ERROR:  password authentication failed for app",
	} {
		if got := (redact.Values{}).Text(line); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

// Each program writes a value in its own way. The value has all characters that one of them escapes.
func TestAKnownValueIsRemovedInEachForm(t *testing.T) {
	const secret = `a'b"c\d<e>&f%g h:i/é+`
	values := redact.Values{}.With(secret)
	inJSON, err := json.Marshal(map[string]string{"x": secret})
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(map[string]string{"msg": string(inJSON)})
	if err != nil {
		t.Fatal(err)
	}
	lower := regexp.MustCompile("%[0-9A-F]{2}").ReplaceAllStringFunc(url.QueryEscape(secret), strings.ToLower)
	for form, c := range map[string]struct{ text, want string }{
		"plain":        {secret, "REDACTED"},
		"JSON":         {string(inJSON), `{"x":"REDACTED"}`},
		"JSON in JSON": {string(again), `{"msg":"{\"x\":\"REDACTED\"}"}`},
		"Go":           {fmt.Sprintf("%q", secret), `"REDACTED"`},
		"SQL":          {strings.ReplaceAll(secret, "'", "''"), "REDACTED"},
		"query":        {url.QueryEscape(secret), "REDACTED"},
		"path":         {url.PathEscape(secret), "REDACTED"},
		"lowercase":    {lower, "REDACTED"},
		"pgpass":       {strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(secret), "REDACTED"},
		"hex":          {hex.EncodeToString([]byte(secret)), "REDACTED"},
	} {
		if got := values.Text(c.text); got != c.want {
			t.Errorf("%s: got %s", form, got)
		}
	}
}

func TestAKnownValueIsRemovedFromBase64AtAnyPlace(t *testing.T) {
	const secret = "correct-horse-?>?"
	values := redact.Values{}.With(secret)
	for _, before := range []string{"", "a", "ab", "user:"} {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			text := encoding.EncodeToString([]byte(before + secret + "!"))
			if got := values.Text(text); !strings.Contains(got, "REDACTED") || len(got) > len("REDACTED")+len(before)*2+8 {
				t.Errorf("%s after %q: got %s", text, before, got)
			}
		}
	}
	if got := (redact.Values{}.With("pony").Text("password cG9ueQ== and cG9ueQx")); got != "password REDACTED and cG9ueQx" {
		t.Errorf("a short one: %s", got)
	}
}

func TestThePartsOfAValueAreSecret(t *testing.T) {
	for value, want := range map[string]string{
		"app://user:correct-horse@orders:1/app":                "correct-horse",
		"# file\naws_secret_access_key = correct-horse\n":      "correct-horse",
		`{"auths":{"r.example":{"password":"correct-horse"}}}`: "correct-horse",
		"-----BEGIN PRIVATE KEY-----\nMHcCAQEEICorrect\n":      "MHcCAQEEICorrect",
	} {
		if got := (redact.Values{}.With(value).Text("the word " + want)); got != "the word REDACTED" {
			t.Errorf("%q: got %s", value, got)
		}
	}
	// The first line of a key in a Secret must not hide where another key begins.
	known := redact.Values{}.With("-----BEGIN PRIVATE KEY-----\nMHcCAQEEICorrect\n-----END PRIVATE KEY-----\n")
	if got := known.Text("-----BEGIN PRIVATE KEY-----\nanother\n-----END PRIVATE KEY-----"); got != "REDACTED" {
		t.Errorf("got %s", got)
	}
}

func TestAValueThatIsInManyTextsIsNotSearchedFor(t *testing.T) {
	for value, want := range map[string]bool{"0": false, "on": false, "true": false, "false\n": false, "app": true, "hunter22": true} {
		if got := redact.Searchable(value); got != want {
			t.Errorf("%q: got %t", value, got)
		}
	}
}
