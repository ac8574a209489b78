module github.com/dbcluster/databasecluster-operator/hack/tools/cert-manager

go 1.26.3

// The tests install the CRDs of this module. This package has no dependencies.
tool github.com/cert-manager/cert-manager/pkg/apis/certmanager

require github.com/cert-manager/cert-manager v1.21.2 // indirect
