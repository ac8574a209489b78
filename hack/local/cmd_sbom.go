package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/sbom"
)

const sbomUsage = "usage: local sbom --version VERSION --dir DIR BINARY..."

func init() {
	commands = append(commands, command{
		"sbom", "--version VERSION --dir DIR BINARY...", "list what binaries are made of, in the format of CycloneDX", runSBOM,
	})
}

func runSBOM(ctx context.Context, repo string, arguments []string) error {
	set := flag.NewFlagSet("sbom", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.Usage = func() { fmt.Fprintln(os.Stderr, sbomUsage) }
	version := set.String("version", "", "the version of the binaries, such as v0.1.0")
	folder := set.String("dir", "", "the folder for the bills")
	if err := set.Parse(arguments); err != nil {
		return fmt.Errorf("sbom: %w", err)
	}
	switch {
	case *version == "":
		return errors.New("sbom: --version is empty: name the version of the binaries, such as v0.1.0")
	case *folder == "":
		return errors.New("sbom: --dir is empty: name the folder for the bills")
	case set.NArg() == 0:
		return errors.New("sbom: name the binaries to list")
	}
	const tool = "cyclonedx-gomod"
	binaries, err := build.All(ctx, repo, tool)
	if err != nil {
		return err
	}
	for _, binary := range set.Args() {
		written, err := sbom.Write(ctx, sbom.Options{Tool: binaries[tool].Path, Binary: binary, Version: *version, Folder: *folder})
		if err != nil {
			return fmt.Errorf("sbom: %w", err)
		}
		fmt.Println(written)
	}
	return nil
}
