package pki

import (
	"encoding/base64"
	"fmt"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// The certificates stand inside, so that a kubeconfig may be copied elsewhere.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: local
contexts:
- {name: local, context: {cluster: local, user: local}}
clusters:
- name: local
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: local
  user:
    client-certificate-data: %s
    client-key-data: %s
`

// WriteKubeconfig lets whoever reads the file speak to the server as that identity.
func (f Folder) WriteKubeconfig(path, server, identity string) error {
	var parts []any
	for _, file := range []string{f.Certificate(CA), f.Certificate(identity), f.Key(identity)} {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("write kubeconfig %s: %w", path, err)
		}
		parts = append(parts, base64.StdEncoding.EncodeToString(content))
	}
	content := fmt.Sprintf(kubeconfig, append([]any{server}, parts...)...)
	return files.Write(path, []byte(content), 0o600)
}
