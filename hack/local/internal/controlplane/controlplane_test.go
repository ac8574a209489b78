package controlplane

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func opened(t *testing.T) Settings {
	t.Helper()
	settings, err := open(filepath.Join(t.TempDir(), "plane"), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

func TestPortsAreKeptAcrossRestarts(t *testing.T) {
	settings := opened(t)
	again, err := open(settings.Dir, false, nil)
	if err != nil || again.Ports != settings.Ports {
		t.Errorf("ports %v became %v, %v", settings.Ports, again.Ports, err)
	}
	ports := []int{settings.Ports.API, settings.Ports.Etcd, settings.Ports.EtcdPeer, settings.Ports.ControllerManager}
	slices.Sort(ports)
	if ports[0] == 0 || len(slices.Compact(ports)) != 4 {
		t.Errorf("ports are not four: %v", ports)
	}
}

func TestAControlPlaneAloneListensOnLoopbackOnly(t *testing.T) {
	for _, command := range opened(t).Commands(&Client{}) {
		for _, argument := range command.Args {
			name, value, _ := strings.Cut(argument, "=")
			listens := name == "--bind-address" || strings.HasPrefix(name, "--listen-")
			if listens && !strings.Contains(value, Loopback) {
				t.Errorf("%s: %s", command.Name, argument)
			}
		}
	}
}

func TestTheAPIServerIsKnownByTheFirstAddressOfItsServices(t *testing.T) {
	identities, err := opened(t).identities()
	if err != nil {
		t.Fatal(err)
	}
	if hosts := identities[0].Hosts; !slices.Contains(hosts, "10.96.0.1") {
		t.Errorf("hosts %v", hosts)
	}
}

func TestDownWithoutAnythingIsASuccess(t *testing.T) {
	if ended, err := Down(t.Context(), filepath.Join(t.TempDir(), "never")); err != nil || len(ended) > 0 {
		t.Errorf("ended %v, %v", ended, err)
	}
}

func TestTheFolderOfARunIsRemovedAfterIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, done, err := Throwaway()
	if err != nil {
		t.Fatal(err)
	}
	done()
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is there still")
	}
}

func TestAFolderInUseIsLeftAloneAndAnAbandonedOneRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	inUse, done, err := Throwaway()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	abandoned := filepath.Join(temporary, throwaway+"abandoned")
	if err := os.Mkdir(abandoned, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(abandoned, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removeAbandoned()
	if _, err := os.Stat(inUse); err != nil {
		t.Errorf("the one in use: %v", err)
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("the abandoned one is there still")
	}
}

func TestACommandsExitCodeIsPassedOn(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 143} {
		settings := Settings{Dir: t.TempDir()}
		t.Setenv("PATH", os.Getenv("PATH"))
		if code, err := settings.Run([]string{"sh", "-c", script}); code != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", script, code, err, want)
		}
	}
}

func TestACommandKnowsTheControlPlane(t *testing.T) {
	settings := Settings{Dir: t.TempDir()}
	t.Setenv("PATH", os.Getenv("PATH"))
	script := `test "$KUBECONFIG" = "$0" && test "$DBC_TEST_KUBECONFIG" = "$0"`
	if code, err := settings.Run([]string{"sh", "-c", script, settings.Kubeconfig(Admin)}); code != 0 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
}

func TestFlagsAreGivenToTheProgramThatTheyName(t *testing.T) {
	settings, err := opened(t).WithFlags([]string{"kube-apiserver:--v=2", "kube-controller-manager:--controllers=a:b", "etcd:--v=3"})
	if err != nil {
		t.Fatal(err)
	}
	commands := settings.Commands(&Client{})
	if !slices.Contains(commands[0].Args, "--v=3") || !slices.Contains(commands[1].Args, "--v=2") || !slices.Contains(commands[2].Args, "--controllers=a:b") {
		t.Errorf("%v", commands)
	}
	for _, bad := range []string{"--v=2", "kubectl:--v=2", "kube-apiserver:v", ""} {
		if _, err := settings.WithFlags([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
