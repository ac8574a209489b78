package images

import (
	"runtime"
	"slices"
	"testing"
)

func TestCloudNativePGIsWhereItsManifestsAndItsOperatorLookForIt(t *testing.T) {
	image := written(t, cloudNativePG.write, Options{Binaries: map[string]string{"cnpg-manager": staticBinary(t)}, Version: "1.2.3"})
	if config := configOf(t, image).Config; !slices.Equal(config.Entrypoint, []string{"/manager"}) || config.WorkingDir != "/" {
		t.Errorf("the image starts %q in %s", config.Entrypoint, config.WorkingDir)
	}
	for _, want := range []string{"0755 0:0 /manager", "0755 0:0 /operator/manager_" + runtime.GOARCH} {
		if got := listing(t, image); !slices.Contains(got, want) {
			t.Errorf("the image has %q, without %s", got, want)
		}
	}
}
