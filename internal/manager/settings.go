/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Settings are the flags. A flag that is not on the command line is read from the environment:
// --metrics-bind-address from METRICS_BIND_ADDRESS, and so on.
type Settings struct {
	flags *flag.FlagSet
	zap   zap.Options

	// ShowVersion requests the version only.
	ShowVersion bool
	concurrency int

	watchNamespace string
	syncPeriod     time.Duration

	referencePeriod time.Duration

	kubeletAuthority string

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
	pprofAddress    string
}

// Parse reads the flags. An error names the flag or variable and the value.
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
		return s, fmt.Errorf("unexpected argument %q: the operator accepts only flags, see --help", s.flags.Arg(0))
	}
	return s, s.validate()
}

func (s *Settings) define() {
	f := s.flags
	f.BoolVar(&s.ShowVersion, "version", false, "Print the version and exit.")
	f.StringVar(&s.watchNamespace, "watch-namespace", "", "Namespaces to watch, separated by commas. Empty: all namespaces.")
	f.IntVar(&s.concurrency, "max-concurrent-reconciles", 8, "Maximum number of clusters that are reconciled at the same time, at least 1.")
	f.DurationVar(&s.syncPeriod, "sync-period", 10*time.Hour, "Interval at which every cluster is reconciled without a change.")
	f.DurationVar(&s.referencePeriod, "reference-period", 5*time.Minute,
		"Interval at which the operator reads referenced Secrets and ConfigMaps, and the admission policies that protect clusters. It does not "+
			"watch them. 0: never.")
	f.StringVar(&s.transferImage, "transfer-image", "",
		"Image with the binary /transfer for backup and restore Jobs: the operator's own image. Empty: the operator creates no such Jobs.")
	f.StringVar(&s.dnsServers, "dns-servers", "",
		"IP addresses of DNS servers outside the cluster, separated by commas, that temporary copies of verifications may use. Empty: those in "+
			"the operator's /etc/resolv.conf.")
	f.StringVar(&s.kubeletAuthority, "kubelet-certificate-authority", "",
		"File with the CAs that sign the certificates of kubelets, in addition to the CA of the API server. Kubelets are asked only about "+
			"clusters with spec.storage.autoGrow or spec.storage.usage.")
	f.BoolVar(&s.installEngines, "install-engines", true,
		"Create missing built-in DatabaseEngines. The operator never changes or deletes them.")
	f.BoolVar(&s.installPolicies, "install-admission-policies", true,
		"Create missing admission policies that protect clusters from deletion. The operator never changes or deletes them.")
	f.BoolVar(&s.leaderElect, "leader-elect", false, "Use leader election, so that only one of several replicas is active.")
	f.StringVar(&s.leaderElectionNamespace, "leader-election-namespace", "",
		"Namespace of the leader election Lease. Empty: the operator's namespace.")
	f.DurationVar(&s.leaseDuration, "lease-duration", 6*time.Second,
		"Duration after which another replica can take over a Lease that the leader has not renewed.")
	f.DurationVar(&s.renewDeadline, "lease-renew-deadline", 4*time.Second,
		"Duration for which the leader retries to renew the Lease before it exits.")
	f.DurationVar(&s.retryPeriod, "lease-retry-period", 800*time.Millisecond, "Interval between attempts to acquire or renew the Lease.")
	f.StringVar(&s.metricsAddress, "metrics-bind-address", "0",
		"Address of the metrics endpoint, for example :8443. It uses HTTPS and serves only clients that the API server authorizes. 0: disabled.")
	f.StringVar(&s.metricsCertPath, "metrics-cert-path", "",
		"Directory with tls.crt and tls.key for the metrics endpoint; changed files are reloaded. Empty: a self-signed certificate.")
	f.StringVar(&s.healthAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz. 0: disabled.")
	f.StringVar(&s.pprofAddress, "pprof-bind-address", "0",
		"Address of the profiles of Go at /debug/pprof, for example 127.0.0.1:6060. It authorizes every client, so it must be on loopback. 0: "+
			"disabled.")
	s.zap.BindFlags(f)
	config.RegisterFlags(f)
}

// notFromEnvironment are the flags that are not read from the environment. The client library reads KUBECONFIG,
// which may be a list.
var notFromEnvironment = map[string]bool{"version": true, config.KubeconfigFlagName: true}

// fromEnvironment sets flags from environment variables.
func fromEnvironment(flags *flag.FlagSet, environment func(string) (string, bool)) error {
	var failed error
	flags.VisitAll(func(f *flag.Flag) {
		name := strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, found := environment(name)
		if !found || notFromEnvironment[f.Name] || failed != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s is %q, which is not valid for --%s: %w", name, value, f.Name, err)
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
		return fmt.Errorf("--transfer-image is %q: an image name must not contain white space", s.transferImage)
	}
	if _, err := addresses(s.dnsServers); err != nil {
		return fmt.Errorf("--dns-servers is %q: %w", s.dnsServers, err)
	}
	if s.leaseDuration <= s.renewDeadline || s.renewDeadline <= s.retryPeriod {
		return fmt.Errorf(
			"--lease-duration (%s) must be longer than --lease-renew-deadline (%s), which must be longer than --lease-retry-period (%s)",
			s.leaseDuration, s.renewDeadline, s.retryPeriod)
	}
	if err := onLoopback(s.pprofAddress); err != nil {
		return fmt.Errorf("--pprof-bind-address is %q: %w", s.pprofAddress, err)
	}
	for _, namespace := range s.namespaces() {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			return fmt.Errorf("--watch-namespace names %q, which is not a valid namespace: %s", namespace, problems[0])
		}
	}
	return nil
}

// onLoopback reports an address that other machines can reach, unless the endpoint is disabled.
func onLoopback(address string) error {
	if address == "0" || address == "" {
		return nil
	}
	parsed, err := netip.ParseAddrPort(address)
	if err != nil || !parsed.Addr().IsLoopback() {
		return errors.New("it must be an address on loopback with a port, such as 127.0.0.1:6060")
	}
	return nil
}

// namespaces to watch; none for all.
func (s *Settings) namespaces() []string {
	return listed(s.watchNamespace)
}

// listed returns the elements of a list separated by commas.
func listed(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// bodies is the level at which client-go logs the bodies of requests and responses, and so the content of Secrets.
const bodies = zapcore.Level(-8)

// withoutBodies disables that level.
type withoutBodies struct{ zapcore.LevelEnabler }

// Enabled reports whether a level is logged.
func (l withoutBodies) Enabled(level zapcore.Level) bool {
	return level > bodies && l.LevelEnabler.Enabled(level)
}

// Logger is configured by the flags.
func (s *Settings) Logger() logr.Logger {
	options := s.zap
	if options.Level != nil {
		options.Level = withoutBodies{options.Level}
	}
	return zap.New(zap.UseFlagOptions(&options))
}
