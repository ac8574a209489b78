/*
SPDX-License-Identifier: Apache-2.0
*/

// Command bundle does for the OLM bundle what operator-sdk does not do.
//
//	go run ./hack/bundle finish FOLDER IMAGE    complete the CSV of the bundle in a folder, from the root of the checkout
//	go run ./hack/bundle judge                  print what `operator-sdk bundle validate -o json-alpha1` said, from stdin;
//	                                            any error or warning in it is a failure
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 3 && args[0] == "finish":
		return finish(args[1], args[2], time.Now())
	case len(args) == 1 && args[0] == "judge":
		return judge(in, out)
	}
	return errors.New("usage: bundle finish FOLDER IMAGE | bundle judge")
}
