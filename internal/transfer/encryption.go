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

// keys are secret keys of age: the first encrypts, and each decrypts. Without keys transfer does not encrypt.
type keys []*age.X25519Identity

// keysOf reads the key "identity" of a mounted Secret: the output of age-keygen.
func keysOf(folder string) (keys, error) {
	if folder == "" {
		return nil, nil
	}
	content, err := os.ReadFile(filepath.Join(folder, protocol.IdentityFile)) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, failf(protocol.EncryptionKeyMissing,
			"The key %s of the Secret in encryptionSecretName cannot be read: %v. Add the key to the Secret.", protocol.IdentityFile,
			plainCause("", err))
	}
	parsed, err := age.ParseIdentities(bytes.NewReader(content))
	var all keys
	for _, identity := range parsed {
		if key, ok := identity.(*age.X25519Identity); ok {
			all = append(all, key)
		}
	}
	if err != nil || len(all) < len(parsed) || len(all) == 0 {
		return nil, failf(protocol.EncryptionKeyMissing,
			"The key %s of the Secret in encryptionSecretName must have lines of the form AGE-SECRET-KEY-1…, as age-keygen prints them.",
			protocol.IdentityFile)
	}
	return all, nil
}

// secrets returns the values that must not appear in logs and results.
func (k keys) secrets() (all []string) {
	for _, key := range k {
		all = append(all, key.String())
	}
	return all
}

// recipient returns the recipient of the encryption, or "" without encryption.
func (k keys) recipient() string {
	if len(k) == 0 {
		return ""
	}
	return k[0].Recipient().String()
}

// encrypt returns a writer whose output only the first key can decrypt.
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

// both closes the outer and then the inner writer.
type both struct {
	io.WriteCloser
	inner io.Closer
}

// Close closes the outer writer first, because it may write its end.
func (b *both) Close() error { return errors.Join(b.WriteCloser.Close(), b.inner.Close()) }

// check rejects a stream that none of the keys can decrypt, before the transfer changes anything.
func (k keys) check(stream *protocol.Stream, store *store) error {
	var own []string
	for _, key := range k {
		own = append(own, key.Recipient().String())
	}
	if stream.Recipient == "" || slices.Contains(own, stream.Recipient) {
		return nil
	}
	given := "Set encryptionSecretName of the destination to the Secret with the key"
	if len(own) > 0 {
		given = fmt.Sprintf("The Secret in encryptionSecretName has only the key of %s. Add the other key as a further line of its key %s",
			strings.Join(own, ", "), protocol.IdentityFile)
	}
	return failf(protocol.EncryptionKeyMissing, "The backup %s is encrypted for %s. %s.", store.URL(""), stream.Recipient, given)
}

// decrypt decrypts a stream for its recipient.
func (k keys) decrypt(stream *protocol.Stream, from io.Reader) (io.Reader, error) {
	if stream.Recipient == "" {
		return from, nil
	}
	return k.open(from)
}

// open decrypts what one of the keys can read.
func (k keys) open(from io.Reader) (io.Reader, error) { return age.Decrypt(from, k.identities()...) }

func (k keys) identities() []age.Identity {
	identities := make([]age.Identity, 0, len(k))
	for _, key := range k {
		identities = append(identities, key)
	}
	return identities
}

// unlock reads the keys, and registers the values that must not appear in logs and results.
func (r *run) unlock(store *store, folder string) (keys, error) {
	keys, err := keysOf(folder)
	r.secrets = slices.Concat(store.secrets, keys.secrets())
	return keys, err
}
