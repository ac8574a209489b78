package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/node"
)

func nodeCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: "up", Short: "Run a real node (needs root)", Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error { return node.Up(command.Context(), repo) },
		},
		{
			Use: "down", Short: "Stop it and remove everything, including volumes", Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error { return node.Down(command.Context()) },
		},
		{
			Use: "status", Short: "Show its parts; fails unless all are up", Args: cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error {
				states, err := node.Status(command.Context())
				if err != nil {
					return err
				}
				return showStatus(states)
			},
		},
		{
			Use: "load IMAGE.tar...", Short: "Load images from `local image`", Args: cobra.MinimumNArgs(1),
			RunE: func(command *cobra.Command, tarballs []string) error { return node.Load(command.Context(), tarballs) },
		},
		kubeconfigCommand(),
	}
}

func kubeconfigCommand() *cobra.Command {
	var ofControlPlane bool
	command := &cobra.Command{
		Use: "kubeconfig", Short: "Print the path of the administrator's kubeconfig", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			find := node.Kubeconfig
			if ofControlPlane {
				find = controlPlaneKubeconfig
			}
			path, err := find()
			if err == nil {
				fmt.Println(path)
			}
			return err
		},
	}
	command.Flags().BoolVar(&ofControlPlane, "control-plane", false, "of the control plane without a node")
	return command
}
