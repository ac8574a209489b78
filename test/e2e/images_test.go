//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// image is an image for some tests only. The first test that needs it builds it and loads it into the node, so other
// tests do not wait. On another cluster, an environment variable names an image that the cluster can pull.
type image struct {
	name, variable string
	load           func() error
}

var (
	redisImage   = newImage("redis", "localhost/redis:7", "REDIS_IMG")
	mariaDBImage = newImage("mariadb", "localhost/mariadb:10.11", "MARIADB_IMG")
	patroniImage = newImage("patroni", "localhost/postgresql-patroni:17", "PATRONI_IMG")
	poolerImage  = newImage("pgbouncer", "localhost/pgbouncer:1.24", "PGBOUNCER_IMG")
	etcdImage    = newImage("etcd", "localhost/etcd:3.5", "ETCD_IMG")
	cacheImage   = newImage("memcached", "localhost/memcached:1.6", "MEMCACHED_IMG")
	s3Image      = newImage("versitygw", "localhost/versitygw:1.0.14", "VERSITYGW_IMG") // keeps its buckets below /data
)

func newImage(kind, name, variable string) image {
	return image{name, variable, sync.OnceValue(func() error {
		tarball := "../../dist/" + kind + ".tar"
		for _, arguments := range [][]string{{"image", kind, "--ref", name, "--out", tarball}, {"load", tarball}} {
			if output, err := exec.Command("../../bin/local", arguments...).CombinedOutput(); err != nil {
				return fmt.Errorf("bin/local %q: %w\n%s", arguments, err, output)
			}
		}
		return nil
	})}
}

// needs returns the name of an image and ensures that the node has it.
func (w world) needs(i image) string {
	w.Helper()
	if onAnotherCluster {
		name := os.Getenv(i.variable)
		if name == "" {
			w.Skipf("needs the image %s, which only the local node has: set %s to an image that this cluster can pull", i.name, i.variable)
		}
		return name
	}
	if err := i.load(); err != nil {
		w.Fatal(err)
	}
	return i.name
}

const redis = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata:
  name: cache
spec:
  replicas: 1
  image: %s
  resources: {requests: {cpu: 10m}}
  storage: {size: 10Mi}
  container:
    dataPath: /data
    port: 6379
    args: [--appendonly, "yes"]
    readinessProbe: {exec: {command: [redis-cli, -e, ping]}, periodSeconds: 2, timeoutSeconds: 5}
`

func TestRedisKeepsItsKeysAfterARestart(t *testing.T) {
	w := newWorld(t)
	w.apply(fmt.Sprintf(redis, w.needs(redisImage)))
	w.await("cache", "Available")
	w.do("exec", "cache-0", "--", "redis-cli", "-e", "set", "note", "still here")
	w.do("delete", "pod", "cache-0", "--now")
	w.do("wait", "pod/cache-0", "--for=create", "--timeout=60s")
	w.do("wait", "pod/cache-0", "--for=condition=Ready", "--timeout="+patience.String())
	// The Service is ready a moment after the pod.
	w.eventually("still here", "exec", "cache-0", "--", "redis-cli", "-h", "cache", "get", "note")
}
