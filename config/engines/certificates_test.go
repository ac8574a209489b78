/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clientFiles are the folder of the certificate in members of a cluster that accepts certificates of clients, or does not.
func clientFiles(t *testing.T, accepts bool) string {
	t.Helper()
	folder, files := filepath.Join(t.TempDir(), "tls"), map[string]string{"tls.crt": "", "tls.key": "", "ca.crt": ""}
	if accepts {
		files["clients.crt"] = ""
	}
	write(t, folder, files)
	return folder
}

// rulesOfSingle are the arguments and the lines of pg_hba.conf with which the script start runs a server.
func rulesOfSingle(t *testing.T, tls, superuser, mode string) (arguments, rules []string) {
	t.Helper()
	secret := map[string]string{"password": "x", "owner-password": "y", "pooler-password": "z"}
	hash := func(text string) string { return fmt.Sprintf("%x  -\n", sha256.Sum256([]byte(text))) }
	known, accounts := t.TempDir(), scripts(t, "postgresql-single-v1", "/dbc/scripts")["pooler.sql"]
	write(t, filepath.Join(known, "of"), map[string]string{"data.credentials": hash(hash(superuser) + hash("app") + hash("x") + hash("y") + hash("z") + hash(accounts))})
	image := map[string]string{"docker-entrypoint.sh": `#!/bin/sh
for word; do
    case $word in hba_file=*) rules=${word#hba_file=} ;; esac
    echo "argument $word"
done
cat "${rules:-/dev/null}"
`}
	output := start(t, "postgresql-single-v1", secret, image, "DBC_OWNER=app", "POSTGRES_USER="+superuser, "DBC_TLS_DIR="+tls, "DBC_TLS_MODE="+mode,
		"PGDATA="+filepath.Join(known, "of", "data"))
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if word, found := strings.CutPrefix(line, "argument "); found {
			arguments = append(arguments, word)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			rules = append(rules, strings.Join(strings.Fields(line), " "))
		}
	}
	return arguments, rules
}

// rulesOfMember are the settings and the lines of pg_hba.conf in the configuration of Patroni.
func rulesOfMember(t *testing.T, tls, mode string) (settings map[string]string, rules []string) {
	t.Helper()
	folder, environment := image(t, "postgresql-v1", map[string]string{"patroni": "#!/bin/sh\ncat \"$1\"\n"}, "8009", freePort(t))
	command := asProcess1(t, append(environment, "DBC_TLS_DIR="+tls, "DBC_TLS_MODE="+mode), folder+"/scripts/member")
	output, err := command.Output()
	var configuration struct {
		PostgreSQL struct {
			Parameters map[string]string `json:"parameters"`
			Rules      []string          `json:"pg_hba"`
		} `json:"postgresql"`
	}
	if err != nil || json.Unmarshal(output, &configuration) != nil {
		t.Fatal(err, string(output))
	}
	return configuration.PostgreSQL.Parameters, configuration.PostgreSQL.Rules
}

const (
	byCertificate = "hostssl all +dbc_certificate all cert"
	byPassword    = `hostssl all postgres,replicator,"app" all scram-sha-256`
)

func TestAMemberOfPostgreSQLAsksForCertificatesOnlyIfTheClusterAcceptsThem(t *testing.T) {
	for _, c := range []struct {
		accepts bool
		mode    string
		want    []string
	}{
		{true, "Require", []string{"local all,replication all trust", byPassword, byCertificate, "hostssl all,replication all all scram-sha-256"}},
		{false, "Require", []string{"local all,replication all trust", "hostssl all,replication all all scram-sha-256"}},
		{true, "Allow", []string{"local all,replication all trust", "host all,replication all all scram-sha-256"}},
	} {
		tls := clientFiles(t, c.accepts)
		settings, rules := rulesOfMember(t, tls, c.mode)
		asks := c.accepts && c.mode == "Require"
		if !slices.Equal(rules, c.want) || settings["ssl"] != "on" || (settings["ssl_ca_file"] == tls+"/clients.crt") != asks {
			t.Errorf("%v %s: %q, %v", c.accepts, c.mode, rules, settings)
		}
	}
}

func TestASingleServerOfPostgreSQLAsksForCertificatesOnlyIfTheClusterAcceptsThem(t *testing.T) {
	ordinary := []string{
		"local all all trust", "local replication all trust", "hostssl all all all scram-sha-256", "hostssl replication all all scram-sha-256",
	}
	for superuser, first := range map[string]string{
		"postgres": `hostssl all "postgres","app" all scram-sha-256`, `a "b`: `hostssl all "a ""b","app" all scram-sha-256`,
	} {
		for _, accepts := range []bool{true, false} {
			tls := clientFiles(t, accepts)
			arguments, rules := rulesOfSingle(t, tls, superuser, "Require")
			want := ordinary
			if accepts {
				want = append([]string{first, byCertificate}, ordinary...)
			}
			if !slices.Equal(rules, want) || slices.Contains(arguments, "ssl_ca_file="+tls+"/clients.crt") != accepts {
				t.Errorf("%s %v: %q, %q", superuser, accepts, rules, arguments)
			}
		}
	}
	if arguments, _ := rulesOfSingle(t, clientFiles(t, true), "postgres", "Allow"); strings.Contains(fmt.Sprint(arguments), "ssl_ca_file") {
		t.Errorf("without TLS, a password would be enough: %q", arguments)
	}
}
