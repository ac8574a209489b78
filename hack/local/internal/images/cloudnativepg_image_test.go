//go:build image && linux

package images

import (
	"strings"
	"testing"
)

var otherPooler = &server{make: cloudNativePGPooler.write}

func TestPoolersOfCloudNativePGFindTheirProgramAndTheirUser(t *testing.T) {
	for want, arguments := range map[string][]string{
		"PgBouncer 1.24.":   {"/usr/bin/pgbouncer", "--version"},
		"998(pgbouncer)":    {"id", "pgbouncer"},
		"gid=996(pgbouncer": {"id", "pgbouncer"},
	} {
		if output := inside(t, otherPooler, arguments...); !strings.Contains(output, want) {
			t.Errorf("%q prints %q, want %q", arguments, output, want)
		}
	}
}
