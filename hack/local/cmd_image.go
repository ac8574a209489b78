package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/images"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

const imageUsage = `usage:
  local image pause --out FILE
  local image operator --out FILE --version VERSION --binary manager=PATH [--binary NAME=PATH ...] [--ref REF]
  local image postgresql --out FILE [--ref REF]`

func init() {
	commands = append(commands, command{
		"image", "pause | operator | postgresql --out FILE ...", "write a container image as a tarball, without a Docker daemon", runImage,
	})
}

// runImage writes an image as a tarball for "ctr images import" or "docker load".
func runImage(ctx context.Context, _ string, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("image needs the name of one: pause, operator or postgresql\n" + imageUsage)
	}
	kind := arguments[0]
	assemble, known := map[string]func(context.Context, *imageFlags) error{
		"pause": makePause, "operator": makeOperator, "postgresql": makePostgreSQL,
	}[kind]
	if !known {
		return fmt.Errorf("image %q is not known: take pause, operator or postgresql\n%s", kind, imageUsage)
	}
	flags, err := parseImageFlags(kind, arguments[1:])
	if err != nil {
		return err
	}
	if err := assemble(ctx, flags); err != nil {
		return fmt.Errorf("image %s: %w", kind, err)
	}
	fmt.Println(flags.out)
	return nil
}

type imageFlags struct {
	out, reference, version string
	binaries                map[string]string
}

func parseImageFlags(kind string, arguments []string) (*imageFlags, error) {
	parsed := &imageFlags{binaries: map[string]string{}}
	set := flag.NewFlagSet("image "+kind, flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.Usage = func() { fmt.Fprintln(os.Stderr, imageUsage) }
	set.StringVar(&parsed.out, "out", "", "the tarball to write")
	if kind != "pause" {
		set.StringVar(&parsed.reference, "ref", "", "the image's name and tag")
	}
	if kind == "operator" {
		set.StringVar(&parsed.version, "version", "", "the operator's version, such as 0.1.0")
		set.Func("binary", "a program of the image, as NAME=PATH", parsed.addBinary)
	}
	if err := set.Parse(arguments); err != nil {
		return nil, fmt.Errorf("image %s: %w", kind, err)
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("image %s: %q is no flag\n%s", kind, set.Arg(0), imageUsage)
	}
	if parsed.out == "" {
		return nil, fmt.Errorf("image %s: --out is empty: name the tarball to write", kind)
	}
	return parsed, nil
}

func (f *imageFlags) addBinary(value string) error {
	name, path, found := strings.Cut(value, "=")
	if !found || name == "" || path == "" {
		return errors.New("write it as NAME=PATH, such as manager=bin/manager")
	}
	f.binaries[name] = path
	return nil
}

func makePause(ctx context.Context, flags *imageFlags) error {
	return progress.Step("building "+images.PauseReference, func() error { return images.Pause(ctx, flags.out) })
}

func makeOperator(_ context.Context, flags *imageFlags) error {
	return images.Operator(images.OperatorOptions{
		Dest: flags.out, Reference: flags.reference, Version: strings.TrimPrefix(flags.version, "v"), Binaries: flags.binaries,
	})
}

func makePostgreSQL(ctx context.Context, flags *imageFlags) error {
	return images.PostgreSQL(ctx, images.PostgreSQLOptions{Dest: flags.out, Reference: flags.reference})
}
