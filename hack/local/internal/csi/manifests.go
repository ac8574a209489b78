package csi

import _ "embed"

// StorageClass is the manifest of the class "growing".
//
//go:embed storageclass.yaml
var StorageClass string

// CSIDriver is the manifest that tells Kubernetes how to use this driver.
//
//go:embed csidriver.yaml
var CSIDriver string
