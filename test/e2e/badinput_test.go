//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// The operator names each unusable destination: on the backup, on the cluster, and in events of both.
func TestTheOperatorNamesAnUnusableDestination(t *testing.T) {
	onLocalNode(t, "a volume of its StorageClass growing gets full")
	w := newWorld(t)
	w.manifest("v1", "Secret", "wrong", "stringData: {AWS_ACCESS_KEY_ID: test, AWS_SECRET_ACCESS_KEY: wrong}")
	w.fullVolume("full")
	w.filled("backup: {deadlineSeconds: 30, destination: " + toS3 + "}")
	for _, bad := range []struct{ name, destination, warning, cause string }{
		{"unreachable", `{url: "s3://backups/x", endpoint: "http://s3:1", credentialsSecretName: backup-credentials}`, "JobRetrying", "cannot connect to http://s3:1: connection refused"},
		{"unknown-host", `{url: "s3://backups/x", endpoint: "http://unknown-host:7070", credentialsSecretName: backup-credentials}`, "JobRetrying", "unknown-host"},
		{"refused", `{url: "s3://backups/x", endpoint: "http://s3:7070", credentialsSecretName: wrong}`, "JobBlocked", "SignatureDoesNotMatch"},
		{"no-bucket", `{url: "s3://no-such-bucket/x", endpoint: "http://s3:7070", credentialsSecretName: backup-credentials}`, "JobBlocked", "NoSuchBucket"},
		{"full", `{url: "file:///x", claimName: full}`, "JobBlocked", "no space left on device"},
	} {
		w.backup(bad.name, "orders", "destination: "+bad.destination)
		w.awaitWarning(bad.name, bad.warning)
		w.eventually("Failed", "get", "databasebackup", bad.name, "-o", "jsonpath={.status.phase}")
		w.awaitReported("databasebackup/"+bad.name, "Stalled", "True", bad.cause)
		w.awaitWarning(bad.name, bad.cause)
		w.Log("\n" + w.do("get", "pods", "-l", "database.dbcluster.io/backup-uid="+w.of("databasebackup/"+bad.name, "{.metadata.uid}")))
	}
	w.must(w.bucket("find . -path '*/x/*' -type f") == "", "a partial backup is visible")
	w.backup("good", "orders")
	w.completed("good")
	w.awaitReported("databasecluster/orders", "BackupHealthy", "True")
}

const filler = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: NAME}
spec:
  storageClassName: growing
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 512Mi}}
---
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  restartPolicy: Never
  securityContext: {runAsNonRoot: true, runAsUser: 999, fsGroup: 999, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: fill
    image: IMAGE
    command: [sh, -c, "cat /dev/zero > /mnt/rubbish || truncate -s -10M /mnt/rubbish"]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: data, mountPath: /mnt}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: NAME}}]
`

// fullVolume creates a claim with room for 10 MB.
func (w world) fullVolume(name string) {
	w.Helper()
	w.apply(strings.NewReplacer("NAME", name, "IMAGE", postgresImage).Replace(filler))
	w.do("wait", "pod/"+name, "--for=jsonpath={.status.phase}=Succeeded", "--timeout="+patience.String())
	w.do("delete", "pod", name)
}

// odd is an engine whose backup behaves as the cluster's parameter requests.
const odd = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseEngine
metadata: {name: NAME}
spec:
  topology: Independent
  container: {command: [sleep, infinity], runAsUser: 999, terminationGracePeriodSeconds: 1}
  parameters: [{name: way, enum: [hang, nothing, stderr, fail, slow]}]
  scripts:
    backup: |
      #!/bin/sh
      case "$DBC_PARAM_WAY" in
          hang) echo started; exec sleep infinity ;;
          nothing) exit 0 ;;
          stderr) echo "table 7 is locked" >&2 ;;
          fail) echo started; echo "table 8 is locked" >&2; exit 30 ;;
          slow) for i in $(seq 15); do head -c 1000000 /dev/urandom; sleep 1; done ;;
      esac
  actions:
    backup: {command: [/dbc/scripts/backup]}
    restore: {command: [sh, -c, 'cat >"$DBC_DATA_DIR/data"']}
`

const oddCluster = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: WAY}
spec:
  engine: ENGINE
  image: IMAGE
  replicas: 1
  parameters: {way: WAY}
  resources: {requests: {cpu: 1m}}
  storage: {size: 10Mi}
  backup: {deadlineSeconds: 40, destination: DESTINATION}
`

func TestTheOperatorNamesABrokenAction(t *testing.T) {
	w := newWorld(t)
	w.s3()
	engine := w.odd()
	causes := map[string]string{
		"hang": "longer than specified deadline", "nothing": "printed nothing", "stderr": "table 7 is locked", "fail": "table 8 is locked",
	}
	for way := range causes {
		w.apply(strings.NewReplacer("WAY", way, "ENGINE", engine, "IMAGE", postgresImage, "DESTINATION", toS3).Replace(oddCluster))
	}
	for way := range causes {
		w.await(way, "Ready")
		w.backup(way, way)
	}
	for way, cause := range causes {
		w.eventually("Failed", "get", "databasebackup", way, "-o", "jsonpath={.status.phase}")
		w.awaitReported("databasebackup/"+way, "Stalled", "True", cause)
		w.awaitReported("databasecluster/"+way, "BackupHealthy", "False", cause)
		w.awaitWarning(way, cause)
	}
	w.must(w.bucket("find . -type f") == "", "a partial backup is visible: %s", w.bucket("find . -type f"))
}

func TestABackupReportsItsProgress(t *testing.T) {
	w := newWorld(t)
	w.s3()
	w.apply(strings.NewReplacer("WAY", "slow", "ENGINE", w.odd(), "IMAGE", postgresImage, "DESTINATION", toS3).Replace(oddCluster))
	w.await("slow", "Ready")
	w.backup("slow", "slow")
	w.eventually("iB/s Running", "get", "databasebackup", "slow", "-o", "jsonpath={.status.rate} {.status.phase}")
	w.Log("\n" + w.do("get", "databasebackups", "-o", "wide"))
	w.completed("slow")
	w.must(w.of("databasebackup/slow", "{.status.bytes}") == "15000000", "the size is %s", w.of("databasebackup/slow", "{.status.bytes}"))
}

// odd creates the engine for this test only.
func (w world) odd() string {
	name := fmt.Sprintf("odd-%s", w.namespace)
	name = name[:min(len(name), 60)]
	w.apply(strings.ReplaceAll(odd, "NAME", name))
	w.Cleanup(func() { _, _ = run(context.Background(), "", "delete", "databaseengine", name) })
	return name
}
