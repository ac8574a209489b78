package process

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartTied starts a child that the kernel kills when this program exits. The channel receives the result of Wait.
func StartTied(child *exec.Cmd) (ended <-chan error, err error) {
	if child.SysProcAttr == nil {
		child.SysProcAttr = &syscall.SysProcAttr{}
	}
	tie(child.SysProcAttr)
	return startAndReap(child)
}

// startAndReap keeps a thread for the child, because a tied child dies with the thread that started it. It also waits
// for the child, which otherwise stays a zombie.
func startAndReap(child *exec.Cmd) (<-chan error, error) {
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := child.Start()
		started <- err
		if err == nil {
			ended <- child.Wait()
		}
	}()
	return ended, <-started
}
