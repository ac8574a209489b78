//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// program is the shipped operator, built on first use.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "databasecluster-operator-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "manager")
	removeProgram = func() { os.RemoveAll(dir) }
	out, err := exec.Command("go", "build", "-o", path, "../../cmd").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the operator: %w: %s", err, out)
	}
	return path, nil
})

var removeProgram = func() {}

// process is an operator in its own process.
type process struct {
	*exec.Cmd
	ended chan struct{}
	log   string
}

// operator starts an operator as a user, with environment variables and flags. It ends with the test.
func operator(t *testing.T, kubeconfig string, environment []string, flags ...string) *process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.CreateTemp(t.TempDir(), "operator-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := &process{exec.Command(path, append([]string{"--health-probe-bind-address=0", "--kubeconfig=" + kubeconfig}, flags...)...), make(chan struct{}), log.Name()}
	p.Stdout, p.Stderr = log, log
	p.Env = append(os.Environ(), environment...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.Wait(); close(p.ended) }()
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended
		<-p.ended
		if t.Failed() {
			t.Logf("the output of the operator %v:\n%s", p.Args, p.output(t))
		}
	})
	return p
}

func (p *process) output(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mustLackNoRight fails the test if the API server refused a request.
func mustLackNoRight(t *testing.T, p *process) {
	t.Helper()
	if output := p.output(t); strings.Contains(output, "in API group") || strings.Contains(output, "at the cluster scope") {
		t.Errorf("a right is missing:\n%s", output)
	}
}

// stop sends a signal and waits until the process ends.
func (p *process) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	p.mustEnd(t)
}

func (p *process) mustEnd(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("the operator is still running:\n%s", p.output(t))
	}
}

// mustStop ends the operator as Kubernetes does.
func (p *process) mustStop(t *testing.T) {
	t.Helper()
	p.stop(t, syscall.SIGTERM)
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exited with code %d:\n%s", code, p.output(t))
	}
}

// kubeconfig writes a kubeconfig for a user, with another address of the API server if given.
func kubeconfig(t *testing.T, user, address string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(os.Getenv("DBC_TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		t.Fatal(err)
	}
	for _, who := range config.AuthInfos {
		who.Impersonate = user
	}
	for _, where := range config.Clusters {
		if address != "" {
			where.Server = "https://" + address
		}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// wire is a connection to the API server that a test can cut.
type wire struct {
	net.Listener
	mutex sync.Mutex
	open  []net.Conn
	isCut bool
}

func wireUp(t *testing.T) *wire {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("DBC_TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: listener}
	var done sync.WaitGroup
	done.Go(func() { w.serve(t.Context(), server.Host) })
	t.Cleanup(func() { w.cut(); done.Wait() })
	return w
}

func (w *wire) serve(ctx context.Context, server string) {
	for {
		near, err := w.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
		if err != nil || !w.keep(near, far) {
			near.Close()
			continue
		}
		go func() { _, _ = io.Copy(far, near); far.Close() }()
		go func() { _, _ = io.Copy(near, far); near.Close() }()
	}
}

func (w *wire) keep(ends ...net.Conn) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.open = append(w.open, ends...)
	return !w.isCut
}

// cut closes every connection and accepts no other.
func (w *wire) cut() {
	w.Close()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.isCut = true
	for _, end := range w.open {
		end.Close()
	}
}
