package main

import (
	"github.com/spf13/cobra"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/csi"
)

func csiDriverCommand() *cobra.Command {
	var socket, dir, node string
	command := &cobra.Command{
		Use: "csi-driver", Short: "Provision volumes in files and folders of this machine, until SIGTERM", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return csi.Run(command.Context(), socket, dir, node) },
	}
	required(command, &socket, "socket", "the path of the socket")
	required(command, &dir, "dir", "the folder of the volumes")
	required(command, &node, "node", "the name of the node")
	return command
}
