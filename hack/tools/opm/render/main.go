/*
SPDX-License-Identifier: Apache-2.0
*/

// Command render makes a file-based catalog of a template and of bundles that are folders, not images in a registry.
// `opm alpha render-template` takes images alone; this is the same code, given the folder of each.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/operator-framework/operator-registry/alpha/action"
	"github.com/operator-framework/operator-registry/alpha/action/migrations"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	templates "github.com/operator-framework/operator-registry/alpha/template"
	"github.com/operator-framework/operator-registry/pkg/image"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("render", flag.ContinueOnError)
	inline := flags.Bool("inline", false, "put the bundles' manifests into the catalog, for a cluster that cannot pull their images")
	from := flags.String("from", "", "the bundle of the version before")
	to := flags.String("to", "", "the bundle that each channel has to lead to; empty: whatever the template says")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: render [flags] TEMPLATE CATALOG IMAGE=FOLDER...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() < 3 {
		flags.Usage()
		return errors.New("name the template, the file to write and the folder of each bundle")
	}
	bundles, err := folders(flags.Args()[2:])
	if err != nil {
		return err
	}
	catalog, err := render(ctx, flags.Arg(0), bundles, *inline)
	if err != nil {
		return fmt.Errorf("render a catalog of %s: %w", flags.Arg(0), err)
	}
	if *to != "" {
		if err := leadsTo(catalog, *from, *to); err != nil {
			return err
		}
	}
	return write(catalog, flags.Arg(1))
}

// bundleFolders returns the folder of each bundle by its future image.
type bundleFolders map[string]string

func folders(arguments []string) (bundleFolders, error) {
	all := bundleFolders{}
	for _, argument := range arguments {
		ref, folder, found := strings.Cut(argument, "=")
		if !found {
			return nil, fmt.Errorf("%q is not IMAGE=FOLDER", argument)
		}
		all[ref] = folder
	}
	return all, nil
}

// render identifies the bundles by their images, even if it omits the images afterward.
func render(ctx context.Context, file string, bundles bundleFolders, inline bool) (*declcfg.DeclarativeConfig, error) {
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	made, text2, err := templates.NewRegistry().CreateTemplateBySchema(text,
		func(ctx context.Context, ref string) (*declcfg.DeclarativeConfig, error) {
			return bundles.bundle(ctx, ref, inline)
		})
	if err != nil {
		return nil, err
	}
	catalog, err := made.Render(ctx, text2)
	if err != nil || !inline {
		return catalog, err
	}
	for i := range catalog.Bundles {
		catalog.Bundles[i].Image = "" // OLM uses the manifests in the catalog and unpacks no image
	}
	return catalog, nil
}

// noRegistry is never called: all bundles are folders.
type noRegistry struct{ image.Registry }

func (b bundleFolders) bundle(ctx context.Context, ref string, inline bool) (*declcfg.DeclarativeConfig, error) {
	folder, found := b[ref]
	if !found {
		return nil, fmt.Errorf("the template names the bundle %s, whose folder is not given", ref)
	}
	if _, err := os.Stat(filepath.Join(folder, "manifests")); err != nil {
		return nil, fmt.Errorf("%s is not the folder of a bundle: %w", folder, err)
	}
	name, err := template.New("image").Parse(ref)
	if err != nil {
		return nil, err
	}
	one := action.Render{Refs: []string{folder}, Registry: noRegistry{}, AllowedRefMask: action.RefBundleDir, ImageRefTemplate: name}
	if !inline {
		if one.Migrations, err = migrations.NewMigrations("bundle-object-to-csv-metadata"); err != nil {
			return nil, err
		}
	}
	return one.Run(ctx)
}

// leadsTo verifies that every channel ends with the newest version, with an upgrade from the previous version.
func leadsTo(catalog *declcfg.DeclarativeConfig, from, to string) error {
	model, err := declcfg.ConvertToModel(*catalog)
	if err != nil {
		return fmt.Errorf("the catalog is not valid: %w", err)
	}
	edges := 0
	for _, pkg := range model {
		for _, channel := range pkg.Channels {
			head, err := channel.Head()
			if err != nil {
				return fmt.Errorf("channel %s: %w", channel.Name, err)
			}
			if head.Name != to {
				return fmt.Errorf("channel %s ends with %s, not with %s: add that to the template", channel.Name, head.Name, to)
			}
			if channel.Bundles[from] == nil {
				continue
			}
			if head.Replaces != from && !slices.Contains(head.Skips, from) { // the template skips versions of the same minor version
				return fmt.Errorf("channel %s: %s neither replaces nor skips %s", channel.Name, to, from)
			}
			edges++
		}
	}
	if edges == 0 {
		return fmt.Errorf("no channel leads from %s to %s: users of the first would never get the second", from, to)
	}
	return nil
}

func write(catalog *declcfg.DeclarativeConfig, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(declcfg.WriteYAML(*catalog, file), file.Close())
}
