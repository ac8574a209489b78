package main

import (
	"context"
	"slices"
	"testing"
)

func TestFlagsOfTheControlPlaneStandBeforeTheCommand(t *testing.T) {
	for name, c := range map[string]struct {
		arguments, flags, command []string
		ok                        bool
	}{
		"a command alone":          {arguments: []string{"--", "ls", "-l"}, command: []string{"ls", "-l"}, ok: true},
		"flags and a command":      {arguments: []string{"kube-apiserver:--v=2", "--", "ls"}, flags: []string{"kube-apiserver:--v=2"}, command: []string{"ls"}, ok: true},
		"the command's own dashes": {arguments: []string{"--", "env", "--", "ls"}, command: []string{"env", "--", "ls"}, ok: true},
		"no command":               {arguments: []string{"kube-apiserver:--v=2", "--"}},
		"no dashes":                {arguments: []string{"ls"}},
		"nothing":                  {},
	} {
		t.Run(name, func(t *testing.T) {
			var flags, command []string
			run := runCommand(func(_ context.Context, f, c []string) error { flags, command = f, c; return nil })
			run.SilenceErrors, run.SilenceUsage = true, true
			run.SetArgs(c.arguments)
			if err := run.Execute(); (err == nil) != c.ok || !slices.Equal(flags, c.flags) || !slices.Equal(command, c.command) {
				t.Errorf("%q, %q, %v", flags, command, err)
			}
		})
	}
}

func TestEveryCommandSaysWhatItTakes(t *testing.T) {
	for _, arguments := range [][]string{
		{"image", "bundle", "--out", "x", "--version", "1"}, {"image", "nonsense"}, {"image", "pause"}, {"up", "now"},
		{"csi-driver"}, {"nonsense"}, {"tool"}, {"control-plane", "nonsense"},
	} {
		command := root()
		command.SetArgs(arguments)
		if err := command.Execute(); err == nil {
			t.Errorf("%q is taken", arguments)
		}
	}
}
