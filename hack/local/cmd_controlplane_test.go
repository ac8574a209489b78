package main

import (
	"slices"
	"testing"
)

func TestFlagsOfTheControlPlaneStandBeforeTheCommand(t *testing.T) {
	cases := map[string]struct {
		arguments, flags, command []string
		ok                        bool
	}{
		"a command alone":           {arguments: []string{"run", "--", "ls", "-l"}, command: []string{"ls", "-l"}, ok: true},
		"flags and a command":       {arguments: []string{"run", "kube-apiserver:--v=2", "--", "ls"}, flags: []string{"kube-apiserver:--v=2"}, command: []string{"ls"}, ok: true},
		"the command's own dashes":  {arguments: []string{"run", "--", "env", "--", "ls"}, command: []string{"env", "--", "ls"}, ok: true},
		"no command":                {arguments: []string{"run", "kube-apiserver:--v=2", "--"}},
		"no dashes":                 {arguments: []string{"run", "ls"}},
		"another verb":              {arguments: []string{"up", "--", "ls"}},
		"nothing before the dashes": {arguments: []string{"--", "ls"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			flags, command, ok := splitRun(c.arguments)
			if ok != c.ok || !slices.Equal(flags, c.flags) || !slices.Equal(command, c.command) {
				t.Errorf("%q, %q, %t", flags, command, ok)
			}
		})
	}
}
