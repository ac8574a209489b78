package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
)

func runTool(ctx context.Context, repo string, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("tool needs a name: `local tool --list` shows them")
	}
	if arguments[0] == "--list" {
		return listTools(ctx, repo)
	}
	binaries, err := build.All(ctx, repo, arguments...)
	if err != nil {
		return err
	}
	for _, name := range arguments {
		fmt.Println(binaries[name].Path)
	}
	return nil
}

func listTools(ctx context.Context, repo string) error {
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
