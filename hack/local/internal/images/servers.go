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
	//go:embed redis/provision.sh
	redisProvision string
	//go:embed redis/entrypoint.sh
	redisEntrypoint []byte
	//go:embed mariadb/provision.sh
	mariaDBProvision string
	//go:embed mariadb/entrypoint.sh
	mariaDBEntrypoint []byte
	//go:embed patroni/provision.sh
	patroniProvision string
	//go:embed pgbouncer/provision.sh
	pgBouncerProvision string
	//go:embed etcd/provision.sh
	etcdProvision string
	//go:embed memcached/provision.sh
	memcachedProvision string
)

// systemPath is the PATH of Debian.
const systemPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

var (
	// postgreSQL is an image of PostgreSQL 15. It takes the environment variables of
	// docker.io/library/postgres.
	postgreSQL = recipe{
		server:     "PostgreSQL",
		release:    bookworm,
		pkg:        "postgresql-15",
		reference:  "localhost/postgresql:15",
		provision:  postgreSQLProvision,
		entrypoint: postgreSQLEntrypoint,
		config: v1.Config{
			Cmd:          []string{"postgres"},
			ExposedPorts: map[string]struct{}{"5432/tcp": {}},
			// A fast shutdown. On SIGTERM PostgreSQL would wait for its clients to disconnect.
			StopSignal: "SIGINT",
			Env: []string{
				"PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
				"LANG=C.UTF-8",
				"PGDATA=/var/lib/database/pgdata",
			},
			Labels: map[string]string{labelDescription: "PostgreSQL 15 from Debian's packages", labelLicenses: "PostgreSQL"},
		},
	}
	// redis is an image of Redis 7. It takes the arguments of docker.io/library/redis.
	redis = recipe{
		server:     "Redis",
		release:    bookworm,
		pkg:        "redis-server",
		reference:  "localhost/redis:7",
		provision:  redisProvision,
		entrypoint: redisEntrypoint,
		config: v1.Config{
			Cmd:          []string{"redis-server"},
			WorkingDir:   "/data",
			ExposedPorts: map[string]struct{}{"6379/tcp": {}},
			Env:          []string{systemPath, "LANG=C.UTF-8"},
			Labels:       map[string]string{labelDescription: "Redis 7 from Debian's packages", labelLicenses: "BSD-3-Clause"},
		},
	}
	// mariaDB is an image of MariaDB 10.11 for engines that start the server themselves. It has the programs and the
	// user of docker.io/library/mariadb, but does not create a database.
	mariaDB = recipe{
		server:     "MariaDB",
		release:    bookworm,
		pkg:        "mariadb-server-core",
		reference:  "localhost/mariadb:10.11",
		provision:  mariaDBProvision,
		entrypoint: mariaDBEntrypoint,
		config: v1.Config{
			Cmd:          []string{"mariadbd"},
			ExposedPorts: map[string]struct{}{"3306/tcp": {}},
			Env:          []string{systemPath, "LANG=C.UTF-8"},
			Labels:       map[string]string{labelDescription: "MariaDB 10.11 from Debian's packages", labelLicenses: "GPL-2.0-only"},
		},
	}
	// patroni is an image of PostgreSQL 17 with Patroni. It creates no database and has no configuration: the scripts of
	// an engine write the configuration and start Patroni.
	patroni = recipe{
		server:    "PostgreSQL with Patroni",
		release:   trixie,
		pkg:       "patroni",
		reference: "localhost/postgresql-patroni:17",
		provision: patroniProvision,
		config: v1.Config{
			Cmd:          []string{"patroni"},
			ExposedPorts: map[string]struct{}{"5432/tcp": {}, "8008/tcp": {}},
			Env: []string{
				"PATH=/usr/lib/postgresql/17/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
				"LANG=C.UTF-8",
			},
			Labels: map[string]string{labelDescription: "PostgreSQL 17 with Patroni from Debian's packages", labelLicenses: "PostgreSQL AND MIT"},
		},
	}
	// pgBouncer is an image of PgBouncer 1.24. It has no configuration: the scripts of an engine write one.
	pgBouncer = recipe{
		server:    "PgBouncer",
		release:   trixie,
		pkg:       "pgbouncer",
		reference: "localhost/pgbouncer:1.24",
		provision: pgBouncerProvision,
		config: v1.Config{
			Cmd:          []string{"pgbouncer"},
			ExposedPorts: map[string]struct{}{"5432/tcp": {}},
			Env:          []string{systemPath, "LANG=C.UTF-8"},
			Labels:       map[string]string{labelDescription: "PgBouncer 1.24 from Debian's packages", labelLicenses: "ISC"},
		},
	}
	// cloudNativePGPooler is the image of pgBouncer for poolers of CloudNativePG. They start this path, as this user.
	cloudNativePGPooler = recipe{
		server:    "PgBouncer for CloudNativePG",
		release:   trixie,
		pkg:       "pgbouncer",
		reference: "localhost/cloudnative-pg-pgbouncer:1.24",
		provision: "\ngroupadd --system --gid 996 pgbouncer\nuseradd --system --uid 998 --gid pgbouncer --no-create-home pgbouncer\n" +
			pgBouncerProvision + "\nln -s ../sbin/pgbouncer /usr/bin/pgbouncer\n",
		config: pgBouncer.config,
	}
	// etcd is an image of etcd 3.5 with its clients and a shell, which the official image does not have.
	etcd = recipe{
		server:    "etcd",
		release:   trixie,
		pkg:       "etcd-server",
		reference: "localhost/etcd:3.5",
		provision: etcdProvision,
		config: v1.Config{
			Cmd:          []string{"etcd"},
			ExposedPorts: map[string]struct{}{"2379/tcp": {}, "2380/tcp": {}},
			Env:          []string{systemPath, "LANG=C.UTF-8"},
			Labels:       map[string]string{labelDescription: "etcd 3.5 from Debian's packages", labelLicenses: "Apache-2.0"},
		},
	}
	// memcached is an image of memcached 1.6. Probes connect with /dev/tcp of bash.
	memcached = recipe{
		server:    "memcached",
		release:   trixie,
		pkg:       "memcached",
		reference: "localhost/memcached:1.6",
		provision: memcachedProvision,
		config: v1.Config{
			Cmd:          []string{"memcached"},
			ExposedPorts: map[string]struct{}{"11211/tcp": {}},
			Env:          []string{systemPath, "LANG=C.UTF-8"},
			Labels:       map[string]string{labelDescription: "memcached 1.6 from Debian's packages", labelLicenses: "BSD-3-Clause"},
		},
	}
)
