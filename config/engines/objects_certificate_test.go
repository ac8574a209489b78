//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

// certified is a server that asks clients for certificates of an authority, as a member of an engine does.
type certified struct {
	*database
	authority pki.Authority
}

// newCertified starts a server with TLS. It does not have the lines of pg_hba.conf of an engine yet.
func newCertified(t *testing.T, engine string) certified {
	t.Helper()
	d := newDatabase(t, engine)
	authority, err := pki.NewAuthority("orders", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	files, err := authority.Issue([]string{"localhost"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d.serve(map[string][]byte{"tls.crt": files["tls.crt"], "tls.key": files["tls.key"], "clients.crt": files["ca.crt"]})
	return certified{d, authority}
}

// serve lets the server use files for TLS.
func (d *database) serve(files map[string][]byte) {
	d.t.Helper()
	for name, setting := range map[string]string{"tls.crt": "ssl_cert_file", "tls.key": "ssl_key_file", "clients.crt": "ssl_ca_file"} {
		if files[name] != nil {
			d.put(name, files[name])
			d.ask("postgres", "ALTER SYSTEM SET "+setting+" = '"+name+"'")
		}
	}
	d.ask("postgres", "ALTER SYSTEM SET ssl = on")
	d.do("", "pg_ctl", "-D", "data", "reload")
	for d.ask("postgres", "SHOW ssl") != "on" {
		time.Sleep(50 * time.Millisecond)
	}
}

// put writes a file of the server.
func (d *database) put(name string, text []byte) {
	d.t.Helper()
	file := filepath.Join(d.folder, "data", name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Chown(file, 65534, 65534); os.Geteuid() == 0 && err != nil {
		d.t.Fatal(err)
	}
}

// admit gives the server the lines of pg_hba.conf of an engine.
func (c certified) admit(rules []string) {
	c.t.Helper()
	c.put("pg_hba.conf", []byte(strings.Join(rules, "\n")+"\n"))
	c.expect("postgres", "SELECT count(*) FROM pg_hba_file_rules WHERE error IS NOT NULL", "0")
	c.do("", "pg_ctl", "-D", "data", "reload")
	plain := "sslmode=disable host=127.0.0.1 dbname=postgres user=postgres port=" + c.port
	for !strings.Contains(c.psql(plain, "SELECT 1"), "no pg_hba.conf entry") { // until it requires TLS
		time.Sleep(50 * time.Millisecond)
	}
}

func (c certified) psql(connection, statements string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), filepath.Join(c.programs, "psql"), "-XqtAw", connection, "-c", statements)
	said, _ := cmd.CombinedOutput() // a test compares the error
	return strings.TrimSpace(string(said))
}

// with logs in as a user with a certificate and no password.
func (c certified) with(user string, files pki.Files, more string) string {
	c.t.Helper()
	folder, err := os.MkdirTemp(c.t.TempDir(), "client")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, key := range []string{"tls.crt", "tls.key"} {
		if err := os.WriteFile(filepath.Join(folder, key), files[key], 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	root := filepath.Join(folder, "ca.crt")
	if err := os.WriteFile(root, c.authority.Files()["ca.crt"], 0o600); err != nil {
		c.t.Fatal(err)
	}
	return c.psql("sslmode=verify-full host=localhost dbname=postgres port="+c.port+" user="+user+" sslrootcert="+root+
		" sslcert="+folder+"/tls.crt sslkey="+folder+"/tls.key "+more, "SELECT current_user")
}

func (c certified) issue(authority pki.Authority, name string) pki.Files {
	c.t.Helper()
	files, err := authority.IssueClient(name, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	return files
}

// enginesOfPostgreSQL are the lines of pg_hba.conf that the engines have with certificates of clients.
func enginesOfPostgreSQL(t *testing.T) map[string][]string {
	t.Helper()
	_, single := rulesOfSingle(t, clientFiles(t, true), "postgres", "Require")
	_, member := rulesOfMember(t, clientFiles(t, true), "Require")
	return map[string][]string{"postgresql-single-v1": single, "postgresql-v1": member}
}

const asks = "Failed authentication: the primary does not ask clients for certificates yet; members do so after their next start"

func byCertificateAlone(name string) object {
	return login(name).with(object{"authentication": "Certificate"})
}

func TestAUserOfPostgreSQLLogsInOnlyByItsOwnCertificate(t *testing.T) {
	for engine, rules := range enginesOfPostgreSQL(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCertified(t, engine)
			c.ask("postgres", "CREATE ROLE app LOGIN PASSWORD 'of app'; CREATE ROLE replicator REPLICATION LOGIN PASSWORD 'of replicator'")
			users := []object{byCertificateAlone("billing"), byCertificateAlone("reporting"), login("plain")}
			if got := c.apply(nil, users)["u-billing"]; got != asks {
				t.Errorf("before the server asks for certificates: %s", got)
			}
			c.admit(rules)
			users[0] = login("billing")
			c.apply(nil, users) // the operator issues a certificate only for a user that exists
			users[0] = byCertificateAlone("billing")
			if got := c.apply(nil, users)["u-billing"]; got != "Done granted login by certificate" {
				t.Error(got)
			}
			c.all(nil, users, "Done")
			c.ask("postgres", "GRANT billing TO postgres, app, replicator") // by a person: the accounts of the engine stay as they are
			c.onlyOwnCertificates()
			if got := c.with("replicator", c.issue(c.authority, "replicator"), ""); engine == "postgresql-v1" && !strings.Contains(got, "no password supplied") {
				t.Error("a certificate opens the account of replicas:", got)
			}
		})
	}
}

// onlyOwnCertificates tries the certificates of all kinds on all kinds of users.
func (c certified) onlyOwnCertificates() {
	c.t.Helper()
	other, err := pki.NewAuthority("orders", time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	server, err := c.authority.Issue([]string{"billing"}, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	const needed, refused, password = "connection requires a valid client certificate", "certificate authentication failed", "no password supplied"
	for name, k := range map[string]struct {
		user  string
		files pki.Files
		more  string
		want  string
	}{
		"its own":                           {"billing", c.issue(c.authority, "billing"), "", "billing"},
		"that of another user":              {"billing", c.issue(c.authority, "reporting"), "", refused},
		"another case":                      {"billing", c.issue(c.authority, "Billing"), "", refused},
		"none, but its password":            {"billing", nil, "password='of billing' sslcert=/nonexistent", needed},
		"that of a server":                  {"billing", server, "", "unsupported certificate"},
		"that of another cluster":           {"billing", c.issue(other, "billing"), "", "unknown ca"},
		"a user with a password, with both": {"plain", c.issue(c.authority, "billing"), "password='of plain'", "plain"},
		"a user with a password, without":   {"plain", c.issue(c.authority, "plain"), "", password},
		"the superuser":                     {"postgres", c.issue(c.authority, "postgres"), "", password},
		"the superuser with the password":   {"postgres", c.issue(c.authority, "postgres"), "password='" + superuserPassword + "'", "postgres"},
		"the owner":                         {"app", c.issue(c.authority, "app"), "", password},
		"the owner with the password":       {"app", c.issue(c.authority, "app"), "password='of app'", "app"},
		"a replica":                         {"replicator", c.issue(c.authority, "replicator"), "replication=true", password},
		"a user as a replica":               {"billing", c.issue(c.authority, "billing"), "replication=true", password},
	} {
		if got := c.with(k.user, k.files, k.more); got != k.want && (!strings.Contains(k.want, " ") || !strings.Contains(got, k.want)) {
			c.t.Errorf("%s: %s\nwant %s", name, got, k.want)
		}
	}
}

func TestACertificateOfAUserOfPostgreSQLIsRefusedAfterTheFieldIsRemoved(t *testing.T) {
	t.Parallel()
	c := newCertified(t, "postgresql-single-v1")
	c.admit(enginesOfPostgreSQL(t)["postgresql-single-v1"])
	files := c.issue(c.authority, "billing")
	c.apply(nil, []object{byCertificateAlone("billing")})
	if got := c.with("billing", files, ""); got != "billing" {
		t.Fatal(got)
	}
	users := []object{login("billing")}
	if got := c.apply(nil, users)["u-billing"]; got != "Done revoked dbc_certificate" {
		t.Error(got)
	}
	c.all(nil, users, "Done")
	if got := c.with("billing", files, ""); !strings.Contains(got, "no password supplied") {
		t.Error("the certificate still logs in:", got)
	}
	if got := c.with("billing", files, "password='of billing'"); got != "billing" {
		t.Error("the password does not log in:", got)
	}
}

func TestACertificateOfPostgreSQLHasAnyName(t *testing.T) {
	t.Parallel()
	c := newCertified(t, "postgresql-v1")
	c.admit(enginesOfPostgreSQL(t)["postgresql-v1"])
	for _, name := range []string{"Gr\u00fc\u00dfe", `a "quoted" \ one, +x=y`, strings.Repeat("n", 63)} {
		c.apply(nil, []object{byCertificateAlone(name).with(object{"id": "u"})})
		user := "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'"
		if got := c.with(user, c.issue(c.authority, name), ""); got != name {
			t.Errorf("%s: %s", name, got)
		}
		if got := c.with(user, c.issue(c.authority, name+"n"), ""); !strings.Contains(got, "certificate authentication failed") {
			t.Errorf("the certificate of another name: %s", got)
		}
	}
}

// The server takes all direct and indirect members of the group for users with a certificate.
func TestAUserOfPostgreSQLDoesNotTakeThePasswordsOfOthersByItsCertificate(t *testing.T) {
	t.Parallel()
	c := newCertified(t, "postgresql-v1")
	c.admit(enginesOfPostgreSQL(t)["postgresql-v1"])
	const text = "Refused authentication: other roles are members of billing, so they would need a certificate, too; revoke that, or let another user own the database"
	users := []object{byCertificateAlone("billing"), login("other")}
	c.apply(nil, users)
	c.ask("postgres", "GRANT billing TO other")
	if got := c.as("other", "of other", "postgres", "SELECT 1"); !strings.Contains(got, "certificate") {
		t.Fatal("a member of the user needs no certificate:", got)
	}
	if got := c.apply(nil, users)["u-billing"]; got != text {
		t.Errorf("%s\nwant %s", got, text)
	}
	if got := c.as("other", "of other", "postgres", "SELECT 1"); got != "1" {
		t.Error("the password is still refused:", got)
	}
	c.ask("postgres", "REVOKE billing FROM other")
	if got := c.apply(nil, users)["u-billing"]; got != "Done granted login by certificate" {
		t.Error(got)
	}

	databases := []object{owned("shop").with(object{"owner": "billing"})} // who makes its owners members of billing
	users[1] = login("other", "shop", "owner")
	if got := c.apply(databases, users)["u-billing"]; got != text {
		t.Errorf("%s\nwant %s", got, text)
	}
	if got := c.as("other", "of other", "shop", "SELECT 1"); got != "1" {
		t.Error(got)
	}
}

func TestAUserOfPostgreSQLWithRightsOfASuperuserHasNoCertificate(t *testing.T) {
	t.Parallel()
	c := newCertified(t, "postgresql-single-v1")
	c.admit(enginesOfPostgreSQL(t)["postgresql-single-v1"])
	users := []object{byCertificateAlone("billing")}
	c.apply(nil, users)
	c.ask("postgres", "CREATE ROLE boss SUPERUSER; GRANT boss TO billing")
	if got, want := c.apply(nil, users)["u-billing"], "Refused authentication: billing has rights of a superuser"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if got := c.with("billing", c.issue(c.authority, "billing"), ""); !strings.Contains(got, "no password supplied") {
		t.Error(got)
	}
	c.ask("postgres", "REVOKE boss FROM billing; REVOKE dbc_certificate FROM billing; DROP ROLE dbc_certificate; CREATE ROLE dbc_certificate")
	if got, want := c.apply(nil, users)["u-billing"], "Refused the role dbc_certificate is not of this action; rename it"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
