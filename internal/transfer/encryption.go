/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// keys are secret keys of age: the first encrypts, each decrypts. Without any a backup is stored as it is.
type keys []*age.X25519Identity

// keysOf reads the key "identity" of a mounted Secret: what age-keygen prints.
func keysOf(folder string) (keys, error) {
	if folder == "" {
		return nil, nil
	}
	content, err := os.ReadFile(filepath.Join(folder, protocol.IdentityFile)) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, failf(protocol.EncryptionKeyMissing, "The key %s of the Secret that encryptionSecretName names cannot be read: %v. Add it.", protocol.IdentityFile, plainCause(err))
	}
	parsed, err := age.ParseIdentities(bytes.NewReader(content))
	var all keys
	for _, identity := range parsed {
		if key, ok := identity.(*age.X25519Identity); ok {
			all = append(all, key)
		}
	}
	if err != nil || len(all) < len(parsed) || len(all) == 0 {
		return nil, failf(protocol.EncryptionKeyMissing, "The key %s of the Secret that encryptionSecretName names must be lines of the form AGE-SECRET-KEY-1…, as age-keygen prints them.", protocol.IdentityFile)
	}
	return all, nil
}

// secrets must not be told.
func (k keys) secrets() (all []string) {
	for _, key := range k {
		all = append(all, key.String())
	}
	return all
}

// recipient is for whom is encrypted; "" for nobody.
func (k keys) recipient() string {
	if len(k) == 0 {
		return ""
	}
	return k[0].Recipient().String()
}

// encrypt writes to the writer what only the first key can read.
func (k keys) encrypt(into io.WriteCloser) (io.WriteCloser, error) {
	if len(k) == 0 {
		return into, nil
	}
	encrypted, err := age.Encrypt(into, k[0].Recipient())
	if err != nil {
		return nil, err
	}
	return &both{encrypted, into}, nil
}

// both closes the outer and then the inner.
type both struct {
	io.WriteCloser
	inner io.Closer
}

// Close ends the outer first: it may write its end.
func (b *both) Close() error { return errors.Join(b.WriteCloser.Close(), b.inner.Close()) }

// check refuses a stream that none of the keys can read, before anything is done with it.
func (k keys) check(stream *protocol.Stream, store *store) error {
	var own []string
	for _, key := range k {
		own = append(own, key.Recipient().String())
	}
	if stream.Recipient == "" || slices.Contains(own, stream.Recipient) {
		return nil
	}
	given := "No key is given: set encryptionSecretName of the destination to the Secret with it"
	if len(own) > 0 {
		given = fmt.Sprintf("The Secret that encryptionSecretName names holds the key of %s only: add the other one as a further line of its key %s", strings.Join(own, ", "), protocol.IdentityFile)
	}
	return failf(protocol.EncryptionKeyMissing, "The backup %s is encrypted for %s. %s.", store.URL(""), stream.Recipient, given)
}

// decrypt reads what was encrypted for the recipient that the stream names.
func (k keys) decrypt(stream *protocol.Stream, from io.Reader) (io.Reader, error) {
	if stream.Recipient == "" {
		return from, nil
	}
	identities := make([]age.Identity, 0, len(k))
	for _, key := range k {
		identities = append(identities, key)
	}
	return age.Decrypt(from, identities...)
}

// unlock reads the keys, and notes what must not be told.
func (r *run) unlock(store *store, folder string) (keys, error) {
	keys, err := keysOf(folder)
	r.secrets = slices.Concat(store.secrets, keys.secrets())
	return keys, err
}
