//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

func TestSmokeTheDemoLosesNoAcknowledgedRowAndBringsATableBack(t *testing.T) {
	w := newWorld(t)
	demo := exec.CommandContext(t.Context(), "../../hack/demo.sh", "story")
	demo.Env = append(os.Environ(), "DEMO_NAMESPACE="+w.namespace, "PATRONI_IMG="+w.needs(patroniImage), "VERSITYGW_IMG="+w.needs(s3Image), "IMG=unused")
	text, err := demo.CombinedOutput()
	t.Logf("%s", text)
	result := regexp.MustCompile(`Writes failed for ([0-9.]+) s\. \d+ rows acknowledged, 0 of them missing\.`).FindSubmatch(text)
	if err != nil || result == nil {
		t.Fatalf("the demo did not find all rows: %v", err)
	}
	if string(result[1]) == "0.0" {
		t.Error("writes never failed, so the demo killed no primary, or measured no time")
	}
	if !regexp.MustCompile(`The table is back \d+ s later: [1-9]\d* rows, MD5 [0-9a-f]{32}\.`).Match(text) {
		t.Error("the demo did not bring the table back")
	}
}
