package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
)

// Run runs a command against the control plane and returns its exit code. kubectl is in its PATH.
func (s Settings) Run(arguments []string) (code int, err error) {
	path := filepath.Dir(s.Binaries["kubectl"].Path) + string(os.PathListSeparator) + os.Getenv("PATH")
	if err := os.Setenv("PATH", path); err != nil { // exec looks the command up in our own PATH
		return 0, fmt.Errorf("set PATH: %w", err)
	}
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig(Admin), "DBC_TEST_KUBECONFIG="+s.Kubeconfig(Admin))

	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	ended, err := process.StartTied(command)
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", arguments[0], err)
	}
	for {
		select {
		case received := <-signals:
			passOn(command.Process, received)
		case err := <-ended:
			return exitCodeOf(err)
		}
	}
}

// passOn forwards a signal to the command, unless it came from the terminal, which also sent it to the command.
func passOn(child *os.Process, received os.Signal) {
	foreground, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP)
	if received == syscall.SIGINT && err == nil && foreground == unix.Getpgrp() {
		return
	}
	_ = child.Signal(received)
}

// exitCodeOf returns the exit code as a shell does: 128 plus the signal for a killed command.
func exitCodeOf(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
