// Package csi is the CSI driver of the local node. It has two kinds of volumes.
//
// A volume of the StorageClass "standard" is a directory: it needs no loop device, nothing enforces its size, and it cannot grow.
//
// A volume of the StorageClass "growing" has the size that was asked for and grows while it is in use. It is a sparse file, the
// disk, with an XFS filesystem on a loop device. The loop device
// belongs to the mount: the kernel frees it at the last unmount, so unmounting is all
// there is to clean up. XFS, because ext4 grows online only for a process that has
// CAP_SYS_RESOURCE, which root inside a container or a small virtual machine often lacks.
//
// The controller's part of a growth makes the file longer, the node's part makes the loop device
// and the filesystem notice. A file takes space as it is written to: all disks together may promise
// more than this machine has.
package csi
