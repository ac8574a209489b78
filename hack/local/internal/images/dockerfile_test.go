package images

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dockerfiles are the recipes of the Dockerfiles in config/engines, by the folder.
var dockerfiles = map[string]recipe{
	"postgresql-v1/image": patroni, "postgresql-v1/image/pgbouncer": pgBouncer, "etcd-v1/image": etcd, "memcached-v1/image": memcached,
}

const install = "apt-get install --yes --no-install-recommends "

var version = regexp.MustCompile(`=\S+`)

func TestADockerfileRunsTheCommandsOfTheRecipe(t *testing.T) {
	for name, recipe := range dockerfiles {
		text := dockerfile(t, name)
		if from := "FROM debian:" + recipe.release + "-slim\n"; !strings.Contains(text, from) {
			t.Errorf("the Dockerfile of %s has no line %q", name, from)
		}
		found := commands(text)
		for _, want := range commands(recipe.provision) {
			at := slices.IndexFunc(found, func(command string) bool { return withoutVersions(command) == want })
			switch {
			case at >= 0:
				found = found[at+1:] // the order matters
			case want != "rm -rf /run/* /tmp/*": // Docker mounts files there
				t.Errorf("the Dockerfile of %s does not run, or not in this order: %s", name, want)
			}
		}
	}
}

func TestADockerfileHasTheVersionOfEachPackage(t *testing.T) {
	for name := range dockerfiles {
		for _, command := range commands(dockerfile(t, name)) {
			packages, found := strings.CutPrefix(command, install)
			if found && len(version.FindAllString(packages, -1)) != len(strings.Fields(packages)) {
				t.Errorf("the Dockerfile of %s installs a package of any version: %s", name, packages)
			}
		}
	}
}

func TestADockerfileConfiguresTheImageLikeTheRecipe(t *testing.T) {
	for name, recipe := range dockerfiles {
		config := recipe.configOf("")
		ports := strings.ReplaceAll(strings.Join(slices.Sorted(maps.Keys(config.ExposedPorts)), " "), "/tcp", "")
		want := []string{"ENV " + strings.Join(config.Env, " "), "USER " + config.User, "EXPOSE " + ports, `CMD ["` + config.Cmd[0] + `"]`}
		if _, got, _ := strings.Cut(dockerfile(t, name), "\nEOF\n"); got != strings.Join(want, "\n")+"\n" {
			t.Errorf("the Dockerfile of %s ends with\n%s\nwant %q", name, got, want)
		}
	}
}

func dockerfile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "config", "engines", name, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commands returns the commands of a script, one a line. The functions of debian/begin.sh are expanded.
func commands(script string) []string {
	var all []string
	for line := range strings.Lines(strings.ReplaceAll(script, "\\\n", "")) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case fields[0] == "add_user":
			user, home := fields[1], fields[2]
			all = append(all, "groupadd --system --gid 999 "+user,
				"useradd --system --uid 999 --gid "+user+" --no-create-home --home-dir "+home+" "+user)
		case fields[0] == "add_packages":
			all = append(all, install+strings.Join(fields[1:], " "))
		default:
			all = append(all, strings.Join(fields, " "))
		}
	}
	return all
}

func withoutVersions(command string) string {
	if !strings.HasPrefix(command, install) {
		return command
	}
	return version.ReplaceAllString(command, "")
}
