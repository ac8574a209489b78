package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/images"
)

func imageCommand() *cobra.Command {
	var kinds []*cobra.Command
	for _, kind := range images.Kinds {
		kinds = append(kinds, imageKindCommand(kind))
	}
	return parentOf("image", "Write a container image as a tarball, without a Docker daemon", kinds...)
}

func imageKindCommand(kind images.Kind) *cobra.Command {
	var options images.Options
	command := &cobra.Command{
		Use: kind.Name, Short: "Write the image " + kind.Name, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			options.Repo = repo
			if err := kind.Write(command.Context(), options); err != nil {
				return err
			}
			fmt.Println(options.Dest)
			return nil
		},
	}
	required(command, &options.Dest, "out", "the tarball to write")
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.StringVar(&options.Reference, "ref", "", "the image's name and tag")
	all.StringVar(&options.Version, "version", "", "the operator's version, such as 0.1.0")
	all.StringToStringVar(&options.Binaries, "binary", nil, "a program of the image, such as manager=bin/manager")
	all.StringToStringVar(&options.Platforms, "platform", nil, "an architecture and the folder of its binaries, such as arm64=bin/linux-arm64")
	all.StringVar(&options.From, "from", "", "the folder that becomes the image")
	all.StringSliceVar(&options.Packages, "packages", nil, "the packages of Debian 13 in the image; its version is that of the first one")
	for flag := range strings.FieldsSeq(kind.Flags) {
		command.Flags().AddFlag(all.Lookup(flag))
	}
	return command
}
