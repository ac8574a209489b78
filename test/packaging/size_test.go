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

// Helm stores a release in one Secret of up to 1 MiB: the files of the chart and the rendered objects, as JSON,
// compressed, in base64. `make e2e-helm` measures a real release. It grows with the CRDs. Three quarters of the limit
// are an early warning.
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
