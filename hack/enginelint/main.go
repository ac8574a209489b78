/*
SPDX-License-Identifier: Apache-2.0
*/

// Command enginelint checks DatabaseEngines without a cluster: as the API server does, as the operator does, and for mistakes
// that neither can see. `hack/engine lint FILE...` runs it in the root of the checkout.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/yaml"
)

const crd = "config/crd/bases/database.dbcluster.io_databaseengines.yaml"

// finding is a mistake: its field, and what to do. An engine with a warning works, without the part that the warning names.
type finding struct {
	warning bool
	text    string
}

func (f finding) String() string {
	if f.warning {
		return "warning: " + f.text
	}
	return "error: " + f.text
}

func errorf(format string, values ...any) finding {
	return finding{text: fmt.Sprintf(format, values...)}
}

func warningf(format string, values ...any) finding {
	return finding{warning: true, text: fmt.Sprintf(format, values...)}
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "Usage: hack/engine lint FILE...")
		os.Exit(2)
	}
	rules, err := newSchema(crd)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	failed := false
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		failed = report(os.Stdout, file, lint(context.Background(), rules, text)) || failed
	}
	if failed {
		os.Exit(1)
	}
}

// report prints the findings of a file, and reports whether one is an error.
func report(out io.Writer, file string, findings []finding) bool {
	count := 0
	for _, f := range findings {
		if !f.warning {
			count++
		}
		_, _ = fmt.Fprintf(out, "%s: %s\n", file, f)
	}
	_, _ = fmt.Fprintf(out, "%s: %d errors, %d warnings\n", file, count, len(findings)-count)
	return count > 0
}

// lint checks all DatabaseEngines in a file. Other objects in it are not read.
func lint(ctx context.Context, rules *schema, text []byte) (all []finding) {
	engines := 0
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return append(all, errorf("the file is not YAML: %v", err))
		}
		declared, findings := rules.decode(document)
		all = append(all, findings...)
		if declared == nil {
			continue
		}
		engines++
		all = append(all, judge(declared)...)
		all = append(all, checkScripts(ctx, declared.Spec.Scripts)...)
	}
	if engines == 0 && len(all) == 0 {
		return []finding{errorf("the file has no object of kind DatabaseEngine: begin it with apiVersion: %s and kind: DatabaseEngine",
			apiVersion)}
	}
	return all
}
