// The tests install the CRD of this module.
module github.com/dbcluster/databasecluster-operator/hack/tools/vertical-pod-autoscaler

go 1.26.0

tool k8s.io/autoscaler/vertical-pod-autoscaler/common

require k8s.io/autoscaler/vertical-pod-autoscaler v1.7.1 // indirect
