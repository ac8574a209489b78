/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/testing/locks"
)

// container is a script of an engine with a volume, as process 1 of a container.
type container struct {
	t *testing.T
	*exec.Cmd
	// serves is closed when the program of the image runs, ended when process 1 has ended.
	serves, ended chan struct{}
	// folder has the script, the Secret and the programs of the image.
	folder string
}

// serve is a program that runs until it is killed.
const serve = "#!/bin/sh\necho serves\nexec sleep 600\n"

func startScript(t *testing.T, name, script, volume string, image map[string]string, environs ...string) *container {
	t.Helper()
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	all := scripts(t, name, in("scripts"))
	for other, text := range all {
		all[other] = strings.NewReplacer("/tmp/pg_hba.conf", in("pg_hba.conf"), "/usr/bin/python3", "/usr/bin/env python3").Replace(text)
	}
	write(t, in("scripts"), all)
	write(t, in("secrets"), map[string]string{"password": "secret"})
	write(t, in("bin"), image)
	write(t, in("psycopg2"), stub)
	c := &container{t: t, Cmd: exec.CommandContext(t.Context(), in("scripts/"+script)), serves: make(chan struct{}), ended: make(chan struct{}), folder: folder}
	c.Env = append(append(environment(t, name), "PATH="+in("bin")+":"+os.Getenv("PATH"), "DBC_SECRETS_DIR="+in("secrets"), "DBC_DATA_DIR="+volume,
		"PYTHONPATH="+folder, "DBC_PORT=7000"), environs...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := c.StdoutPipe()
	if err := errors.Join(err, c.Start()); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if lines.Text() == "serves" {
				once.Do(func() { close(c.serves) })
			}
		}
	}()
	go func() { // a child that outlives process 1 keeps the output open
		_ = c.Wait()
		close(c.ended)
	}()
	t.Cleanup(c.kill)
	return c
}

// kill ends all processes, as the end of process 1 does in a container.
func (c *container) kill() {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	c.await("end", c.ended)
}

// terminate sends SIGTERM to process 1, as the kubelet does, and waits until it has ended.
func (c *container) terminate() {
	c.t.Helper()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	c.await("end on SIGTERM", c.ended)
}

func (c *container) await(what string, happens chan struct{}) {
	c.t.Helper()
	select {
	case <-happens:
	case <-time.After(30 * time.Second):
		c.t.Fatalf("it does not %s", what)
	}
}

// awaitLock waits until a process of the container waits for a lock.
func (c *container) awaitLock() {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		waiting, err := locks.Waiting()
		if err != nil {
			c.t.Skip(err)
		}
		if slices.ContainsFunc(waiting, func(pid int) bool { group, err := syscall.Getpgid(pid); return err == nil && group == c.Process.Pid }) {
			return
		}
	}
	c.t.Fatal("it does not wait for a lock")
}

// A pod that was deleted by force may still run when the next one of its name starts with the same volume.
func TestTwoPodsOnOneVolumeNeverRunTwoServers(t *testing.T) {
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("flock is not installed: apt-get install util-linux")
	}
	for name, server := range map[string]string{"postgresql-v1": "postgres", "etcd-v1": "etcd", "skeleton/mydb-replicas-v1": "mydb-server"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			volume := t.TempDir()
			write(t, filepath.Join(volume, "pgdata"), map[string]string{"patroni.dynamic.json": `{"postgresql": {"parameters": {}}}`})
			member := func() *container {
				return startScript(t, name, "member", volume, map[string]string{server: serve}, "DBC_COPY=true")
			}
			first := member()
			first.await("serve", first.serves)
			second, third := member(), member()
			second.awaitLock()
			third.awaitLock()
			third.terminate()
			third.kill()
			select {
			case <-second.serves:
				t.Fatal("two servers run on one volume")
			default:
			}
			first.kill()
			second.await("serve after the other one", second.serves)
		})
	}
}
