/*
SPDX-License-Identifier: Apache-2.0
*/

package redact_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/redact"
)

func TestASecretInALogIsRemovedAndTheRestStays(t *testing.T) {
	known := redact.Values{}.With("s3cr3t/word\n").With("abc").With("ab") // the last one is too short to be searched for
	for line, want := range map[string]string{
		"ledger://app:hunter22@orders:5432/app":                  "ledger://app:REDACTED@orders:5432/app",
		"ALTER ROLE app PASSWORD 'hunter22'":                     "ALTER ROLE app PASSWORD REDACTED",
		`{"password": "hunter22", "user": "app"}`:                `{"password": REDACTED, "user": "app"}`,
		"password=hunter22 host=orders":                          "password=REDACTED host=orders",
		"password authentication failed for user app":            "password authentication failed for user app",
		"identity AGE-SECRET-KEY-1QQPQZ and more":                "identity REDACTED and more",
		"Authorization: Bearer abcdefghijk":                      "Authorization: Bearer REDACTED",
		"aws AKIAABCDEFGHIJKLMNOP":                               "aws REDACTED",
		"rolpassword SCRAM-SHA-256$4096:x":                       "rolpassword REDACTED",
		"token eyJhbGciOi.eyJzdWIi.c2ln end":                     "token REDACTED end",
		"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEI\nabcdef":      "REDACTED",
		"the word s3cr3t/word and s3cr3t%2Fword":                 "the word REDACTED and REDACTED",
		"abc is a word, and abcd another":                        "REDACTED is a word, and abcd another",
		"run --auth-token hunter22 --port 1":                     "run --auth-token REDACTED --port 1",
		"-password hunter22":                                     "-password REDACTED",
		"Secret orders has owner-password, restapi-password (2)": "Secret orders has owner-password, restapi-password (2)",
		"ab is a word": "ab is a word",
		"2026-11-21 LOG: checkpoint complete at 0/3000060": "2026-11-21 LOG: checkpoint complete at 0/3000060",
	} {
		if got := known.Text(line); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

const pod = `
kind: Pod
metadata:
  name: orders-0
  managedFields: [{manager: x}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"env":"hunter22"}'
    status: '{"position": 1}'
    objectset.rio.cattle.io/applied: H4sIAAAAAAAA
    tool/original: 'password hunter22'
    tool/manifest: '{"apiVersion":"v1","spec":{"env":"hunter22"}}'
    tool/settings: '{"env":[{"name":"ANYTHING","value":"hunter22"}]}'
spec:
  containers:
  - args: [--requirepass=hunter22, --port=1, --auth-token, hunter22, requirepass, hunter22, -c, "login hunter22"]
    livenessProbe: {httpGet: {path: /live, httpHeaders: [{name: X-Any, value: hunter22}]}}
    env:
    - {name: ANYTHING, value: hunter22}
    - {name: DBC_MEMBER, value: orders-0}
    - {name: FROM, valueFrom: {secretKeyRef: {name: orders-credentials, key: password}}}
`

func TestObjectsHaveNoSecrets(t *testing.T) {
	for name, c := range map[string]struct{ given, want string }{
		"environment and arguments": {pod, `kind: Pod
metadata:
  annotations:
    status: '{"position": 1}'
    tool/settings: '{"env":[{"name":"ANYTHING","value":"REDACTED"}]}'
  name: orders-0
spec:
  containers:
  - args:
    - --requirepass=REDACTED
    - --port=1
    - --auth-token
    - REDACTED
    - requirepass
    - REDACTED
    - -c
    - 'REDACTED: 14 bytes'
    env:
    - name: ANYTHING
      value: REDACTED
    - name: DBC_MEMBER
      value: orders-0
    - name: FROM
      valueFrom:
        secretKeyRef:
          key: password
          name: orders-credentials
    livenessProbe:
      httpGet:
        httpHeaders:
        - name: X-Any
          value: REDACTED
        path: /live
`},
		"a volume of CSI": {"kind: DatabaseCluster\nspec: {csi: {volumeAttributes: {any: hunter22}}}\n",
			"kind: DatabaseCluster\nspec:\n  csi:\n    volumeAttributes:\n      any: 'REDACTED: 8 bytes'\n"},
		"files of a ConfigMap": {"kind: ConfigMap\ndata: {a.conf: hunter22}\n", "data:\n  a.conf: 'REDACTED: 8 bytes'\nkind: ConfigMap\n"},
		"files and parameters": {"kind: DatabaseCluster\nspec: {config: {files: {a.conf: hunter22}}, parameters: {auth: hunter22, max_connections: '9'}}\n",
			"kind: DatabaseCluster\nspec:\n  config:\n    files:\n      a.conf: 'REDACTED: 8 bytes'\n  parameters:\n    auth: REDACTED\n    max_connections: \"9\"\n"},
		"a Secret": {"kind: Secret\ndata: {a: aHVudGVyMjI=}\nstringData: {b: hunter22}\n", "kind: Secret\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(c.given), &object); err != nil {
				t.Fatal(err)
			}
			redact.Values{}.Object(object)
			got, err := yaml.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want || strings.Contains(string(got), "hunter22") {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
