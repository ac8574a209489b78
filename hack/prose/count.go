/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// rule is a rule of the styles, and the words of the table that it is for.
type rule struct{ name, words string }

// rules are the rules of a style, by their names.
func rules(style string) ([]rule, error) {
	files, err := filepath.Glob(filepath.Join("hack/prose/styles", style, "*.yml"))
	if err != nil {
		return nil, err
	}
	var all []rule
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		words, is := strings.CutPrefix(first, "# row: ")
		if !is {
			return nil, fmt.Errorf("%s: the first line must be \"# row: WORDS\"", file)
		}
		all = append(all, rule{style + "." + strings.TrimSuffix(filepath.Base(file), ".yml"), words})
	}
	return all, nil
}

// table prints how much each rule finds, by category, and how long the README is.
func table(out io.Writer, found []finding, checkout string) error {
	counts := map[string]map[category]int{}
	for _, f := range found {
		if counts[f.rule] == nil {
			counts[f.rule] = map[category]int{}
		}
		counts[f.rule][f.category]++
	}
	fmt.Fprintln(out, "| what | rule | messages | CRD descriptions | comments | docs | all |")
	fmt.Fprintln(out, "|---|---|---:|---:|---:|---:|---:|")
	for _, style := range []string{"Words", "Style"} {
		all, err := rules(style)
		if err != nil {
			return err
		}
		sums := map[category]int{}
		for _, r := range all {
			row(out, r.words, r.name, counts[r.name])
			for c, n := range counts[r.name] {
				sums[c] += n
			}
		}
		row(out, "**all of "+style+"**", "", sums)
	}
	readme, err := os.ReadFile(filepath.Join(checkout, "README.md"))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nREADME.md: %d lines\n", strings.Count(string(readme), "\n"))
	return nil
}

func row(out io.Writer, words, rule string, counts map[category]int) {
	fmt.Fprintf(out, "| %s | %s |", words, rule)
	sum := 0
	for _, c := range []category{messages, crd, comments, docs} {
		fmt.Fprintf(out, " %d |", counts[c])
		sum += counts[c]
	}
	fmt.Fprintf(out, " %d |\n", sum)
}
