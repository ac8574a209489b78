/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// nodeMark is in the environment of all programs of the local node. Other API servers on the machine do not have it.
const nodeMark = "=/var/lib/databasecluster-operator-local\x00"

// StopPart kills a program of the local node, for example kube-apiserver.
func StopPart(name string) error {
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return err
	}
	for _, link := range links {
		program, _ := os.Readlink(link)
		environment, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "environ"))
		if filepath.Base(program) == name && strings.Contains(string(environment), nodeMark) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return fmt.Errorf("%s does not run on the local node", name)
}

// KeepParts starts the programs of the local node that have ended, until the context ends.
func KeepParts(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Second):
			_ = StartParts(context.WithoutCancel(ctx)) // it comes again
		}
	}
}

// StartParts starts the programs of the local node that do not run. It runs `bin/local up`.
func StartParts(ctx context.Context) error {
	if text, err := exec.CommandContext(ctx, os.Getenv("DBC_LOCAL"), "up").CombinedOutput(); err != nil {
		return fmt.Errorf("bin/local up: %w: %s", err, text)
	}
	return nil
}
