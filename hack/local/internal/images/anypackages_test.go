package images

import (
	"strings"
	"testing"
)

func TestAnImageOfPackagesInstallsThemInOneCommand(t *testing.T) {
	image, err := recipeOf(Options{Reference: "localhost/valkey:8", Packages: []string{"valkey-server", "valkey-tools"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(image.script(), "\nadd_packages valkey-server valkey-tools\n") {
		t.Errorf("the packages are not installed:\n%s", image.script())
	}
	if config := image.configOf("8.1"); config.User != "999:999" || config.Labels[labelVersion] != "8.1" || config.Entrypoint != nil {
		t.Errorf("the configuration is %+v", config)
	}
}

func TestAnImageOfPackagesNeedsANameAndNamesOfPackages(t *testing.T) {
	for want, options := range map[string]Options{
		"give --ref":          {Packages: []string{"valkey-server"}},
		"and --packages":      {Reference: "localhost/valkey:8"},
		`"a;reboot" is no`:    {Reference: "localhost/valkey:8", Packages: []string{"a;reboot"}},
		`"--no-remove" is no`: {Reference: "localhost/valkey:8", Packages: []string{"--no-remove"}},
	} {
		if _, err := recipeOf(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", options, err, want)
		}
	}
}
