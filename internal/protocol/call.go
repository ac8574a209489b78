/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Program is the name of the file with transfer, in its image and where it is installed.
const Program = "transfer"

// Call is what transfer is asked to do. Its fields are its flags: see option.
//
//sumtype:decl
type Call interface {
	// ResultPath is the file that the result is written to.
	ResultPath() string

	check() error
}

// Backup stores what the command prints for one member. The last member's call completes the backup. Without a check
// nothing is checked.
type Backup struct {
	To string `flag:"to" usage:"the <URL> of the backup: s3://bucket/path or file:///path"`
	ID string `flag:"id" usage:"the <UID> of the backup"`
	Part
	About    About    `flag:"about" usage:"<key=value>, which the manifest will hold; may be repeated"`
	Check    []string `flag:"check" usage:"a <word> of the command that prints facts about the data as one JSON object; repeat it for each word"`
	Complete bool     `flag:"complete" usage:"then complete the backup: every member's part has to be there"`
	Store
	PieceSize int64 `flag:"piece-size" default:"1Gi" usage:"the <size> at which the stored stream is cut"`
	Patience
	Report
	Command []string
}

// Restore gives what is stored of one member to the command, which fills a directory with it.
type Restore struct {
	From string `flag:"from" usage:"the <URL> of the backup: s3://bucket/path or file:///path"`
	ID   string `flag:"id" usage:"the <UID> of what is restored: another attempt of it starts again, anything else is refused"`
	Into string `flag:"into" usage:"the empty <directory> that the command fills"`
	Part
	Store
	Patience
	Report
	Command []string
}

// Delete deletes a backup.
type Delete struct {
	At string `flag:"at" usage:"the <URL> of the backup: s3://bucket/path or file:///path"`
	ID string `flag:"id" usage:"the <UID> of the backup"`
	Store
	Report
}

// List prints every complete backup below a location.
type List struct {
	At string `flag:"at" usage:"the <URL> of the backup: s3://bucket/path or file:///path"`
	Store
	JSON bool `flag:"json" usage:"print JSON"`
	Report
}

// Probe runs the command until the database answers.
type Probe struct {
	Timeout    time.Duration `flag:"timeout" default:"5m0s" usage:"how long to try; as long again for --check"`
	ByExitCode bool          `flag:"by-exit-code" usage:"the exit code alone answers: what the command prints is only reported, and an attempt may take the whole timeout"`
	// Without a check nothing is checked.
	Check    []string      `flag:"check" usage:"a <word> of the command that prints facts about the data as one JSON object; repeat it for each word"`
	Interval time.Duration `flag:"interval" default:"1s" usage:"how long to wait between two attempts"`
	Report
	Command []string
}

// Install copies the program into a folder.
type Install struct{ Folder string }

// Part says which member of a backup is meant. While Members is 0 nothing is said, which means the only one.
type Part struct {
	Member  int `flag:"member" usage:"the ordinal of the member"`
	Members int `flag:"members" default:"1" usage:"how many members the backup is of"`
}

// Patience bounds the time in which nothing happens.
type Patience struct {
	IdleTimeout      time.Duration `flag:"idle-timeout" default:"15m0s" usage:"how long an action may print nothing, and a store not answer"`
	ProgressInterval time.Duration `flag:"progress-interval" default:"5s" usage:"how often to report the progress"`
}

// Report says where the result goes; "" for where Kubernetes reads it.
type Report struct {
	Result string `flag:"result" default:"/dev/termination-log" usage:"the <file> that the result is written to, as JSON"`
}

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

// keys are those that the operator gives, in the order above, and then the others.
func (a About) keys() []string {
	known := []string{AboutCluster, AboutNamespace, AboutBackup, AboutEngine, AboutImage, AboutClusterUID}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(key string) bool { return slices.Contains(known, key) })
	return slices.DeleteFunc(append(known, others...), func(key string) bool { _, is := a[key]; return !is })
}

// ResultPath is the file that the result is written to.
func (r *Report) ResultPath() string {
	if r.Result == "" {
		return ResultFile
	}
	return r.Result
}

// Args are the arguments of the program.
func Args(call Call) []string {
	if install, is := call.(*Install); is {
		return []string{"install", install.Folder}
	}
	all := []string{verb(call)}
	for _, option := range options(call) {
		if option.given() {
			all = append(all, option.words()...)
		}
	}
	if command := commandOf(call); command != nil && len(*command) > 0 {
		all = append(append(all, "--"), *command...)
	}
	return all
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
	if arguments[0] == "install" && len(arguments) == 2 {
		return &Install{Folder: arguments[1]}, nil
	}
	for _, call := range []Call{&Backup{}, &Restore{}, &Delete{}, &List{}, &Probe{}} {
		if verb(call) == arguments[0] {
			return call, parse(arguments[1:], call)
		}
	}
	return nil, fmt.Errorf("%q is not known: say %s", arguments[0], known)
}

func parse(arguments []string, call Call) error {
	flags, printed := flag.NewFlagSet(Program+" "+verb(call), flag.ContinueOnError), &strings.Builder{}
	flags.SetOutput(printed)
	for _, option := range options(call) {
		option.define(flags)
	}
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		return &HelpError{printed.String()}
	}
	if err != nil {
		return err
	}
	command := commandOf(call)
	if command != nil {
		*command = flags.Args()
	}
	if err := cmp.Or(call.check(), first(
		rule{command != nil && flags.NArg() == 0, "the command must be given after --"},
		rule{command == nil && flags.NArg() > 0, "there must be no arguments besides flags"},
	)); err != nil {
		return fmt.Errorf("the flags of %s are wrong: %w", flags.Name(), err)
	}
	return nil
}

// verb is the first argument: the name of the type of the call.
func verb(call Call) string { return strings.ToLower(reflect.TypeOf(call).Elem().Name()) }

// commandOf is what follows the flags; nil for a call that runs no command.
func commandOf(call Call) *[]string {
	field := reflect.ValueOf(call).Elem().FieldByName("Command")
	if !field.IsValid() {
		return nil
	}
	command, _ := reflect.TypeAssert[*[]string](field.Addr())
	return command
}

func (b *Backup) check() error {
	return cmp.Or(b.Store.check(b.To, true), needsID(b.ID), b.Part.check())
}

func (r *Restore) check() error {
	return cmp.Or(r.Store.check(r.From, true), needsID(r.ID), r.Part.check(), first(rule{r.Into == "", "--into must be given"}))
}

func (d *Delete) check() error  { return cmp.Or(d.Store.check(d.At, true), needsID(d.ID)) }
func (l *List) check() error    { return l.Store.check(l.At, false) }
func (p *Probe) check() error   { return nil }
func (i *Install) check() error { return nil }

// ResultPath is where Kubernetes reads it.
func (i *Install) ResultPath() string { return ResultFile }

func (p *Part) check() error {
	return first(rule{p.Member < 0 || p.Member >= p.Members, "--member must be from 0 to below --members"})
}

func needsID(id string) error { return first(rule{id == "", "--id must be given"}) }

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
