/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// start runs the script start of an engine with a Secret and a program of the image, and returns what it prints.
func start(t *testing.T, name string, secret, image map[string]string, environment ...string) string {
	t.Helper()
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write(t, in("scripts"), scripts(t, name, in("scripts")))
	write(t, in("secrets"), secret)
	write(t, in("bin"), image)
	command := exec.CommandContext(t.Context(), in("scripts/start"))
	command.Env = append([]string{
		"PATH=" + in("bin") + ":" + os.Getenv("PATH"), "DBC_SECRETS_DIR=" + in("secrets"), "DBC_DATA_DIR=" + folder, "PGDATA=" + in("data"),
	}, environment...)
	output, _ := command.CombinedOutput()
	return string(output)
}

// scripts returns the scripts of an engine for this folder.
func scripts(t *testing.T, name, folder string) map[string]string {
	t.Helper()
	declared, all := &dbv1.DatabaseEngine{}, map[string]string{}
	text, err := files.ReadFile(name + ".yaml")
	if err := errors.Join(err, yaml.Unmarshal(text, declared)); err != nil {
		t.Fatal(err)
	}
	for script, text := range declared.Spec.Scripts {
		all[script] = strings.ReplaceAll(string(text), "/dbc/scripts", folder)
	}
	return all
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	err := os.Mkdir(folder, 0o700)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700)) //nolint:gosec // programs
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRedisAcceptsThePasswordsOfARotationAndNoOtherKeys(t *testing.T) {
	secret := map[string]string{
		"password": `a "quoted" \ one` + "\n\n", "password.0a1b2c3d": "next", "password.0a1b2c3d.previous": "last",
		"password-of-grafana": "x", "password.old": "x", "password.previous": "x", "password.0a1b2c3d4": "x", "password.0A1B2C3D": "x",
		"password.0a1b2c3d.former": "x", "password.0a1b2c3d.previous.1": "x",
	}
	server := map[string]string{"redis-server": "#!/bin/sh\ngrep ^user\n"}
	got := start(t, "redis-single-v1", secret, server, "DBC_PORT=6379", "DBC_PARAM_APPENDONLY=yes", "DBC_PARAM_APPENDFSYNC=always",
		"DBC_PARAM_MAXMEMORY=0", "DBC_PARAM_MAXMEMORY_POLICY=noeviction", "DBC_PARAM_SAVE=")
	const want = `user default reset on ~* &* +@all ">a \"quoted\" \\ one" ">next" ">last"` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestPostgreSQLRefusesAnOwnerThatItReserves(t *testing.T) {
	secret := map[string]string{"password": "x", "owner-password": "y"}
	image := map[string]string{"docker-entrypoint.sh": "#!/bin/sh\necho the image starts\n"}
	for owner, want := range map[string]string{
		"app": "the image starts\n", "Public": "the image starts\n",
		"postgres": "the superuser", "pg_app": "PostgreSQL reserves", "public": "PostgreSQL reserves", "none": "PostgreSQL reserves",
	} {
		got := start(t, "postgresql-single-v1", secret, image, "DBC_OWNER="+owner)
		if !strings.Contains(got, want) || strings.Contains(got, "starts") != strings.Contains(want, "starts") {
			t.Errorf("owner %s: %s", owner, got)
		}
	}
}
