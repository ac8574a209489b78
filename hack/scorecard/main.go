/*
SPDX-License-Identifier: Apache-2.0
*/

// Command scorecard prints a line for each test of `operator-sdk scorecard --output json`, and fails unless every test
// of the configuration ran, passed, and had nothing to suggest.
//
//	go run ./hack/scorecard CONFIG RESULTS
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: scorecard CONFIG RESULTS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(configFile, resultsFile string, out io.Writer) error {
	var config v1alpha3.Configuration
	var results v1alpha3.TestList
	if err := read(configFile, &config); err != nil {
		return err
	}
	if err := read(resultsFile, &results); err != nil {
		return err
	}
	return report(judge(config, results), out)
}

func read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return fmt.Errorf("%s is empty: see the error of operator-sdk above", file)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// line is the result of one test. The test passed if there are no remarks.
type line struct {
	suite, test, state string
	remarks            []string
}

// judge returns a line for each test of the configuration, in its order, and for each unexpected result.
func judge(config v1alpha3.Configuration, results v1alpha3.TestList) []line {
	items := slices.Clone(results.Items)
	var lines []line
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			at := slices.IndexFunc(items, func(item v1alpha3.Test) bool { return item.Spec.Labels["test"] == test.Labels["test"] })
			if at < 0 {
				lines = append(lines, line{test.Labels["suite"], test.Labels["test"], "missing", []string{"it did not run"}})
				continue
			}
			lines = append(lines, judgeOne(items[at]))
			items = slices.Delete(items, at, at+1)
		}
	}
	for _, item := range items {
		one := judgeOne(item)
		one.remarks = append(one.remarks, "the configuration has no such test")
		lines = append(lines, one)
	}
	return lines
}

func judgeOne(test v1alpha3.Test) line {
	one := line{test.Spec.Labels["suite"], test.Spec.Labels["test"], "none", nil}
	if len(test.Status.Results) == 0 {
		one.remarks = append(one.remarks, "it has no result")
	}
	for _, result := range test.Status.Results {
		one.state = string(result.State)
		remarks := slices.Concat(result.Errors, result.Suggestions)
		if result.State != v1alpha3.PassState {
			remarks = append(remarks, strings.TrimSpace("it is not passed; "+result.Log))
		}
		one.remarks = append(one.remarks, remarks...)
	}
	return one
}

// report prints the lines, followed by the remarks.
func report(lines []line, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SUITE\tTEST\tSTATE")
	for _, one := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\n", one.suite, one.test, one.state)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	failed := 0
	for _, one := range lines {
		for _, remark := range one.remarks {
			fmt.Fprintf(out, "\n%s: %s\n", one.test, remark)
		}
		if len(one.remarks) > 0 {
			failed++
		}
	}
	if failed > 0 || len(lines) == 0 {
		return fmt.Errorf("%d of %d tests did not pass without a remark", failed, len(lines))
	}
	return nil
}
