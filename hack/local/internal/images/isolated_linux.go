package images

import "syscall"

// isolated gives a program namespaces of its own for mounts and processes: whatever it
// mounts or starts is gone when it ends, however it ends, and its folder can be removed.
func isolated() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
}
