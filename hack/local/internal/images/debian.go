package images

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// Debian releases of the images.
const (
	bookworm = "bookworm" // Debian 12: PostgreSQL 15, Redis 7, MariaDB 10.11
	trixie   = "trixie"   // Debian 13: PostgreSQL 17, Patroni 4.0, PgBouncer 1.24, etcd 3.5, memcached 1.6
)

// Scripts before and after the installation of every image from Debian packages.
var (
	//go:embed debian/begin.sh
	debianBegin string
	//go:embed debian/end.sh
	debianEnd string
)

// mirrors are the Debian mirrors of this machine.
type mirrors struct{ archive, security string }

// findMirrors asks apt for its mirrors, because only one mirror may be reachable.
func findMirrors(ctx context.Context) (mirrors, error) {
	const format = "$(ORIGIN) $(CODENAME) $(REPO_URI)"
	output, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", format, "Created-By: Packages").Output()
	if err != nil {
		return mirrors{}, fmt.Errorf("ask apt for its mirrors (this image requires Debian): %w", err)
	}
	found := parseMirrors(string(output))
	if found.archive == "" {
		return mirrors{}, errors.New("apt names no mirror of Debian: add one to its sources and run `apt-get update`")
	}
	return found, nil
}

func parseMirrors(targets string) (found mirrors) {
	for line := range strings.Lines(targets) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != "Debian" {
			continue
		}
		switch codename, uri := fields[1], fields[2]; {
		case strings.HasSuffix(codename, "-security"):
			found.security = uri
		case !strings.Contains(codename, "-"):
			found.archive = uri
		}
	}
	return found
}

// sources returns the sources.list of an image of a Debian release.
func (m mirrors) sources(release string) string {
	list := fmt.Sprintf("deb %[1]s %[2]s main\ndeb %[1]s %[2]s-updates main\n", m.archive, release)
	if m.security != "" {
		list += fmt.Sprintf("deb %s %s-security main\n", m.security, release)
	}
	return list
}

// install installs a minimal Debian with the server into root.
func (r recipe) install(ctx context.Context, root string) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("building the image of %s requires root for debootstrap and chroot: run it with sudo", r.server)
	}
	found, err := findMirrors(ctx)
	if err != nil {
		return err
	}
	if err := requireDebootstrap(ctx); err != nil {
		return err
	}
	err = progress.Step("bootstrapping Debian "+r.release+" (about a minute)", func() error {
		return run(ctx, "debootstrap", "--variant=minbase", r.release, root, found.archive)
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "etc/apt/sources.list"), []byte(found.sources(r.release)), 0o644); err != nil {
		return fmt.Errorf("write the sources of apt: %w", err)
	}
	return progress.Step("installing "+r.server+" (about half a minute)", func() error {
		return run(ctx, "chroot", root, "sh", "-c", r.script())
	})
}

// script is the shell script that runs inside the new Debian.
func (r recipe) script() string { return debianBegin + r.provision + debianEnd }

func requireDebootstrap(ctx context.Context) error {
	if _, err := exec.LookPath("debootstrap"); err == nil {
		return nil
	}
	return progress.Step("installing debootstrap, which is missing here", func() error {
		return run(ctx, "apt-get", "install", "--yes", "--no-install-recommends", "debootstrap", "debian-archive-keyring")
	})
}

// run prints the output of a program only if it fails. The program has its own mount and process namespaces. Its mounts
// and processes end with it, so its folder can be removed.
func run(ctx context.Context, program string, arguments ...string) error {
	isolated := []string{"--mount", "--pid", "--fork", "--kill-child", "--", program}
	command := exec.CommandContext(ctx, "unshare", append(isolated, arguments...)...)
	output, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("%s was interrupted: %w", program, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("%s failed: %w\n%s", program, err, lastLines(output, 20))
	}
	return nil
}

func lastLines(output []byte, count int) []byte {
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-count):], []byte("\n"))
}
