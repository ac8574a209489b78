package provisioner

import _ "embed"

// StorageClass is the manifest of the class "standard", the default one, which gets its
// volumes from this provisioner.
//
//go:embed storageclass.yaml
var StorageClass string
