package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/images"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

const (
	imageKinds = "pause, operator, operator-index, bundle, catalog, postgresql, redis, versitygw, scorecard, scorecard-index or scorecard-test"
	imageUsage = `usage:
  local image pause --out FILE
  local image operator --out FILE --version VERSION --binary manager=PATH --binary transfer=PATH [--binary NAME=PATH ...] [--ref REF]
  local image operator-index | scorecard-index --out FILE --version VERSION --platform amd64=FOLDER --platform arm64=FOLDER [--ref REF]
  local image bundle | catalog --out FILE --ref REF --from FOLDER
  local image scorecard --out FILE --version VERSION --binary scorecard=PATH [--ref REF]
  local image postgresql | redis | versitygw | scorecard-test --out FILE [--ref REF]`
)

func init() {
	commands = append(commands, command{
		"image", "KIND --out FILE ...", "write a container image as a tarball, without a Docker daemon: " + imageKinds, runImage,
	})
}

// runImage writes an image as a tarball for "ctr images import" or "docker load".
func runImage(ctx context.Context, repo string, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("image needs the name of one: " + imageKinds + "\n" + imageUsage)
	}
	kind := arguments[0]
	assemble, known := map[string]func(context.Context, *imageFlags) error{
		"pause": makePause, "operator": makeOperator, "operator-index": makeIndex(images.OperatorIndex),
		"bundle": makePackage(images.Bundle), "catalog": makePackage(images.Catalog),
		"postgresql": makePostgreSQL, "redis": makeRedis, "versitygw": makeVersitygw,
		"scorecard": makeScorecard, "scorecard-index": makeIndex(images.ScorecardIndex), "scorecard-test": makeScorecardTest,
	}[kind]
	if !known {
		return fmt.Errorf("image %q is not known: take %s\n%s", kind, imageKinds, imageUsage)
	}
	flags, err := parseImageFlags(kind, arguments[1:])
	if err != nil {
		return err
	}
	flags.repo = repo
	if err := assemble(ctx, flags); err != nil {
		return fmt.Errorf("image %s: %w", kind, err)
	}
	fmt.Println(flags.out)
	return nil
}

type imageFlags struct {
	repo                          string
	out, reference, version, from string
	binaries, platforms           map[string]string
}

func parseImageFlags(kind string, arguments []string) (*imageFlags, error) {
	parsed := &imageFlags{binaries: map[string]string{}, platforms: map[string]string{}}
	set := flag.NewFlagSet("image "+kind, flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.Usage = func() { fmt.Fprintln(os.Stderr, imageUsage) }
	set.StringVar(&parsed.out, "out", "", "the tarball to write")
	if kind != "pause" {
		set.StringVar(&parsed.reference, "ref", "", "the image's name and tag")
	}
	parsed.addFlagsOf(kind, set)
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

func (f *imageFlags) addFlagsOf(kind string, set *flag.FlagSet) {
	switch kind {
	case "operator", "scorecard":
		set.StringVar(&f.version, "version", "", "the operator's version, such as 0.1.0")
		set.Func("binary", "a program of the image, as NAME=PATH", pairs(f.binaries, "manager=bin/manager"))
	case "operator-index", "scorecard-index":
		set.StringVar(&f.version, "version", "", "the operator's version, such as 0.1.0")
		set.Func("platform", "an architecture and the folder of its binaries", pairs(f.platforms, "arm64=bin/linux-arm64"))
	case "bundle", "catalog":
		set.StringVar(&f.from, "from", "", "the folder that becomes the image")
	}
}

// pairs takes NAME=PATH into the map.
func pairs(into map[string]string, example string) func(string) error {
	return func(value string) error {
		name, path, found := strings.Cut(value, "=")
		if !found || name == "" || path == "" {
			return errors.New("write it as NAME=PATH, such as " + example)
		}
		into[name] = path
		return nil
	}
}

func makePause(ctx context.Context, flags *imageFlags) error {
	return progress.Step("building "+images.PauseReference, func() error { return images.Pause(ctx, flags.out) })
}

func makeOperator(_ context.Context, flags *imageFlags) error {
	return images.Operator(images.OperatorOptions{
		Dest: flags.out, Reference: flags.reference, Version: strings.TrimPrefix(flags.version, "v"), Binaries: flags.binaries,
	})
}

func makeIndex(write func(images.IndexOptions) error) func(context.Context, *imageFlags) error {
	return func(_ context.Context, flags *imageFlags) error {
		return write(images.IndexOptions{
			Dest: flags.out, Reference: flags.reference, Version: strings.TrimPrefix(flags.version, "v"), Platforms: flags.platforms,
		})
	}
}

func makePackage(pack func(images.PackageOptions) error) func(context.Context, *imageFlags) error {
	return func(_ context.Context, flags *imageFlags) error {
		if flags.from == "" {
			return errors.New("--from is empty: name the folder that becomes the image")
		}
		return pack(images.PackageOptions{Options: flags.options(), From: flags.from})
	}
}

func makePostgreSQL(ctx context.Context, flags *imageFlags) error {
	return images.PostgreSQL(ctx, flags.options())
}

func makeRedis(ctx context.Context, flags *imageFlags) error {
	return images.Redis(ctx, flags.options())
}

func makeVersitygw(ctx context.Context, flags *imageFlags) error {
	const tool = "versitygw"
	binaries, err := build.All(ctx, flags.repo, tool)
	if err != nil {
		return err
	}
	binary := binaries[tool]
	return images.Versitygw(images.VersitygwOptions{
		Options: flags.options(), Binary: binary.Path, Version: strings.TrimPrefix(binary.Version, "v"),
	})
}

func makeScorecard(_ context.Context, flags *imageFlags) error {
	return images.Scorecard(images.ScorecardOptions{
		Options: flags.options(), Binary: flags.binaries["scorecard"], Version: strings.TrimPrefix(flags.version, "v"),
	})
}

func makeScorecardTest(ctx context.Context, flags *imageFlags) error {
	const tool = "scorecard-test"
	binaries, err := build.All(ctx, flags.repo, tool)
	if err != nil {
		return err
	}
	binary := binaries[tool]
	return images.ScorecardTest(images.ScorecardOptions{
		Options: flags.options(), Binary: binary.Path, Version: strings.TrimPrefix(binary.Version, "v"),
	})
}

func (f *imageFlags) options() images.Options {
	return images.Options{Dest: f.out, Reference: f.reference}
}
