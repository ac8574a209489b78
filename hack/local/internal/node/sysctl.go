//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// wanted are the kernel settings that pods need to reach each other and the internet.
var wanted = map[string]string{
	"net/ipv4/ip_forward": "1",
	// A response of a Service from a pod on the same bridge must pass the NAT rules of the request.
	"net/bridge/bridge-nf-call-iptables": "1",
}

// changedByKubelet are the settings that a kubelet overwrites at its start.
var changedByKubelet = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

func sysctlPath(name string) string { return filepath.Join("/proc/sys", name) }

// setSysctls saves the previous values once, for restoreSysctls.
func setSysctls() error {
	if _, err := os.Stat(keptSysctls()); err != nil {
		before := map[string]string{}
		for _, name := range append(slices.Collect(maps.Keys(wanted)), changedByKubelet...) {
			if value, err := os.ReadFile(sysctlPath(name)); err == nil {
				before[name] = string(value)
			}
		}
		content, err := json.MarshalIndent(before, "", "  ")
		if err := errors.Join(err, files.Write(keptSysctls(), content, 0o644)); err != nil {
			return fmt.Errorf("keep the kernel settings: %w", err)
		}
	}
	for name, value := range wanted {
		if err := os.WriteFile(sysctlPath(name), []byte(value), 0); err != nil {
			return fmt.Errorf("set kernel setting %s to %s (does this kernel have br_netfilter?): %w", name, value, err)
		}
	}
	return nil
}

func restoreSysctls() error {
	content, err := os.ReadFile(keptSysctls())
	if err != nil {
		return nil //nolint:nilerr // nothing was kept, so nothing was changed
	}
	var before map[string]string
	if err := json.Unmarshal(content, &before); err != nil {
		return fmt.Errorf("read the kernel settings from before: %w", err)
	}
	var problems []error
	for name, value := range before {
		if now, err := os.ReadFile(sysctlPath(name)); err == nil && string(now) != value {
			problems = append(problems, os.WriteFile(sysctlPath(name), []byte(value), 0))
		}
	}
	return errors.Join(problems...)
}

func keptSysctls() string { return state("sysctls-before.json") }
