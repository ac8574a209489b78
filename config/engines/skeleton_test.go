/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

const replicas = "skeleton/mydb-replicas-v1"

// awaitText waits until a file has a text.
func awaitText(t *testing.T, file, want string) {
	t.Helper()
	var text []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if text, _ = os.ReadFile(file); string(text) == want { //nolint:gosec // a file of this test
			return
		}
	}
	t.Fatalf("%s has %q, not %q", filepath.Base(file), text, want)
}

// A new password is in the files of running members before the server has it. The kubelet would kill all members.
func TestTheProbesOfTheSkeletonNeedNoPassword(t *testing.T) {
	for _, probe := range []string{"live", "ready"} {
		c := startScript(t, replicas, probe, t.TempDir(), map[string]string{"mydb-ping": "#!/bin/sh\nexit 0\n"}, "DBC_SECRETS_DIR=/nonexistent")
		c.await("end", c.ended)
		if !c.ProcessState.Success() {
			t.Errorf("%s: %v", probe, c.ProcessState)
		}
	}
}

func TestTheSkeletonEndsOnSIGTERMWhileItCopiesThePrimary(t *testing.T) {
	c := startScript(t, replicas, "member", t.TempDir(), map[string]string{"mydb-copy": serve})
	c.await("copy the primary", c.serves)
	c.terminate()
}

// The actions that ask a restored copy use the password of the Secret, not that of the backup.
func TestTheSkeletonRestoresDataWithThePasswordOfTheSecret(t *testing.T) {
	volume := t.TempDir()
	c := startScript(t, replicas, "restore", volume, map[string]string{
		"mydb-load": "#!/bin/sh\nmkdir \"${1#--data=}\"\n", "mydb-verify": "#!/bin/sh\n", "mydb-passwd": "#!/bin/sh\ncat > \"${1#--data=}/password\"\n",
	})
	c.await("end", c.ended)
	awaitText(t, filepath.Join(volume, "data", "password"), "secret")
}

func TestThePrimaryOfTheSkeletonAppliesAChangedPassword(t *testing.T) {
	volume := t.TempDir()
	image := map[string]string{
		"mydb-role": "#!/bin/sh\necho primary\n", "mydb-position": "#!/bin/sh\necho 1\n", "curl": "#!/bin/sh\n",
		"mydb-passwd": "#!/bin/sh\ncat >> \"$DBC_DATA_DIR/passwords\"\n",
	}
	c := startScript(t, replicas, "report", volume, image)
	awaitText(t, filepath.Join(volume, "passwords"), "secret")
	if err := os.WriteFile(filepath.Join(c.folder, "secrets", "password"), []byte(", then another"), 0o600); err != nil {
		t.Fatal(err)
	}
	awaitText(t, filepath.Join(volume, "passwords"), "secret, then another")
}
