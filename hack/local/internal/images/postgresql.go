package images

import (
	_ "embed"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

var (
	//go:embed postgresql/provision.sh
	postgreSQLProvision string
	//go:embed postgresql/entrypoint.sh
	postgreSQLEntrypoint []byte
)

// postgreSQL is an image of PostgreSQL 15. It takes the environment variables of
// docker.io/library/postgres.
var postgreSQL = recipe{
	server:     "PostgreSQL",
	pkg:        "postgresql-15",
	reference:  "localhost/postgresql:15",
	provision:  postgreSQLProvision,
	entrypoint: postgreSQLEntrypoint,
	config:     postgreSQLConfig,
}

func postgreSQLConfig(version string) v1.Config {
	return v1.Config{
		Entrypoint:   []string{entrypointPath},
		Cmd:          []string{"postgres"},
		User:         "999:999",
		ExposedPorts: map[string]struct{}{"5432/tcp": {}},
		// A fast shutdown. On SIGTERM PostgreSQL would wait for its clients to go.
		StopSignal: "SIGINT",
		Env: []string{
			"PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"LANG=C.UTF-8",
			"PGDATA=/var/lib/database/pgdata",
		},
		Labels: map[string]string{
			labelTitle:       "PostgreSQL",
			labelDescription: "PostgreSQL 15 from Debian's packages",
			labelVersion:     version,
			labelLicenses:    "PostgreSQL",
		},
	}
}
