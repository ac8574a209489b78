package images

import (
	_ "embed"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

var (
	//go:embed redis/provision.sh
	redisProvision string
	//go:embed redis/entrypoint.sh
	redisEntrypoint []byte
)

// redis is an image of Redis 7. It takes the arguments of docker.io/library/redis.
var redis = recipe{
	server:     "Redis",
	pkg:        "redis-server",
	reference:  "localhost/redis:7",
	provision:  redisProvision,
	entrypoint: redisEntrypoint,
	config:     redisConfig,
}

func redisConfig(version string) v1.Config {
	return v1.Config{
		Entrypoint:   []string{entrypointPath},
		Cmd:          []string{"redis-server"},
		User:         "999:999",
		WorkingDir:   "/data",
		ExposedPorts: map[string]struct{}{"6379/tcp": {}},
		Env: []string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"LANG=C.UTF-8",
		},
		Labels: map[string]string{
			labelTitle:       "Redis",
			labelDescription: "Redis 7 from Debian's packages",
			labelVersion:     version,
			labelLicenses:    "BSD-3-Clause",
		},
	}
}
