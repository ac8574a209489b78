//go:build image && linux

package images

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// These tests start the real images in namespaces of its own, set up as a pod of the
// "restricted" security profile with a read-only root would be. They need root and, the
// first time, Debian's mirrors:
//
//	go test -tags image -count 1 ./internal/images/

// asPod mounts the volumes like the kubelet, drops all privileges and becomes process 1.
const asPod = `set -eu
root=$1 folder=$2 volume=$3 data=$4 user=$5; shift 5
mount --bind "$root" "$root"
mount --bind "$volume" "$root$data"
if [ -d "$root/run/postgresql" ]; then mount -t tmpfs -o mode=2777,gid=2000 tmpfs "$root/run/postgresql"; fi
mount -t proc none "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -o remount,bind,ro "$root"
ip link set lo up
exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$folder" setpriv --reuid "$user" --regid 2000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"`

// server is an image under test.
type server struct {
	make  func(context.Context, Options) error
	data  string   // where its volume is mounted
	ready []string // succeeds once it takes connections

	// The image, unpacked once for all tests like in a container runtime.
	root   string
	config v1.Config
}

var (
	postgresServer  = &server{make: postgreSQL.write, data: "/var/lib/database", ready: []string{"pg_isready", "--username=postgres"}}
	redisServer     = &server{make: redis.write, data: "/data", ready: []string{"redis-cli", "-e", "ping"}}
	patroniServer   = &server{make: patroni.write, data: "/var/lib/database", ready: []string{"pg_isready", "--username=postgres"}}
	etcdServer      = &server{make: etcd.write, data: "/var/lib/database", ready: []string{"etcdctl", "endpoint", "health"}}
	memcachedServer = &server{make: memcached.write, data: "/mnt", ready: []string{"bash", "-c", ": < /dev/tcp/127.0.0.1/11211"}}

	servers = []*server{postgresServer, redisServer, patroniServer, etcdServer, memcachedServer}
)

// pod is one start of an image.
type pod struct {
	t       *testing.T
	server  *server
	command *exec.Cmd
	user    string
	logs    *logs
	ended   chan error
}

// volume is a folder that outlives pods, open to any user as host paths are.
func volume(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	return folder
}

type start struct {
	server *server // PostgreSQL when nil
	user   string  // 999 when empty
	env    []string
	args   []string
}

func (s start) on(t *testing.T, volume string) *pod {
	t.Helper()
	image := cmp.Or(s.server, postgresServer)
	image.unpack(t)
	user := cmp.Or(s.user, "999")
	arguments := append([]string{"-c", asPod, "pod", image.root, cmp.Or(image.config.WorkingDir, "/"), volume, image.data, user}, image.config.Entrypoint...)
	args := s.args
	if args == nil {
		args = image.config.Cmd
	}
	command := exec.Command("sh", append(arguments, args...)...)
	command.Env = slices.Concat(image.config.Env, s.env)
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		Unshareflags: syscall.CLONE_NEWNS,
		Pdeathsig:    syscall.SIGKILL,
	}
	p := &pod{t: t, server: image, command: command, user: user, logs: &logs{}, ended: make(chan error, 1)}
	command.Stdout, command.Stderr = p.logs, p.logs
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- command.Wait() }()
	t.Cleanup(p.kill)
	return p
}

func (p *pod) kill() {
	_ = p.command.Process.Kill()
	p.exitCode()
}

// exitCode waits for the end, which must come.
func (p *pod) exitCode() int {
	p.t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err
		return p.command.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		p.t.Fatalf("the container did not end within a minute; it said:\n%s", p.logs)
		return -1
	}
}

// stop sends a signal and returns the exit code.
func (p *pod) stop(signal os.Signal) int {
	p.t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
	return p.exitCode()
}

// exec runs a program in the container, as kubectl exec would.
func (p *pod) exec(arguments ...string) (string, error) {
	enter := []string{
		"--target", fmt.Sprint(p.command.Process.Pid), "--mount", "--pid", "--net", "--ipc", "--root", "--wd",
		"--setuid", p.user, "--setgid", "2000", "--",
	}
	command := exec.Command("nsenter", append(enter, arguments...)...)
	command.Env = p.command.Env
	output, err := command.CombinedOutput()
	return strings.TrimSpace(string(output)), err
}

// ready waits until the server takes connections.
func (p *pod) ready() *pod {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if _, err := p.exec(p.server.ready...); err == nil {
			return p
		}
		select {
		case err := <-p.ended:
			p.ended <- err
			p.t.Fatalf("the container ended before it was ready (%v); it said:\n%s", err, p.logs)
		default:
		}
	}
	p.t.Fatalf("the server was not ready within a minute; it said:\n%s", p.logs)
	return nil
}

// query runs SQL through the socket, which trusts all users in the container.
func (p *pod) query(sql string, options ...string) string {
	p.t.Helper()
	arguments := append([]string{"psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command", sql}, options...)
	output, err := p.exec(arguments...)
	if err != nil {
		p.t.Fatalf("%s: %v: %s\nthe server said:\n%s", sql, err, output, p.logs)
	}
	return output
}

// logs is a buffer for concurrent reads and writes.
type logs struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *logs) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(text)
}

func (l *logs) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range servers {
		if s.root != "" {
			_ = os.RemoveAll(filepath.Dir(s.root))
		}
	}
	os.Exit(code)
}

// unpack builds the image or gets it from the cache, and unpacks it once for all tests.
func (s *server) unpack(t *testing.T) {
	t.Helper()
	if s.root != "" {
		return
	}
	folder, err := os.MkdirTemp("", "image-") //nolint:usetesting // it serves all tests
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s.root = filepath.Join(folder, "root")
	dest := filepath.Join(folder, "image.tar")
	if err := s.make(t.Context(), Options{Dest: dest}); err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(dest, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.config = configOf(t, image).Config
	unpackInto(t, s.root, image)
}

func unpackInto(t *testing.T, root string, image v1.Image) {
	t.Helper()
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "tar", "--extract", "--preserve-permissions", "--numeric-owner", "--directory", root)
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	command.Stdin = content
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("unpack the image: %v\n%s", err, output)
	}
}
