/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// profilePart is the length of a part of a CPU profile. A profile has at least one part, so that a phase of unknown
// length can be profiled.
const profilePart = 10

// profileTop is the number of functions in the summary of a profile.
const profileTop = 10

// profiled runs a phase, and profiles the contestant meanwhile if --profiles is set.
func (w *world) profiled(ctx context.Context, c *contestant, name string, phase func() error) error {
	p := c.program()
	if w.profiles == "" || p.profiles == "" {
		return phase()
	}
	if err := os.MkdirAll(w.profiles, 0o750); err != nil {
		return fmt.Errorf("create the directory of profiles: %w", err)
	}
	stop := p.profile(ctx, filepath.Join(w.profiles, name))
	return errors.Join(phase(), stop())
}

// profile profiles a program from now until stop is called. It writes BASE.cpu.pprof, BASE.heap.pprof, and the top of
// both as BASE.cpu.txt, BASE.heap.txt and BASE.allocations.txt.
func (p *program) profile(ctx context.Context, base string) (stop func() error) {
	parts := make(chan []string, 1)
	failed := make(chan error, 1)
	enough := make(chan struct{})
	go func() {
		files, err := p.profileCPU(ctx, base, enough)
		parts <- files
		failed <- err
	}()
	return func() error {
		close(enough)
		files, err := <-parts, <-failed
		heap := base + ".heap.pprof"
		if err := errors.Join(err, p.download(ctx, "heap?gc=1", heap)); err != nil {
			return err
		}
		err = errors.Join(
			pprof(ctx, base+".cpu.pprof", append([]string{"-proto"}, files...)...),
			pprof(ctx, base+".cpu.txt", append([]string{"-top"}, files...)...),
			pprof(ctx, base+".heap.txt", "-top", "-sample_index=inuse_space", heap),
			pprof(ctx, base+".allocations.txt", "-top", "-sample_index=alloc_space", heap),
		)
		for _, file := range files {
			err = errors.Join(err, os.Remove(file))
		}
		return err
	}
}

// profileCPU downloads parts of a CPU profile until it is enough.
func (p *program) profileCPU(ctx context.Context, base string, enough <-chan struct{}) (files []string, err error) {
	for {
		file := fmt.Sprintf("%s.cpu-%03d.pprof", base, len(files))
		if err := p.download(ctx, fmt.Sprintf("profile?seconds=%d", profilePart), file); err != nil {
			return files, err
		}
		files = append(files, file)
		select {
		case <-enough:
			return files, nil
		default:
		}
	}
}

func (p *program) download(ctx context.Context, page, file string) error {
	text, err := get(ctx, p.client, p.profiles+page, "")
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// pprof writes the output of `go tool pprof`. It shortens a list to its top.
func pprof(ctx context.Context, file string, arguments ...string) error {
	command := exec.CommandContext(ctx, "go",
		append([]string{"tool", "pprof", fmt.Sprintf("-nodecount=%d", profileTop), "-output=" + file}, arguments...)...)
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("go tool pprof %s: %w: %s", strings.Join(arguments, " "), err, said.String())
	}
	return nil
}
