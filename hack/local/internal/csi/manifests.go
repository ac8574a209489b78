package csi

import _ "embed"

// The manifests of the driver.
var (
	// Standard is the default StorageClass, whose volumes are directories.
	//go:embed standard.yaml
	Standard string
	// Growing is the StorageClass whose volumes have a real size and grow.
	//go:embed growing.yaml
	Growing string
	// CSIDriver describes the driver to Kubernetes.
	//go:embed csidriver.yaml
	CSIDriver string
)
