//go:build image && linux

package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/pki"
)

// member creates a database as any user, like the scripts of an engine, and starts PostgreSQL with TLS.
const member = `set -eu
umask 077
if ! getent passwd "$(id -u)" > /var/lib/database/passwd; then
    echo "postgres:x:$(id -u):$(id -g)::/:/bin/false" > /var/lib/database/passwd
fi
export LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD=/var/lib/database/passwd NSS_WRAPPER_GROUP=/etc/group
initdb --pgdata=/var/lib/database/pgdata --username=postgres --auth=trust --data-checksums --no-sync
exec flock --no-fork /var/lib/database/.member postgres -D /var/lib/database/pgdata -c ssl=on \
    -c ssl_cert_file=/var/lib/database/tls/server.crt -c ssl_key_file=/var/lib/database/tls/server.key`

func TestTheImageOfPatroniRunsADatabaseWithTLSAsAnyUser(t *testing.T) {
	for _, user := range []string{"999", "1000700000"} {
		data := volume(t)
		issueCertificate(t, filepath.Join(data, "tls"))
		server := start{server: patroniServer, user: user, args: []string{"sh", "-c", member}}.on(t, data).ready()
		output, err := server.exec("psql", "sslmode=verify-full sslrootcert=/var/lib/database/tls/ca.crt host=127.0.0.1 user=postgres",
			"-Atc", "select ssl, current_setting('data_checksums') from pg_stat_ssl where pid = pg_backend_pid()")
		if err != nil || output != "t|on" {
			t.Errorf("user %s: %v, %q, want t|on", user, err, output)
		}
		backup := "pg_basebackup -U postgres -h 127.0.0.1 -D /var/lib/database/copy --no-sync && pg_verifybackup /var/lib/database/copy"
		if output, err := server.exec("sh", "-c", backup); err != nil || !strings.Contains(output, "backup successfully verified") {
			t.Errorf("user %s: %v, %s", user, err, output)
		}
		server.stop(syscall.SIGINT)
	}
}

// issueCertificate creates the certificate of 127.0.0.1, its key, and its authority, which the server may read.
func issueCertificate(t *testing.T, folder string) {
	t.Helper()
	if err := pki.Folder(folder).Ensure([]pki.Identity{{Name: "server", CommonName: "server", Hosts: []string{"127.0.0.1"}}}); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{"": 0o750, "server.key": 0o640, "server.crt": 0o644, "ca.crt": 0o644} {
		path = filepath.Join(folder, path)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 0, 2000); err != nil { // the group of the pod
			t.Fatal(err)
		}
	}
}

func TestPatroniSupportsKubernetesAndIsCompiled(t *testing.T) {
	output := inside(t, patroniServer, "python3", "-v", "-c", "import patroni.dcs.kubernetes, patroni.__main__, patroni.ctl, ssl")
	loaded := 0
	for line := range strings.Lines(output) {
		_, path, found := strings.Cut(line, "# code object from ")
		if !found {
			continue
		}
		loaded++
		if !strings.Contains(path, ".pyc") {
			t.Errorf("Python compiles %s at each start", strings.TrimSpace(path))
		}
	}
	if loaded < 100 {
		t.Errorf("Python loads %d modules from files, want at least 100:\n%s", loaded, output)
	}
}

func TestProgramsThatScriptsOfPatroniUseAreOnThePath(t *testing.T) {
	for program, version := range map[string]string{
		"patroni": "4.0.7", "patronictl": "4.0.7", "postgres": "17.", "psql": "17.", "initdb": "17.", "pg_isready": "17.", "pg_basebackup": "17.",
		"pg_verifybackup": "17.", "pg_rewind": "17.", "pg_controldata": "17.", "pg_dump": "17.", "flock": "2.", "zstd": "1.", "python3": "3.13",
	} {
		argument := "--version"
		if program == "patronictl" {
			argument = "version"
		}
		if output := inside(t, patroniServer, program, argument); !strings.Contains(output, version) {
			t.Errorf("%s %s prints %q, want version %s", program, argument, output, version)
		}
	}
}

// inside runs a program in an image, as the user of the image, and returns its output.
func inside(t *testing.T, image *server, arguments ...string) string {
	t.Helper()
	image.unpack(t)
	command := exec.CommandContext(t.Context(), "env", append([]string{"--ignore-environment"}, append(image.config.Env, arguments...)...)...)
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: image.root, Credential: &syscall.Credential{Uid: 999, Gid: 999}}
	command.Dir = "/"
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", arguments, err, output)
	}
	return string(output)
}
