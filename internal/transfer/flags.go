/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// run is one call of the program: what its flags say, and whom it tells.
type run struct {
	log     *slog.Logger
	stdout  io.Writer
	secrets []string // never to be told
	result  string
	command []string
	// checkCommand prints facts about the data; none: nothing is checked.
	checkCommand []string

	url      string
	location location
	store    storeOptions
	id       string
	member   int
	members  int

	// backup and restore
	keys keys
	// backup
	attempt   string // unique to this call
	about     map[string]string
	complete  bool
	pieceSize int64
	// restore
	into string
	// backup and restore
	idleTimeout      time.Duration
	progressInterval time.Duration
	// list
	json bool
	// probe
	timeout, interval time.Duration
	byExitCode        bool
}

func (r *run) parse(arguments []string, define func(*run, *flag.FlagSet)) error {
	flags := flag.NewFlagSet("transfer "+arguments[0], flag.ContinueOnError)
	flags.SetOutput(r.stdout)
	flags.Usage = func() { usage(flags, r.stdout) }
	flags.StringVar(&r.result, "result", terminationLog, "the `file` that the result is written to, as JSON")
	define(r, flags)
	if err := quietly(flags, arguments[1:]); err != nil {
		return err
	}
	r.command = flags.Args()
	if err := r.check(flags); err != nil {
		return fmt.Errorf("the flags of %s are wrong: %w", flags.Name(), err)
	}
	return nil
}

// quietly leaves it to the caller to tell of an error.
func quietly(flags *flag.FlagSet, arguments []string) error {
	usage := flags.Usage
	flags.Usage = func() {}
	flags.SetOutput(io.Discard)
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		usage()
	}
	return err
}

func usage(flags *flag.FlagSet, out io.Writer) {
	flags.SetOutput(out)
	fmt.Fprintf(out, "Usage of %s:\n", flags.Name())
	flags.PrintDefaults()
}

// rule is something that flags must not be, and what is said then.
type rule struct {
	broken bool
	says   string
}

// check refuses what is missing or out of bounds.
func (r *run) check(flags *flag.FlagSet) error {
	has := func(name string) bool { return flags.Lookup(name) != nil }
	var rules []rule
	if has("root") {
		if err := r.parseLocation(); err != nil {
			return err
		}
		rules = append(rules, r.locationRules(has("id"))...)
	}
	if has("member") {
		rules = append(rules, rule{r.member < 0 || r.member >= r.members, "--member must be from 0 to below --members"})
	}
	takesCommand := has("member") || has("timeout")
	rules = append(rules,
		rule{has("into") && r.into == "", "--into must be given"},
		rule{takesCommand && len(r.command) == 0, "the command must be given after --"},
		rule{!takesCommand && len(r.command) > 0, "there must be no arguments besides flags"})
	for _, rule := range rules {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}

func (r *run) parseLocation() (err error) {
	if r.location, err = parseLocation(r.url); err != nil || r.store.endpoint == "" {
		return err
	}
	return checkEndpoint(r.store.endpoint)
}

func (r *run) locationRules(ofOneBackup bool) []rule {
	return []rule{
		{r.location.scheme == "file" && r.store.root == "", "--root must be given: the folder that file:// locations are below"},
		{r.store.credentials != "" && r.store.workloadIdentity, "--credentials and --workload-identity exclude each other"},
		{ofOneBackup && r.id == "", "--id must be given"},
		{ofOneBackup && r.location.path == "", "the location must have a path, which is the folder of one backup"},
	}
}

func (r *run) backupFlags(flags *flag.FlagSet) {
	r.about = map[string]string{}
	r.pieceSize = 1 << 30
	r.storeFlags(flags, "to")
	r.memberFlags(flags)
	flags.StringVar(&r.id, "id", "", "the `UID` of the backup")
	r.checkFlag(flags)
	flags.BoolVar(&r.complete, "complete", false, "then complete the backup: every member's part has to be there")
	flags.Func("about", "`key=value`, which the manifest will hold; may be repeated", func(text string) error {
		key, value, found := strings.Cut(text, "=")
		if !found || key == "" {
			return errors.New("it must be key=value")
		}
		r.about[key] = value
		return nil
	})
	flags.Func("piece-size", "the `size` at which the stored stream is cut (default 1Gi)", r.setPieceSize)
}

func (r *run) restoreFlags(flags *flag.FlagSet) {
	r.storeFlags(flags, "from")
	r.memberFlags(flags)
	flags.StringVar(&r.id, "id", "", "the `UID` of what is restored: another try of it begins anew, anything else is refused")
	flags.StringVar(&r.into, "into", "", "the empty `directory` that the command fills")
}

func (r *run) deleteFlags(flags *flag.FlagSet) {
	r.storeFlags(flags, "at")
	flags.StringVar(&r.id, "id", "", "the `UID` of the backup")
}

func (r *run) listFlags(flags *flag.FlagSet) {
	r.storeFlags(flags, "at")
	flags.BoolVar(&r.json, "json", false, "print JSON")
}

func (r *run) probeFlags(flags *flag.FlagSet) {
	r.checkFlag(flags)
	positive(flags, &r.timeout, "timeout", 5*time.Minute, "how long to try; as long again for --check")
	positive(flags, &r.interval, "interval", time.Second, "how long to wait between two tries")
	flags.BoolVar(&r.byExitCode, "by-exit-code", false, "the exit code alone answers: what the command prints is only told, and a try may take as long as all")
}

func (r *run) memberFlags(flags *flag.FlagSet) {
	flags.IntVar(&r.member, "member", 0, "the ordinal of the member")
	flags.IntVar(&r.members, "members", 1, "how many members the backup is of")
	positive(flags, &r.idleTimeout, "idle-timeout", 15*time.Minute, "how long an action may print nothing, and a store not answer")
	positive(flags, &r.progressInterval, "progress-interval", 5*time.Second, "how often to tell the progress")
}

func (r *run) storeFlags(flags *flag.FlagSet, name string) {
	// They are parsed later: the library would tell the whole value, and there might be a password in it.
	flags.StringVar(&r.url, name, "", "the `URL` of the backup: s3://bucket/path or file:///path")
	flags.StringVar(&r.store.endpoint, "endpoint", "", "the `URL` of an S3 service that is not Amazon's")
	flags.StringVar(&r.store.region, "region", "", "the region of the bucket (default "+defaultRegion+")")
	flags.StringVar(&r.store.credentials, "credentials", "", "the `folder` with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN and ca.crt where they are needed")
	flags.BoolVar(&r.store.workloadIdentity, "workload-identity", false, "use the identity that the platform gives the pod's ServiceAccount, instead of --credentials")
	flags.StringVar(&r.store.encryption, "encryption", "", "the `folder` with the file identity, the secret keys of age: backups are encrypted for the first")
	flags.StringVar(&r.store.sse, "server-side-encryption", "", "what the S3 service is asked to encrypt with: AES256 or aws:kms")
	flags.StringVar(&r.store.kmsKeyID, "kms-key-id", "", "the `key` for --server-side-encryption aws:kms (default the service's own)")
	flags.StringVar(&r.store.root, "root", "", "the `folder` that file:// locations are below")
}

func (r *run) setPieceSize(text string) error {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return err
	}
	r.pieceSize = quantity.Value()
	if r.pieceSize < 1 || r.pieceSize > maxPieceBytes {
		return fmt.Errorf("it must be from 1 to %dGi", maxPieceBytes>>30)
	}
	return nil
}

func positive(flags *flag.FlagSet, into *time.Duration, name string, value time.Duration, usage string) {
	*into = value
	flags.Func(name, fmt.Sprintf("%s (default %s)", usage, value), func(text string) (err error) {
		*into, err = time.ParseDuration(text)
		if err == nil && *into <= 0 {
			err = errors.New("it must be above 0")
		}
		return err
	})
}
