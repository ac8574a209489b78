package csi

import _ "embed"

// Standard is the manifest of the default StorageClass, whose volumes are directories.
//
//go:embed standard.yaml
var Standard string

// Growing is the manifest of the StorageClass whose volumes have a real size and grow.
//
//go:embed growing.yaml
var Growing string

// CSIDriver is the manifest that tells Kubernetes how to use this driver.
//
//go:embed csidriver.yaml
var CSIDriver string
