//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// toS3 is a place in the bucket of lab.BucketManifest.
const toS3 = `{url: "s3://backups/prod", endpoint: "http://s3:7070", credentialsSecretName: backup-credentials}`

func (w world) s3() {
	w.Helper()
	w.apply(lab.BucketManifest(w.needs(s3Image), postgresImage, ""))
	w.do("wait", "pod/s3", "--for=condition=Ready", "--timeout="+patience.String())
}

// bucket runs a command in the folder of the bucket.
func (w world) bucket(script string) string {
	w.Helper()
	return w.do("exec", "s3", "-c", "shell", "--", "sh", "-ec", "cd /data/backups; "+script)
}

// folder returns a location as the path below the bucket's folder.
func folder(location string) string { return strings.TrimPrefix(location, "s3://backups/") }
