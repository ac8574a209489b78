// The tests install a CRD of this module. This package has no dependencies.
module github.com/dbcluster/databasecluster-operator/hack/tools/keda

go 1.26.0

tool github.com/kedacore/keda/v2/version

require github.com/kedacore/keda/v2 v2.21.0 // indirect
