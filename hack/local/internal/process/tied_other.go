//go:build !linux

package process

import "syscall"

// tie is enough to compile: whoever uses this package asks for Linux first.
func tie(*syscall.SysProcAttr) {}
