//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestSmokeTheDemoLosesNoAcknowledgedRow(t *testing.T) {
	w := newWorld(t)
	demo := exec.CommandContext(t.Context(), "../../hack/demo.sh", "story")
	demo.Env = append(os.Environ(), "DEMO_NAMESPACE="+w.namespace, "PATRONI_IMG="+w.needs(patroniImage), "IMG=unused")
	text, err := demo.CombinedOutput()
	t.Logf("%s", text)
	if err != nil || !strings.Contains(string(text), "acknowledged, 0 of them missing.") {
		t.Errorf("the demo did not find all rows: %v", err)
	}
}
