//go:build !linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
)

func init() {
	refuse := func(context.Context, string, []string) error {
		return fmt.Errorf("a node needs Linux, this is %s: use a virtual machine, or any cluster of yours", runtime.GOOS)
	}
	commands = slices.Concat([]command{
		{"up", "", "run a real node (Linux)", refuse},
		{"down", "", "end it (Linux)", refuse},
		{"status", "", "show its parts (Linux)", refuse},
		{"load", "IMAGE.tar...", "give it images (Linux)", refuse},
	}, commands)
}
