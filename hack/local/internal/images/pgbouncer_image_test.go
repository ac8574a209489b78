//go:build image && linux

package images

import (
	"strings"
	"testing"
)

// pooler is the image of PgBouncer. The scripts of an engine start it, so it does not start by itself.
var pooler = &server{make: pgBouncer.write}

func TestTheImageOfPgBouncerHasWhatTheScriptsOfAPoolerUse(t *testing.T) {
	for want, arguments := range map[string][]string{
		"PgBouncer 1.24.": {"pgbouncer", "--version"},
		"Python 3.13":     {"python3", "--version"},
		"2.9.":            {"python3", "-c", "import contextlib, signal, socketserver, threading, psycopg2; print(psycopg2.__version__)"},
		"bash":            {"bash", "--version"},
	} {
		if output := inside(t, pooler, arguments...); !strings.Contains(output, want) {
			t.Errorf("%q prints %q, want %q", arguments, output, want)
		}
	}
}
