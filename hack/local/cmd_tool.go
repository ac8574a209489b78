package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
)

func toolCommand() *cobra.Command {
	var list bool
	command := &cobra.Command{
		Use: "tool NAME...", Short: "Build tools that are not in the cache and print their paths",
		RunE: func(command *cobra.Command, names []string) error {
			switch {
			case list:
				return listTools(command.Context())
			case len(names) == 0:
				return errors.New("tool needs a name: `local tool --list` shows them")
			}
			binaries, err := build.All(command.Context(), repo, names...)
			if err != nil {
				return err
			}
			for _, name := range names {
				fmt.Println(binaries[name].Path)
			}
			return nil
		},
	}
	command.Flags().BoolVar(&list, "list", false, "show all tools")
	return command
}

func listTools(ctx context.Context) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tVERSION\tBUILT")
	for _, tool := range build.Tools {
		version, cached, err := build.Version(ctx, repo, tool.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%t\n", tool.Name, version, cached)
	}
	return table.Flush()
}
