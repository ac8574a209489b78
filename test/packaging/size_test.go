//go:build helm

/*
SPDX-License-Identifier: Apache-2.0
*/

package packaging

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"testing"
)

// Helm keeps a release in one Secret, which holds 1 MiB: the chart's files and all that is rendered, as JSON, compressed, in base64.
// `make e2e-helm` measures the real one. It grows with the CRDs; three quarters are a warning in time.
func TestTheReleaseFitsIntoASecret(t *testing.T) {
	manifest, err := template()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	tree := os.DirFS(chart)
	err = fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(tree, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if err := json.NewEncoder(writer).Encode(map[string]any{"chart": files, "manifest": manifest}); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	takes := base64.StdEncoding.EncodedLen(packed.Len())
	t.Logf("%d bytes", takes)
	if takes > 3<<20/4 {
		t.Errorf("the release takes about %d bytes of the %d that a Secret holds: make the descriptions of the CRDs shorter", takes, 1<<20)
	}
}
