package images

import (
	"slices"
	"testing"
)

func TestMetricsServerRunsAloneAndAsAUserThatIsNotRoot(t *testing.T) {
	image := written(t, metricsServer.write, Options{Binaries: map[string]string{"metrics-server": staticBinary(t)}, Version: "1.2.3"})
	if config := configOf(t, image).Config; config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/metrics-server"}) {
		t.Errorf("the image starts %q as %q", config.Entrypoint, config.User)
	}
	want := []string{"0755 0:0 /etc/", "0644 0:0 /etc/group", "0644 0:0 /etc/passwd", "0755 0:0 /metrics-server"}
	if got := listing(t, image); !slices.Equal(got, want) {
		t.Errorf("the image has %q, want %q", got, want)
	}
}
