//go:build !linux

package images

import "syscall"

// isolated is enough to compile: only Debian can make the image that needs it.
func isolated() *syscall.SysProcAttr { return nil }
