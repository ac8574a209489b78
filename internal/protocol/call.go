/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"
)

// Program is the name of the file with transfer, in its image and where it is installed.
const Program = "transfer"

// Call is what transfer is asked to do.
//
//sumtype:decl
type Call interface {
	// Args are the arguments of the program.
	Args() []string
	// ResultPath is the file that the result is written to.
	ResultPath() string

	options() []option
	check() error
	// runs is the command after the flags; nil for a call that takes none.
	runs() *[]string
}

// Backup stores what the command prints for one member. The last member's call completes the backup.
type Backup struct {
	To string
	ID string // the UID of the backup
	Part
	About    About
	Check    []string // a command that prints facts about the data; none: nothing is checked
	Complete bool
	Store
	PieceSize int64
	Patience
	Report
	Command []string
}

// Restore gives what is stored of one member to the command, which fills a directory with it.
type Restore struct {
	From string
	ID   string // of what is restored
	Into string
	Part
	Store
	Patience
	Report
	Command []string
}

// Delete deletes a backup.
type Delete struct {
	At string
	ID string
	Store
	Report
}

// List prints every complete backup below a location.
type List struct {
	At string
	Store
	JSON bool
	Report
}

// Probe runs the command until the database answers.
type Probe struct {
	Timeout    time.Duration // of the answer, and as much again for the check
	ByExitCode bool
	Check      []string
	Interval   time.Duration
	Report
	Command []string
}

// Install copies the program into a folder.
type Install struct{ Folder string }

// Part says which member of a backup is meant. While Members is 0 nothing is said, which means the only one.
type Part struct{ Member, Members int }

// Patience bounds the time in which nothing happens.
type Patience struct{ IdleTimeout, ProgressInterval time.Duration }

// Report says where the result goes; "" for where Kubernetes reads it.
type Report struct{ Result string }

// About is what a manifest says of where the backup comes from, by the keys below and others.
type About map[string]string

// The keys that the operator gives.
const (
	AboutCluster    = "cluster"
	AboutNamespace  = "namespace"
	AboutBackup     = "backup"
	AboutEngine     = "engine"
	AboutImage      = "image"
	AboutClusterUID = "clusterUID"
)

// maxPieceBytes is what S3 takes as one object, in parts of 8 MiB.
const maxPieceBytes = 64 << 30

// ResultPath is the file that the result is written to.
func (r *Report) ResultPath() string {
	if r.Result == "" {
		return ResultFile
	}
	return r.Result
}

// HelpError is the answer to --help.
type HelpError struct{ Usage string }

func (h *HelpError) Error() string { return h.Usage }

const known = "backup, delete, list, probe, restore or install DIR"

// Parse reads the arguments of the program. With an error it returns the call as far as it could be read, or nil.
func Parse(arguments []string) (Call, error) {
	if len(arguments) == 0 {
		return nil, errors.New("say what to do: " + known)
	}
	verb, rest := arguments[0], arguments[1:]
	switch {
	case verb == "backup":
		return parse(verb, rest, &Backup{})
	case verb == "restore":
		return parse(verb, rest, &Restore{})
	case verb == "delete":
		return parse(verb, rest, &Delete{})
	case verb == "list":
		return parse(verb, rest, &List{})
	case verb == "probe":
		return parse(verb, rest, &Probe{})
	case verb == "install" && len(rest) == 1:
		return &Install{Folder: rest[0]}, nil
	}
	return nil, fmt.Errorf("%q is not known: say %s", verb, known)
}

func parse(verb string, arguments []string, call Call) (Call, error) {
	flags, printed := flag.NewFlagSet(Program+" "+verb, flag.ContinueOnError), &strings.Builder{}
	flags.SetOutput(printed)
	for _, option := range call.options() {
		option.define(flags)
	}
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		return call, &HelpError{printed.String()}
	}
	if err != nil {
		return call, err
	}
	err = call.check()
	if command := call.runs(); command != nil {
		*command = flags.Args()
		err = cmp.Or(err, first(rule{len(*command) == 0, "the command must be given after --"}))
	} else {
		err = cmp.Or(err, first(rule{flags.NArg() > 0, "there must be no arguments besides flags"}))
	}
	if err != nil {
		return call, fmt.Errorf("the flags of %s are wrong: %w", flags.Name(), err)
	}
	return call, nil
}

// words are the arguments of a call.
func words(verb string, call Call) []string {
	all := []string{verb}
	for _, option := range call.options() {
		all = append(all, option.words()...)
	}
	if command := call.runs(); command != nil && len(*command) > 0 {
		all = append(append(all, "--"), *command...)
	}
	return all
}

// rule is something that flags must not be, and what is said then.
type rule struct {
	broken bool
	says   string
}

func first(rules ...rule) error {
	for _, rule := range rules {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}
