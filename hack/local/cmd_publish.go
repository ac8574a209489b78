package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/publish"
)

const pushUsage = "usage: local push --to REGISTRY/PATH FILE..."

func init() {
	commands = append(commands,
		command{"digest", "FILE...", "print what a registry will call the images in OCI layouts", runDigest},
		command{"push", "--to REGISTRY/PATH FILE...", "push OCI layouts and Helm charts below that place, with the credentials of docker login", runPush},
	)
}

func runDigest(_ context.Context, _ string, files []string) error {
	if len(files) == 0 {
		return errors.New("digest needs a file: name the tarball of an OCI layout")
	}
	for _, file := range files {
		digest, err := publish.Digest(file)
		if err != nil {
			return fmt.Errorf("digest: %w", err)
		}
		fmt.Println(digest)
	}
	return nil
}

// runPush prints what it pushed as NAME:TAG@DIGEST, one a line.
func runPush(ctx context.Context, _ string, arguments []string) error {
	set := flag.NewFlagSet("push", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.Usage = func() { fmt.Fprintln(os.Stderr, pushUsage) }
	to := set.String("to", "", "the place in a registry below which everything goes")
	if err := set.Parse(arguments); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	switch {
	case *to == "":
		return fmt.Errorf("push: --to is empty: name where to push, such as registry.example.com/you\n%s", pushUsage)
	case set.NArg() == 0:
		return fmt.Errorf("push: name the files to push\n%s", pushUsage)
	}
	pushed, err := publish.Push(ctx, *to, set.Args())
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	for _, name := range pushed {
		fmt.Println(name)
	}
	return nil
}
