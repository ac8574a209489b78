//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"encoding/json"
	"strings"
)

// python is a pod that runs a script with the connection Secret of the cluster ledger.
const python = `---
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  automountServiceAccountToken: false
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 999, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: binding, projected: {sources: [{secret: {name: ledger-connection}}]}}]
  containers:
  - name: NAME
    image: IMAGE
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: binding, mountPath: /binding}]
    command: COMMAND
`

// runPython starts a pod with a script of testdata, and waits until it runs.
func (w world) runPython(name, script string, arguments ...string) {
	w.Helper()
	command, err := json.Marshal(append([]string{"python3", "-uc", script}, arguments...))
	if err != nil {
		w.Fatal(err)
	}
	w.apply(strings.NewReplacer("NAME", name, "COMMAND", string(command)).Replace(python))
	w.do("wait", "--for=condition=Ready", "pod/"+name, "--timeout=60s")
}
