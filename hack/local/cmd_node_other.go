//go:build !linux

package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func nodeCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, name := range []string{"up", "down", "status", "load", "kubeconfig"} {
		commands = append(commands, &cobra.Command{
			Use: name, Short: "Of a real node (Linux)",
			RunE: func(*cobra.Command, []string) error {
				return fmt.Errorf("a node needs Linux, this is %s: use a virtual machine, or any cluster of yours", runtime.GOOS)
			},
		})
	}
	return commands
}
