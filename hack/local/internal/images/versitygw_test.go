package images

import (
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestVersitygwRunsAsANumericUserThatIsNotRoot(t *testing.T) {
	config := configOf(t, versitygwImage(t, staticBinary(t))).Config
	if config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/versitygw"}) || config.Labels[labelVersion] != "1.2.3" {
		t.Errorf("the image starts %q as %q and is of version %q", config.Entrypoint, config.User, config.Labels[labelVersion])
	}
}

func TestVersitygwIsAloneInItsImage(t *testing.T) {
	want := []string{"0755 0:0 /etc/", "0644 0:0 /etc/group", "0644 0:0 /etc/passwd", "0755 0:0 /versitygw"}
	if got := listing(t, versitygwImage(t, staticBinary(t))); !slices.Equal(got, want) {
		t.Errorf("the image holds %q, want %q", got, want)
	}
}

func TestAVersitygwThatWouldNotStartIsRefused(t *testing.T) {
	refused(t, "versitygw=/bin/sh is linked dynamically", versitygw.write, Options{
		Binaries: map[string]string{"versitygw": "/bin/sh"}, Version: "1.2.3",
	})
}

func versitygwImage(t *testing.T, binary string) v1.Image {
	t.Helper()
	return written(t, versitygw.write, Options{Binaries: map[string]string{"versitygw": binary}, Version: "1.2.3"})
}
