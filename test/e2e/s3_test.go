//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"
)

// gateway is an S3 server on a volume. Its second container has a shell to read and corrupt the files, and sees the server's process.
const gateway = `
apiVersion: v1
kind: Secret
metadata: {name: backup-credentials}
stringData: {AWS_ACCESS_KEY_ID: test, AWS_SECRET_ACCESS_KEY: test-secret}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: s3}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Service
metadata: {name: s3}
spec:
  selector: {app: s3}
  ports: [{port: 7070}]
---
apiVersion: v1
kind: Pod
metadata: {name: s3, labels: {app: s3}}
spec:
  automountServiceAccountToken: false
  shareProcessNamespace: true
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  initContainers:
  - name: bucket
    image: POSTGRES
    command: [mkdir, -p, /data/backups]
    securityContext: &least {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
    volumeMounts: &data [{name: data, mountPath: /data}]
  containers:
  - name: s3
    image: VERSITYGW
    env:
    - {name: ROOT_ACCESS_KEY_ID, valueFrom: {secretKeyRef: {name: backup-credentials, key: AWS_ACCESS_KEY_ID}}}
    - {name: ROOT_SECRET_ACCESS_KEY, valueFrom: {secretKeyRef: {name: backup-credentials, key: AWS_SECRET_ACCESS_KEY}}}
    - {name: VGW_HEALTH, value: /healthy}
    readinessProbe: {httpGet: {path: /healthy, port: 7070}, periodSeconds: 2}
    securityContext: *least
    volumeMounts: *data
  - name: shell
    image: POSTGRES
    command: [sleep, infinity]
    securityContext: *least
    volumeMounts: *data
  volumes: [{name: data, persistentVolumeClaim: {claimName: s3}}]
`

// toS3 is a bucket of that server.
const toS3 = `{url: "s3://backups/prod", endpoint: "http://s3:7070", credentialsSecretName: backup-credentials}`

func (w world) s3() {
	w.Helper()
	w.apply(strings.NewReplacer("VERSITYGW", w.needs(s3Image), "POSTGRES", postgresImage).Replace(gateway))
	w.do("wait", "pod/s3", "--for=condition=Ready", "--timeout="+patience.String())
}

// bucket runs a command in the folder of the bucket.
func (w world) bucket(script string) string {
	w.Helper()
	return w.do("exec", "s3", "-c", "shell", "--", "sh", "-ec", "cd /data/backups; "+script)
}

// folder returns a location as the path below the bucket's folder.
func folder(location string) string { return strings.TrimPrefix(location, "s3://backups/") }
