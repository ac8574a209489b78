/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Settings are the flags. Each is read from the environment, too, where the command line does not give
// it: --metrics-bind-address from METRICS_BIND_ADDRESS, and so on.
type Settings struct {
	flags *flag.FlagSet
	zap   zap.Options

	// ShowVersion asks for the version instead of work.
	ShowVersion bool
	concurrency int

	watchNamespace string
	syncPeriod     time.Duration

	referencePeriod time.Duration

	transferImage   string
	dnsServers      string
	installPolicies bool
	installEngines  bool

	leaderElect             bool
	leaderElectionNamespace string
	leaseDuration           time.Duration
	renewDeadline           time.Duration
	retryPeriod             time.Duration

	metricsAddress  string
	metricsCertPath string
	healthAddress   string
}

// Parse reads the flags; an error names the flag or variable and the value.
func Parse(args []string, environment func(string) (string, bool)) (Settings, error) {
	s := Settings{
		flags: flag.NewFlagSet("manager", flag.ContinueOnError),
		zap:   zap.Options{TimeEncoder: zapcore.RFC3339NanoTimeEncoder},
	}
	s.define()
	if err := fromEnvironment(s.flags, environment); err != nil {
		return s, err
	}
	if err := s.flags.Parse(args); err != nil {
		return s, err
	}
	if s.flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q: the operator takes flags only, see --help", s.flags.Arg(0))
	}
	return s, s.validate()
}

func (s *Settings) define() {
	f := s.flags
	f.BoolVar(&s.ShowVersion, "version", false, "Print the version and exit.")
	f.StringVar(&s.watchNamespace, "watch-namespace", "", "Namespaces to work in, separated by commas. Empty: all.")
	f.IntVar(&s.concurrency, "max-concurrent-reconciles", 8, "How many clusters are worked on at once, at least 1.")
	f.DurationVar(&s.syncPeriod, "sync-period", 10*time.Hour, "How often every cluster is looked at although nothing changed.")
	f.DurationVar(&s.referencePeriod, "reference-period", 5*time.Minute,
		"How often the Secrets and ConfigMaps that a spec names are read although nothing else changed, and what protects a cluster. 0: never.")
	f.StringVar(&s.transferImage, "transfer-image", "",
		"Image that holds /transfer, which Jobs for backups and restores copy it from: the operator's own. Empty: there are no such Jobs.")
	f.StringVar(&s.dnsServers, "dns-servers", "",
		"Addresses of name servers outside of the cluster, separated by commas, that the copies of verifications may ask. Empty: those of the operator's own /etc/resolv.conf.")
	f.BoolVar(&s.installEngines, "install-engines", true,
		"Make the DatabaseEngines that come with the operator, where they do not exist. They are never changed or deleted.")
	f.BoolVar(&s.installPolicies, "install-admission-policies", true,
		"Make the admission policies that protect clusters from deletion, where they do not exist. They are never changed or deleted.")
	f.BoolVar(&s.leaderElect, "leader-elect", false, "Work only while holding the lease, so that several replicas can run.")
	f.StringVar(&s.leaderElectionNamespace, "leader-election-namespace", "", "Namespace of the lease. Empty: the one the operator runs in.")
	f.DurationVar(&s.leaseDuration, "lease-duration", 6*time.Second, "How long a leader that does not renew keeps the lease.")
	f.DurationVar(&s.renewDeadline, "lease-renew-deadline", 4*time.Second, "How long a leader tries to renew before it gives up.")
	f.DurationVar(&s.retryPeriod, "lease-retry-period", 800*time.Millisecond, "How long replicas wait between tries to get or renew the lease.")
	f.StringVar(&s.metricsAddress, "metrics-bind-address", "0",
		"Address of the metrics, served over HTTPS to whom the API server authorizes, for example :8443. 0: none.")
	f.StringVar(&s.metricsCertPath, "metrics-cert-path", "",
		"Directory with tls.crt and tls.key for the metrics; replaced files are taken up. Empty: a self-signed certificate.")
	f.StringVar(&s.healthAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz. 0: none.")
	s.zap.BindFlags(f)
	config.RegisterFlags(f)
}

// notFromEnvironment are the flags that the environment does not set: KUBECONFIG, which may be a list,
// is read by the client library itself.
var notFromEnvironment = map[string]bool{"version": true, config.KubeconfigFlagName: true}

// fromEnvironment takes what the environment says about each flag.
func fromEnvironment(flags *flag.FlagSet, environment func(string) (string, bool)) error {
	var failed error
	flags.VisitAll(func(f *flag.Flag) {
		name := strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, found := environment(name)
		if !found || notFromEnvironment[f.Name] || failed != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s is %q, which --%s does not take: %w", name, value, f.Name, err)
		}
	})
	return failed
}

func (s *Settings) validate() error {
	if s.concurrency < 1 {
		return fmt.Errorf("--max-concurrent-reconciles is %d: it must be at least 1", s.concurrency)
	}
	if s.referencePeriod < 0 {
		return fmt.Errorf("--reference-period is %s: it must not be negative", s.referencePeriod)
	}
	if strings.ContainsAny(s.transferImage, " \t\r\n") {
		return fmt.Errorf("--transfer-image is %q: an image has no white space in its name", s.transferImage)
	}
	if _, err := addresses(s.dnsServers); err != nil {
		return fmt.Errorf("--dns-servers is %q: %w", s.dnsServers, err)
	}
	if s.leaseDuration <= s.renewDeadline || s.renewDeadline <= s.retryPeriod {
		return fmt.Errorf("--lease-duration (%s) must be longer than --lease-renew-deadline (%s), and that longer than --lease-retry-period (%s)",
			s.leaseDuration, s.renewDeadline, s.retryPeriod)
	}
	for _, namespace := range s.namespaces() {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			return fmt.Errorf("--watch-namespace names %q, which is no namespace: %s", namespace, problems[0])
		}
	}
	return nil
}

// namespaces to work in; none for all.
func (s *Settings) namespaces() []string {
	return listed(s.watchNamespace)
}

// listed are the parts of a list that is separated by commas.
func listed(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// Logger logs as the flags say.
func (s *Settings) Logger() logr.Logger {
	return zap.New(zap.UseFlagOptions(&s.zap))
}
