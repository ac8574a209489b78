/*
SPDX-License-Identifier: Apache-2.0
*/

// Command prose checks the language of a checkout by Vale: messages, descriptions in the CRDs, comments and documents.
// The rules are in styles, one file a rule.
//
//	go run ./hack/prose lint [--all] [PATH...]          print findings as file:line; fail if one is an error
//	go run ./hack/prose count [CHECKOUT]                print a table of all findings, as Markdown
//	go run ./hack/prose extract DIRECTORY [CHECKOUT]    write the files that Vale reads
//
// Run it in the root of the repository. The rules always come from there, also for another CHECKOUT.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = "usage: prose lint|count|extract [flags] [arguments]"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string, out io.Writer) error {
	if len(arguments) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	all := flags.Bool("all", false, "lint: also print suggestions")
	vale := flags.String("vale", os.Getenv("DBC_VALE"), "the Vale binary (default: built from hack/tools/vale)")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	switch arguments[0] {
	case "lint":
		found, err := check(*vale, ".", flags.Args())
		if err != nil {
			return err
		}
		return report(out, found, *all)
	case "count":
		found, err := check(*vale, argument(flags, 0, "."), nil)
		if err != nil {
			return err
		}
		return table(out, found, argument(flags, 0, "."))
	case "extract":
		if flags.NArg() == 0 {
			return errors.New("extract needs a directory: go run ./hack/prose extract DIRECTORY [CHECKOUT]")
		}
		extracted, err := open(argument(flags, 1, "."))
		if err != nil {
			return err
		}
		_, err = extracted.write(flags.Arg(0))
		return err
	}
	return fmt.Errorf("command %q is not known; %s", arguments[0], usage)
}

func argument(flags *flag.FlagSet, n int, otherwise string) string {
	if flags.NArg() > n {
		return flags.Arg(n)
	}
	return otherwise
}
