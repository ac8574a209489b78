package main

import (
	"github.com/spf13/cobra"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/netpol"
)

func networkPoliciesCommand() *cobra.Command {
	var kubeconfig, table string
	command := &cobra.Command{
		Use: "network-policies", Short: "Enforce NetworkPolicies with packet rules of this machine, until SIGTERM", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return netpol.Run(command.Context(), kubeconfig, table)
		},
	}
	required(command, &kubeconfig, "kubeconfig", "the path of the kubeconfig")
	required(command, &table, "table", "the name of the table of packet rules")
	return command
}
