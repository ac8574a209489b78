/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Program is the file name of the transfer binary in its image and in the directory into which it is installed.
const Program = "transfer"

// Call is the command line of transfer. The fields of a call are its flags: see option.
//
//sumtype:decl
type Call interface {
	// ResultPath returns the file that transfer writes its result to.
	ResultPath() string

	check() error
}

// Backup stores the output of the command for one member. The call for the last member completes the backup. If Check
// is empty, transfer checks nothing.
type Backup struct {
	To string `flag:"to" usage:"the <URL> of the backup: s3://bucket/path or file:///path"`
	ID string `flag:"id" usage:"the <UID> of the backup"`
	Part
	About About    `flag:"about" usage:"<key=value> to store in the manifest; may be repeated"`
	Check []string `flag:"check" usage:"a <word> of the command that prints facts about the data as one JSON object; repeat it for each word"`
	// Index and Reuse are for data that later backups can refer to, see package reuse.
	Index    bool   `flag:"index" usage:"store an index, so that later backups need not store the same data again"`
	Reuse    string `flag:"reuse" usage:"the <URL> of an earlier backup beside this one, to whose data the backup may refer; needs --index"`
	Complete bool   `flag:"complete" usage:"complete the backup afterward; every member must be stored"`
	Store
	PieceSize int64 `flag:"piece-size" default:"1Gi" usage:"the maximum <size> of a stored object"`
	Compression
	Timing
	Report
	Command []string
}

// Restore streams the stored data of one member to the command, which writes it into a directory.
type Restore struct {
	From string `flag:"from" usage:"the <URL> of the backup: s3://bucket/path or file:///path"`
	ID   string `flag:"id" usage:"the <UID> of the restore: another attempt with this UID starts again, a different UID is refused"`
	Into string `flag:"into" usage:"the empty <directory> that the command fills"`
	Part
	Store
	Timing
	// Recover replays the archive beside the backup after the command. If it is empty, nothing is replayed.
	Recover []string `flag:"recover" usage:"a <word> of the command that replays the archive afterward; repeat it for each word"`
	Until   string   `flag:"until" usage:"the <time> until which commits are replayed, in RFC 3339 (default: the end of the archive)"`
	Point   string   `flag:"point" usage:"the <name> of the point in the log until which commits are replayed"`
	Report
	Command []string
}

// Initialize runs the command, which creates the first data in a directory.
type Initialize struct {
	ID   string `flag:"id" usage:"the <UID> of the data: another attempt with this UID starts again, a different UID is refused"`
	Into string `flag:"into" usage:"the empty <directory> that the command fills"`
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
	Timeout    time.Duration `flag:"timeout" default:"5m0s" usage:"the time limit of the probe; --check has the same limit again"`
	ByExitCode bool          `flag:"by-exit-code" usage:"use only the exit code as the answer: the output is reported, and one attempt may use the whole timeout"`
	// If Check is empty, transfer checks nothing.
	Check    []string      `flag:"check" usage:"a <word> of the command that prints facts about the data as one JSON object; repeat it for each word"`
	Interval time.Duration `flag:"interval" default:"1s" usage:"the time between two attempts"`
	Report
	Command []string
}

// Reload runs the command for each member until the member serves a certificate. The command finds the host of the
// member in DBC_MEMBER.
type Reload struct {
	Members []string `flag:"member" usage:"the <host> of a member; repeat it for each member"`
	Port    int      `flag:"port" usage:"the TCP <port> of the members"`
	Folder  string   `flag:"certificates" usage:"the <directory> with tls.crt, which members should serve, and ca.crt"`
	// Request and Response are what a client and the server send before the TLS handshake.
	Request  string        `flag:"request" usage:"the <bytes> to send before the TLS handshake, in hexadecimal form"`
	Response string        `flag:"response" usage:"the <bytes> with which the server accepts, in hexadecimal form"`
	Timeout  time.Duration `flag:"timeout" default:"5m0s" usage:"the time limit of this attempt"`
	Interval time.Duration `flag:"interval" default:"3s" usage:"the time between two reloads of a member"`
	Report
	Command []string
}

// Install copies the program into a directory.
type Install struct{ Folder string }

// Part identifies a member of a backup. Members == 0 means a backup with a single member.
type Part struct {
	Member  int `flag:"member" usage:"the ordinal of the member"`
	Members int `flag:"members" default:"1" usage:"the number of members in the backup"`
}

// Timing bounds the time without progress.
type Timing struct {
	IdleTimeout      time.Duration `flag:"idle-timeout" default:"15m0s" usage:"the time after which a silent action or an unresponsive store fails"`
	ProgressInterval time.Duration `flag:"progress-interval" default:"5s" usage:"the time between two progress reports"`
}

// Report sets the result file. The default is the termination message of Kubernetes.
type Report struct {
	Result string `flag:"result" default:"/dev/termination-log" usage:"the <file> for the result, as JSON"`
}

// About records the origin of a backup in its manifest, by the keys below and others.
type About map[string]string

// The keys that the operator sets.
const (
	AboutCluster    = "cluster"
	AboutNamespace  = "namespace"
	AboutBackup     = "backup"
	AboutEngine     = "engine"
	AboutImage      = "image"
	AboutClusterUID = "clusterUID"
)

// keys returns the operator's keys, in the order above, and then the others.
func (a About) keys() []string {
	known := []string{AboutCluster, AboutNamespace, AboutBackup, AboutEngine, AboutImage, AboutClusterUID}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(key string) bool { return slices.Contains(known, key) })
	return slices.DeleteFunc(append(known, others...), func(key string) bool { _, is := a[key]; return !is })
}

// ResultPath is the path of the result of a call.
func (r *Report) ResultPath() string {
	if r.Result == "" {
		return ResultFile
	}
	return r.Result
}

// Args returns the arguments of the program.
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

// HelpError is the error for --help.
type HelpError struct{ Usage string }

func (h *HelpError) Error() string { return h.Usage }

const known = "archive, backup, delete, fetch, initialize, lag, list, objects, probe, recover, reload, restore, search, window or " +
	"install DIR"

// Parse parses the arguments of the program. With an error it returns the fields that it could parse, or nil.
func Parse(arguments []string) (Call, error) {
	if len(arguments) == 0 {
		return nil, errors.New("a command is required: " + known)
	}
	if arguments[0] == "install" && len(arguments) == 2 {
		return &Install{Folder: arguments[1]}, nil
	}
	for _, call := range []Call{
		&Archive{}, &Backup{}, &Restore{}, &Initialize{}, &Delete{}, &List{}, &Probe{}, &Reload{}, &Fetch{}, &Recover{}, &Lag{},
		&Window{}, &Search{}, &Objects{},
	} {
		if verb(call) == arguments[0] {
			return call, parse(arguments[1:], call)
		}
	}
	return nil, fmt.Errorf("unknown command %q: use %s", arguments[0], known)
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
		rule{command != nil && flags.NArg() == 0, "a command is required after --"},
		rule{command == nil && flags.NArg() > 0, "only flags are allowed as arguments"},
	)); err != nil {
		return fmt.Errorf("invalid flags of %s: %w", flags.Name(), err)
	}
	return nil
}

// verb is the first argument: the type name of the call.
func verb(call Call) string { return strings.ToLower(reflect.TypeOf(call).Elem().Name()) }

// commandOf returns the arguments after the flags, or nil if the call runs no command.
func commandOf(call Call) *[]string {
	field := reflect.ValueOf(call).Elem().FieldByName("Command")
	if !field.IsValid() {
		return nil
	}
	command, _ := reflect.TypeAssert[*[]string](field.Addr())
	return command
}

func (r *Restore) check() error {
	_, err := moment("--until", r.Until)
	return cmp.Or(r.Store.check(r.From, true), needsID(r.ID), r.Part.check(), err, first(
		rule{r.Into == "", "--into is required"},
		rule{r.Until+r.Point != "" && len(r.Recover) == 0, "--until and --point need --recover"}, onlyOne(r.Until, r.Point),
	))
}

func (i *Initialize) check() error {
	return cmp.Or(needsID(i.ID), first(rule{i.Into == "", "--into is required"}))
}

func (d *Delete) check() error  { return cmp.Or(d.Store.check(d.At, true), needsID(d.ID)) }
func (l *List) check() error    { return l.Store.check(l.At, false) }
func (p *Probe) check() error   { return nil }
func (i *Install) check() error { return nil }

func (r *Reload) check() error {
	_, request := hex.DecodeString(r.Request)
	_, response := hex.DecodeString(r.Response)
	return first(
		rule{len(r.Members) == 0, "--member is required"},
		rule{r.Port < 1 || r.Port > 65535, "--port must be 1 to 65535"},
		rule{r.Folder == "", "--certificates is required"},
		rule{request != nil || response != nil, "--request and --response must be hexadecimal digits"},
	)
}

// ResultPath returns the file that Kubernetes reads.
func (i *Install) ResultPath() string { return ResultFile }

func (p *Part) check() error {
	return first(rule{p.Member < 0 || p.Member >= p.Members, "--member must be at least 0 and below --members"})
}

func needsID(id string) error { return first(rule{id == "", "--id is required"}) }

// rule is a forbidden combination of flags and its error message.
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
