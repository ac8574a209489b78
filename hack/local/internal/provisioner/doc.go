// Package provisioner makes volumes out of directories of this machine for a one-node cluster.
//
// The directories become PersistentVolumes of type "local", because the kubelet gives those
// to the fsGroup of the pod that mounts them. It does not do so for hostPath volumes, which
// is what kube-controller-manager's own hostpath provisioner makes: a database that does not
// run as root cannot write there.
//
// A volume's size is recorded and not enforced, and a volume cannot grow.
package provisioner
