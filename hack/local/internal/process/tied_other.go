//go:build !linux

package process

import "syscall"

// tie exists only to compile: callers check for Linux first.
func tie(*syscall.SysProcAttr) {}
