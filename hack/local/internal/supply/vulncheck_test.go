//go:build supply

package supply

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACallThatIsVulnerableFailsTheCheckAndIsNamed(t *testing.T) {
	database := vulnerabilities(t, `{
		"schema_version": "1.3.1", "id": "GO-2000-0001", "modified": "2000-01-01T00:00:00Z", "published": "2000-01-01T00:00:00Z",
		"details": "A manager that is made is vulnerable.",
		"affected": [{
			"package": {"name": "sigs.k8s.io/controller-runtime", "ecosystem": "Go"},
			"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
			"ecosystem_specific": {"imports": [{"path": "sigs.k8s.io/controller-runtime/pkg/manager", "symbols": ["New"]}]}
		}],
		"database_specific": {"url": "https://pkg.go.dev/vuln/GO-2000-0001"}
	}`)
	output, err := run(t, root(t), nil, "make", "vulncheck", "DB=file://"+database)
	if err == nil {
		t.Errorf("the check passed:\n%s", output)
	}
	for _, want := range []string{"GO-2000-0001", "bin/linux-amd64/manager", "the sources", "manager.New"} {
		if !strings.Contains(output, want) {
			t.Errorf("the check does not say %q:\n%s", want, output)
		}
	}
	if strings.Contains(output, "found in bin/linux-amd64/transfer") {
		t.Errorf("transfer has no manager, and is named:\n%s", output)
	}
}

func TestAnEmptyDatabaseFailsNothing(t *testing.T) {
	output, err := run(t, root(t), nil, "make", "vulncheck", "DB=file://"+vulnerabilities(t))
	if err != nil || strings.Count(output, "No vulnerabilities found") != 5 {
		t.Errorf("error is %v, want four binaries and the sources without one:\n%s", err, output)
	}
}

func TestAnUnreadableDatabaseIsAClearError(t *testing.T) {
	for name, database := range map[string]string{
		"nobody answers": "http://" + closedPort(t),
		"no folder":      "file:///there/is/none",
		"no URL":         "a-folder",
	} {
		output, err := run(t, root(t), nil, "make", "vulncheck", "DB="+database)
		want := "error: the database of vulnerabilities at " + database + " cannot be read"
		if err == nil || !strings.Contains(output, want) || strings.Contains(output, "goroutine") {
			t.Errorf("%s: error is %v, want one and %q:\n%s", name, err, want, output)
		}
	}
}

// vulnerabilities writes a database in the format of vuln.go.dev, and returns its folder.
func vulnerabilities(t *testing.T, entries ...string) string {
	t.Helper()
	folder := t.TempDir()
	modules, vulns := "[]", "[]"
	if len(entries) > 0 {
		const id = `"id": "GO-2000-0001", "modified": "2000-01-01T00:00:00Z"`
		modules = fmt.Sprintf(`[{"path": "sigs.k8s.io/controller-runtime", "vulns": [{%s}]}]`, id)
		vulns = fmt.Sprintf(`[{%s}]`, id)
		write(t, filepath.Join(folder, "ID", "GO-2000-0001.json"), entries[0])
	}
	write(t, filepath.Join(folder, "index", "db.json"), `{"modified": "2000-01-01T00:00:00Z"}`)
	write(t, filepath.Join(folder, "index", "modules.json"), modules)
	write(t, filepath.Join(folder, "index", "vulns.json"), vulns)
	return folder
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// closedPort returns a closed port on loopback.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
