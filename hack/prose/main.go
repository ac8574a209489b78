/*
SPDX-License-Identifier: Apache-2.0
*/

// Command prose checks the language of a checkout by Vale: messages, descriptions in the CRDs, comments and documents.
// The rules are in styles, one file a rule.
//
//	go run ./hack/prose lint [--all] [PATH...]    print findings as file:line; fail if one is an error
//
// Run it in the root of the repository. Vale reads Markdown and comments in Go; this program gives it all other texts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string, out io.Writer) error {
	if len(arguments) == 0 || arguments[0] != "lint" {
		return errors.New("usage: prose lint [--all] [PATH...]")
	}
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	all := flags.Bool("all", false, "also print suggestions")
	vale := flags.String("vale", os.Getenv("DBC_VALE"), "the Vale binary (default: built from hack/tools/vale)")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	found, err := check(*vale, ".", flags.Args())
	if err != nil {
		return err
	}
	return report(out, found, *all)
}
