/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// key creates a Secret with keys, and returns its folder and the recipients.
func (w *world) key(count int) (folder string, recipients, secrets []string) {
	w.t.Helper()
	folder = w.t.TempDir()
	for range count {
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			w.t.Fatal(err)
		}
		recipients, secrets = append(recipients, identity.Recipient().String()), append(secrets, identity.String())
	}
	w.put(folder, "# created: today\n"+strings.Join(secrets, "\n")+"\n")
	return folder, recipients, secrets
}

func (w *world) put(folder, content string) {
	w.t.Helper()
	w.worked(os.WriteFile(filepath.Join(folder, protocol.IdentityFile), []byte(content), 0o600))
}

func TestAnEncryptedBackupIsReadWithItsKeyAndNoOther(t *testing.T) {
	w := newWorld(t)
	const text = "the password of the payroll"
	key, recipients, secrets := w.key(1)
	other, others, _ := w.key(1)
	made := w.must(w.backup("for i in $(seq 20000); do echo "+text+" $i; done", "--encryption", key))
	for _, name := range w.stored() {
		content, err := os.ReadFile(filepath.Join(w.root, name))
		if err != nil || bytes.Contains(content, []byte("payroll")) || bytes.Contains(content, []byte(secrets[0])) {
			t.Errorf("%s has the plain text, %v", name, err)
		}
		if strings.Contains(name, ".zst") && !strings.HasSuffix(name, ".zst.age") {
			t.Errorf("%s has the name of an unencrypted piece", name)
		}
	}
	var manifest protocol.Manifest
	content, err := os.ReadFile(w.path(protocol.ManifestName))
	if err != nil || json.Unmarshal(content, &manifest) != nil || manifest.Streams[0].Recipient != recipients[0] || manifest.Streams[0].Bytes != made.Bytes {
		t.Errorf("the manifest is %s, %v", content, err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	w.fails(w.restore("touch "+ran+"; cat >/dev/null"), protocol.ExitPrecondition, protocol.EncryptionKeyMissing, recipients[0], "encryptionSecretName")
	w.fails(w.restore("touch "+ran+"; cat >/dev/null", "--encryption", other), protocol.ExitPrecondition, protocol.EncryptionKeyMissing, recipients[0], others[0], "further line")
	if _, err := os.Stat(ran); err == nil {
		t.Error("the action ran without the key")
	}
	got := w.must(w.restore("cat > "+w.data+"/all", "--encryption", key))
	if got.SHA256 != made.SHA256 || got.Bytes != made.Bytes || got.StoredBytes != made.StoredBytes {
		t.Errorf("made %+v, got %+v", made.Result, got.Result)
	}
	w.must(w.run("list", "--at", "file:///", "--root", w.root))
	w.must(w.remove())
	w.nothing()
}

func TestAPreviousKeyStillDecrypts(t *testing.T) {
	w := newWorld(t)
	key, _, secrets := w.key(1)
	made := w.must(w.backup("cat "+w.noise(), "--encryption", key))
	newer, _, newest := w.key(1)
	w.put(newer, newest[0]+"\n"+secrets[0]+"\n")
	if got := w.must(w.restore("cat >/dev/null", "--encryption", newer)); got.SHA256 != made.SHA256 {
		t.Errorf("made %+v, got %+v", made.Result, got.Result)
	}
}

func TestAnUnencryptedBackupNeedsNoKey(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	key, _, _ := w.key(1)
	w.must(w.restore("cat >/dev/null", "--encryption", key))
}

func TestInvalidKeys(t *testing.T) {
	w := newWorld(t)
	key, recipients, _ := w.key(1)
	for name, content := range map[string]string{
		"empty": "", "text": "a password", "a public key": recipients[0], "a key that is cut": "AGE-SECRET-KEY-1QQQQ", "of ssh": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
	} {
		t.Run(name, func(t *testing.T) {
			w.put(key, content)
			o := w.fails(w.backup("echo rows", "--encryption", key), protocol.ExitPrecondition, protocol.EncryptionKeyMissing, "AGE-SECRET-KEY-1", "encryptionSecretName")
			if content != "" && strings.Contains(o.Message+o.stderr, content) {
				t.Errorf("the message is %s", o.Message)
			}
		})
	}
	w.fails(w.backup("echo rows", "--encryption", filepath.Join(key, "missing")), protocol.ExitPrecondition, protocol.EncryptionKeyMissing, "identity", "no such file")
	if stored := w.stored(); len(stored) > 0 {
		t.Errorf("stored are %v", stored)
	}
}

func TestADamagedEncryptedBackupIsFoundAndNamed(t *testing.T) {
	for name, at := range map[string]func([]byte) int{
		"the header":    func([]byte) int { return 40 },
		"the first":     func([]byte) int { return 400 },
		"in the middle": func(content []byte) int { return len(content) / 2 },
		"the end":       func(content []byte) int { return len(content) - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			key, _, _ := w.key(1)
			w.must(w.backup("cat "+w.noise(), "--encryption", key, "--piece-size", "10Mi"))
			w.change("member-0/00000.zst.age", func(content []byte) []byte {
				content[at(content)] ^= 1
				return content
			})
			w.fails(w.restore("cat >/dev/null", "--encryption", key), protocol.ExitRefused, protocol.BackupCorrupt, "00000-", "is corrupt")
			if left := w.restored(); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
		})
	}
}
