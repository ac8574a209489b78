package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/sbom"
)

func sbomCommand() *cobra.Command {
	var options sbom.Options
	command := &cobra.Command{
		Use: "sbom BINARY...", Short: "List the modules of binaries in CycloneDX format", Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, binaries []string) error {
			const tool = "cyclonedx-gomod"
			tools, err := build.All(command.Context(), repo, tool)
			if err != nil {
				return err
			}
			options.Tool = tools[tool].Path
			for _, options.Binary = range binaries {
				written, err := sbom.Write(command.Context(), options)
				if err != nil {
					return fmt.Errorf("sbom: %w", err)
				}
				fmt.Println(written)
			}
			return nil
		},
	}
	required(command, &options.Version, "version", "the version of the binaries, such as v0.1.0")
	required(command, &options.Folder, "dir", "the folder for the bills")
	return command
}
