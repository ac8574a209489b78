package images

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// authorities are the certificate authorities that Mozilla trusts, as go.mod pins them: those of
// the machine that builds would make the digest its own. One that is trusted only for what it
// signed before some day is left out, because a file of certificates cannot say so.
func authorities() []byte {
	var file bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			file.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return file.Bytes()
}
