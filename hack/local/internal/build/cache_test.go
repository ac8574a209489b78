package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func someRecipe() recipe {
	return recipe{
		family: "kubernetes", version: "v1.36.3", flags: []string{"-trimpath"}, goVersion: "go1.26.0",
		goMod: []byte("module m"), goSum: []byte("sum"),
	}
}

func TestTheSameRecipeHasTheSameKey(t *testing.T) {
	key := someRecipe().key()
	if key != someRecipe().key() {
		t.Errorf("the key changed from %s to %s", key, someRecipe().key())
	}
	if !strings.HasPrefix(key, "kubernetes-v1.36.3-") {
		t.Errorf("key %s does not begin with the family and its version", key)
	}
}

func TestWhateverChangesABinaryChangesItsKey(t *testing.T) {
	for what, change := range map[string]func(*recipe){
		"go.mod":              func(r *recipe) { r.goMod = []byte("module n") },
		"go.sum":              func(r *recipe) { r.goSum = []byte("other") },
		"Go's version":        func(r *recipe) { r.goVersion = "go1.26.1" },
		"a flag":              func(r *recipe) { r.flags = []string{"-race"} },
		"the border of files": func(r *recipe) { r.goMod, r.goSum = []byte("module ms"), []byte("um") },
	} {
		changed := someRecipe()
		change(&changed)
		if changed.key() == someRecipe().key() {
			t.Errorf("another %s left the key as it was", what)
		}
	}
}

func TestEveryToolIsPinnedByTheGoModOfItsFolder(t *testing.T) {
	for _, tool := range Tools {
		path := filepath.Join("..", "..", "..", "tools", tool.module.folder, "go.mod")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, module := range []string{tool.module.main, tool.versioned} {
			if module == "" {
				continue
			}
			if _, err := requiredVersion(content, module); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
		if !names(t, content, tool.Package) {
			t.Errorf("%s has no tool directive for %s", path, tool.Package)
		}
	}
}

func names(t *testing.T, goMod []byte, pkg string) bool {
	t.Helper()
	parsed, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(parsed.Tool, func(tool *modfile.Tool) bool { return tool.Path == pkg })
}

func TestAModuleThatIsNotRequiredIsNamed(t *testing.T) {
	_, err := requiredVersion([]byte("module example.org/tools\n"), "k8s.io/kubernetes")
	if err == nil || !strings.Contains(err.Error(), "example.org/tools does not require k8s.io/kubernetes") {
		t.Errorf("got %v", err)
	}
}

func TestKubernetesIsStampedWithItsVersion(t *testing.T) {
	flags := strings.Join(kubernetes.flags("v1.36.3"), " ")
	for _, want := range []string{"version.gitVersion=v1.36.3", "version.gitMajor=1", "version.gitMinor=36"} {
		if !strings.Contains(flags, want) {
			t.Errorf("no %s in %s", want, flags)
		}
	}
}

func TestAToolThatIsNotKnownIsRefusedWithTheNamesOfAll(t *testing.T) {
	_, err := Find("kubctl")
	if err == nil || !strings.Contains(err.Error(), `"kubctl" is not known`) || !strings.Contains(err.Error(), "kubectl") {
		t.Errorf("got %v", err)
	}
}

func TestOnlyValeIsBuiltWithACompilerOfC(t *testing.T) {
	for _, tool := range Tools {
		want := "CGO_ENABLED=0"
		if tool.Name == "vale" {
			want = "CGO_ENABLED=1"
		}
		if got := tool.module.compiler(); got != want {
			t.Errorf("%s is built with %s, want %s", tool.Name, got, want)
		}
	}
}

func TestToolsAreBuiltInTheOrderOfTheirTimes(t *testing.T) {
	got := inOrder([]string{"kube-scheduler", "coredns", "kube-apiserver", "etcd"})
	if want := []string{"kube-apiserver", "etcd", "kube-scheduler", "coredns"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
