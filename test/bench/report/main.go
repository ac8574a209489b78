/*
SPDX-License-Identifier: Apache-2.0
*/

// Command report draws plots of the raw data of the benchmark, and writes its tables into a document. It is a module of
// its own, so that the operator does not depend on a plotting library.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// run reads the raw data of a directory. It writes the plots beside them, and the tables into the page of the results.
func run(arguments []string) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	dir := flags.String("dir", "", "The directory with the raw data (*.jsonl). The plots are written to it.")
	publish := flags.Bool("publish", false, "Replace the tables of results.md in the directory. Otherwise, they are printed.")
	autoscaling := flags.String("autoscaling", "", "The samples of the story about autoscalers. Only they are drawn, to --out.")
	out := flags.String("out", "", "The file with the plot of --autoscaling.")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *autoscaling != "" {
		return drawAutoscaling(*autoscaling, *out)
	}
	if *dir == "" {
		return errors.New("--dir is required")
	}
	d, err := read(*dir)
	if err != nil {
		return err
	}
	if err := d.draw(*dir); err != nil {
		return err
	}
	if !*publish {
		for _, name := range d.blocks() {
			fmt.Printf("\n**%s**\n\n%s", name, d.block(name))
		}
		return nil
	}
	return d.publish(filepath.Join(*dir, results))
}

// results is the page with the tables of all phases. It is beside the raw data.
const results = "results.md"

// publish replaces the tables of a document.
func (d *data) publish(document string) error {
	text, err := os.ReadFile(document) //nolint:gosec // the caller names the document
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	filled, err := d.fill(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(document), err)
	}
	return os.WriteFile(document, []byte(filled), 0o644) //nolint:gosec // a document that everyone may read
}
