//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/transfer"
)

func TestEveryUploadAsksForTheEncryptionThatTheDestinationNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags          []string
		algorithm, key string
	}{
		"none":                {nil, "", ""},
		"keys of the service": {[]string{"--server-side-encryption", "AES256"}, "AES256", ""},
		"key management":      {[]string{"--server-side-encryption", "aws:kms"}, "aws:kms", ""},
		"a key of its own":    {[]string{"--server-side-encryption", "aws:kms", "--kms-key-id", "alias/backups"}, "aws:kms", "alias/backups"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var mutex sync.Mutex
			var asked []string
			w.endpoint = between(t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
				begins := in.Method == http.MethodPost && in.URL.Query().Has("uploads")
				single := in.Method == http.MethodPut && !in.URL.Query().Has("partNumber")
				if begins || single {
					mutex.Lock()
					asked = append(asked, in.Method)
					if got := in.Header.Get("X-Amz-Server-Side-Encryption"); got != test.algorithm {
						t.Errorf("%s %s asks for %q", in.Method, in.URL, got)
					}
					if got := in.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"); got != test.key {
						t.Errorf("%s %s asks for the key %q", in.Method, in.URL, got)
					}
					mutex.Unlock()
				}
				forward.ServeHTTP(out, in)
			})
			w.must(w.backup("head -c 30000000 /dev/urandom", append(test.flags, "--piece-size", "24Mi")...))
			if !slices.Contains(asked, http.MethodPost) || !slices.Contains(asked, http.MethodPut) {
				t.Errorf("requests were %v", asked)
			}
			w.must(w.restore("cat >/dev/null", test.flags...))
		})
	}
}

func TestALargeDatabaseIsEncryptedAndDecryptedWithinTheMemoryBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, protocol.IdentityFile), []byte(identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := w.must(w.backup(fmt.Sprintf("head -c %d /dev/urandom", size()), "--piece-size", "256Mi", "--encryption", folder))
	w.fails(w.restore("cat >/dev/null"), protocol.ExitPrecondition, protocol.EncryptionKeyMissing, identity.Recipient().String())
	got := w.must(w.restore("cat >/dev/null", "--encryption", folder))
	if got.SHA256 != made.SHA256 || made.Bytes != size() {
		t.Errorf("made %+v, got %+v", made.Result, got.Result)
	}
	t.Logf("backup %d MiB resident, %.0f MB/s; restore %d MiB, %.0f MB/s", made.peak>>20, rate(made), got.peak>>20, rate(got))
	for what, o := range map[string]outcome{"backup": made, "restore": got} {
		if o.peak > transfer.MemoryBound {
			t.Errorf("the %s used %d bytes, more than %d", what, o.peak, int64(transfer.MemoryBound))
		}
		if strings.Contains(o.stderr, identity.String()) {
			t.Errorf("the %s logged the key", what)
		}
	}
	w.must(w.remove())
	w.nothing()
}
