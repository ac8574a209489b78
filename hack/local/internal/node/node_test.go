//go:build linux

package node

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"
)

func rendered(t *testing.T, name string) string {
	t.Helper()
	content, err := render(name, values(settings(nil), "/usr/lib/cni"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestEveryConfigurationIsFilledIn(t *testing.T) {
	entries, err := fs.ReadDir(configs, "config")
	if err != nil || len(entries) < 6 {
		t.Fatal(entries, err)
	}
	for _, entry := range entries {
		if content := rendered(t, entry.Name()); content == "" || strings.Contains(content, "{{") {
			t.Errorf("%s:\n%s", entry.Name(), content)
		}
	}
}

func TestTheKubeletKeepsPodsInOurCgroupAndNeverEvicts(t *testing.T) {
	var config struct {
		CgroupRoot   string
		EvictionHard map[string]string
		ClusterDNS   []string
	}
	if err := yaml.Unmarshal([]byte(rendered(t, "kubelet.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	if config.CgroupRoot != "/"+cgroupRoot || config.EvictionHard == nil || !slices.Equal(config.ClusterDNS, []string{address}) {
		t.Errorf("got %+v", config)
	}
}

func TestTheNetworkIsPluggedIntoOurBridge(t *testing.T) {
	var list struct {
		Plugins []struct {
			Bridge string
			IPAM   struct{ DataDir string }
		}
	}
	if err := json.Unmarshal([]byte(rendered(t, "network.conflist")), &list); err != nil {
		t.Fatal(err)
	}
	if plugin := list.Plugins[0]; plugin.Bridge != bridge || !strings.HasPrefix(plugin.IPAM.DataDir, stateDir) {
		t.Errorf("got %+v", plugin)
	}
}

func TestANetworkThatIsTakenIsNamedWithItsInterface(t *testing.T) {
	taken := []network{{"lo", netip.MustParsePrefix("127.0.0.1/8")}, {"tun0", netip.MustParsePrefix("10.244.1.7/16")}}
	err := subnetFree(netip.MustParsePrefix("10.244.0.0/24"), taken)
	if err == nil {
		t.Fatal("it was not refused")
	}
	for _, want := range []string{"10.244.0.0/24", "10.244.0.0/16 of interface tun0", "settings.go"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}

func TestOurOwnBridgeIsNotInTheWay(t *testing.T) {
	taken := []network{{bridge, netip.MustParsePrefix("10.244.0.1/24")}, {"eth0", netip.MustParsePrefix("192.0.2.2/24")}}
	if err := subnetFree(netip.MustParsePrefix("10.244.0.0/24"), taken); err != nil {
		t.Error(err)
	}
}

func TestOnlyMountsAtOrBelowAFolderAreFoundTheLatestFirst(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	folder := t.TempDir()
	ours, other := filepath.Join(folder, "ours"), filepath.Join(folder, "ours-other")
	inside := filepath.Join(ours, "with space")
	for _, path := range []string{ours, inside, other} {
		if err := errors.Join(os.MkdirAll(path, 0o750), syscall.Mount("tmpfs", path, "tmpfs", 0, "")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(path, 0) })
	}
	if got, err := below(ours); !slices.Equal(got, []string{inside, ours}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWithoutRootTheAlternativeIsNamed(t *testing.T) {
	if err := rightUser(1000); err == nil || !strings.Contains(err.Error(), "control-plane up") {
		t.Errorf("got %v", err)
	}
	if err := rightUser(0); err != nil {
		t.Error(err)
	}
}
