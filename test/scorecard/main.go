/*
SPDX-License-Identifier: Apache-2.0
*/

// Command scorecard has the tests of our own for `operator-sdk scorecard`, which runs each as a pod of its own:
//
//	scorecard TEST [--image IMAGE] [--timeout DURATION]
//
// It prints one TestStatus as JSON and nothing else, because the scorecard takes the whole log of the pod for one. The
// bundle is in /bundle. `scorecard tar xvzf ARCHIVE -C FOLDER` unpacks it there, so this image can be --untar-image, too.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operator-framework/api/pkg/manifests"
)

// bundleManifests is the folder into which the scorecard unpacks the bundle.
const bundleManifests = "/bundle/manifests"

func main() {
	if os.Getenv("SCORECARD_NAMESPACE") != "" {
		silence()
	}
	if len(os.Args) > 1 && os.Args[1] == "tar" {
		if err := untar(os.Args[2:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	passed := run(ctx, os.Args[1:], bundleManifests, os.Stdout)
	stop()
	if !passed {
		os.Exit(1)
	}
}

// silence keeps the logs of libraries out of the pod's log.
func silence() {
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null //nolint:reassign // the libraries offer no other way
	}
}

// options are the arguments of a test.
type options struct {
	image   string
	timeout time.Duration
}

// run runs the test in the arguments, prints the result, and returns whether it passed.
func run(ctx context.Context, arguments []string, folder string, out io.Writer) bool {
	name, problems := "", []string{"name a test: " + names()}
	if len(arguments) > 0 {
		name = arguments[0]
		problems = outcome(ctx, name, arguments[1:], folder)
	}
	result := v1alpha3.TestResult{Name: name, State: v1alpha3.PassState, Errors: problems}
	if len(problems) > 0 {
		result.State = v1alpha3.FailState
	}
	text, err := json.MarshalIndent(v1alpha3.TestStatus{Results: []v1alpha3.TestResult{result}}, "", "  ")
	if err != nil {
		text = []byte(err.Error())
	}
	fmt.Fprintln(out, string(text))
	return err == nil && len(problems) == 0
}

func outcome(ctx context.Context, name string, arguments []string, folder string) []string {
	test, known := tests[name]
	if !known {
		return []string{fmt.Sprintf("there is no test %q; there are %s", name, names())}
	}
	var opts options
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opts.image, "image", "", "image of the databases, instead of the image of the sample")
	flags.DurationVar(&opts.timeout, "timeout", 4*time.Minute, "time limit of the test")
	if err := flags.Parse(arguments); err != nil {
		return []string{err.Error()}
	}
	bundle, err := manifests.GetBundleFromDir(folder)
	if err != nil {
		return []string{fmt.Sprintf("the bundle in %s cannot be read: %v", folder, err)}
	}
	return test(ctx, bundle, opts)
}

func names() string { return strings.Join(slices.Sorted(maps.Keys(tests)), ", ") }
