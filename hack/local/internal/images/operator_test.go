package images

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestTheOperatorRunsAsANumericUserThatIsNotRoot(t *testing.T) {
	image := operatorImage(t, staticBinary(t))
	config := configOf(t, image)
	if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/manager"}) {
		t.Errorf("the image starts %q as %q", config.Config.Entrypoint, config.Config.User)
	}
	if users := contentOf(t, image, "/etc/passwd"); !strings.Contains(users, "nonroot:x:65532:65532:") {
		t.Errorf("/etc/passwd is %q and names no user 65532", users)
	}
}

func TestTheOperatorImageHoldsItsBinariesAndNothingToRunBesides(t *testing.T) {
	var programs []string
	for _, line := range listing(t, operatorImage(t, staticBinary(t))) {
		if strings.HasPrefix(line, "0755") && !strings.HasSuffix(line, "/") {
			programs = append(programs, line)
		}
	}
	if want := []string{"0755 0:0 /agent", "0755 0:0 /manager", "0755 0:0 /transfer"}; !slices.Equal(programs, want) {
		t.Errorf("programs are %q, want %q", programs, want)
	}
}

func TestTheOperatorImageSaysWhatItIs(t *testing.T) {
	labels := configOf(t, operatorImage(t, staticBinary(t))).Config.Labels
	if labels[labelVersion] != "1.2.3" || labels[labelSource] == "" || labels[labelTitle] == "" {
		t.Errorf("labels are %v", labels)
	}
}

func TestTheSameBinariesGiveTheSameDigest(t *testing.T) {
	binary := staticBinary(t)
	if first, second := digestOf(t, operatorImage(t, binary)), digestOf(t, operatorImage(t, binary)); first != second {
		t.Errorf("digests differ: %s and %s", first, second)
	}
}

func TestTheOperatorIsNamedAfterItsVersionUnlessAReferenceIsGiven(t *testing.T) {
	for reference, want := range map[string]string{
		"":                   OperatorRepository + ":v1.2.3",
		"localhost/mine:dev": "localhost/mine:dev",
	} {
		checkName(t, want, operator.write, Options{Reference: reference, Version: "1.2.3", Binaries: binaries(t)})
	}
}

func TestBadBinariesAreRefusedByName(t *testing.T) {
	good, script := staticBinary(t), filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for want, binaries := range map[string]map[string]string{
		"needs a binary named manager":              {"transfer": good},
		"needs a binary named transfer":             {"manager": good},
		`binary "bin/agent": the name is`:           {"manager": good, "transfer": good, "bin/agent": good},
		"binary manager=" + script + " is no Linux": {"manager": script, "transfer": good},
		"binary manager=/bin/sh is linked dynamic":  {"manager": "/bin/sh", "transfer": good},
		"binary manager=/not/there":                 {"manager": "/not/there", "transfer": good},
	} {
		refused(t, want, operator.write, Options{Version: "1.2.3", Binaries: binaries})
	}
}

func TestAnOperatorWithoutAVersionIsRefused(t *testing.T) {
	refused(t, "--version", operator.write, Options{Binaries: binaries(t)})
}

func TestAReferenceThatIsNoneIsRefused(t *testing.T) {
	refused(t, `image reference "No Such:Name"`, operator.write, Options{Version: "1.2.3", Reference: "No Such:Name", Binaries: binaries(t)})
}

func operatorImage(t *testing.T, binary string) v1.Image {
	t.Helper()
	return written(t, operator.write, Options{
		Version: "1.2.3", Binaries: map[string]string{"manager": binary, "transfer": binary, "agent": binary},
	})
}

func binaries(t *testing.T) map[string]string {
	t.Helper()
	binary := staticBinary(t)
	return map[string]string{"manager": binary, "transfer": binary}
}

// staticBinary is any program that is linked statically: pause will do.
func staticBinary(t *testing.T) string {
	t.Helper()
	binary, err := buildPause(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}
