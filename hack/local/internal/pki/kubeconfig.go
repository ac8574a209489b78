package pki

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// WriteKubeconfig writes a kubeconfig with which its reader acts as that identity. It embeds the certificates, so that
// it can be copied.
func (f Folder) WriteKubeconfig(path, server, identity string) error {
	const local = "local"
	config := api.NewConfig()
	config.Clusters[local] = &api.Cluster{Server: server, CertificateAuthority: f.Certificate(CA)}
	config.AuthInfos[local] = &api.AuthInfo{ClientCertificate: f.Certificate(identity), ClientKey: f.Key(identity)}
	config.Contexts[local] = &api.Context{Cluster: local, AuthInfo: local}
	config.CurrentContext = local
	if err := api.FlattenConfig(config); err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	return files.Write(path, content, 0o600)
}
