/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
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

// profile profiles a program from now until stop is called. It writes NAME.cpu.pprof, NAME.heap.pprof, and the top of
// both as NAME.cpu.txt, NAME.heap.txt and NAME.allocations.txt.
func profile(ctx context.Context, address, dir, name string) (stop func() error) {
	parts := make(chan []string, 1)
	failed := make(chan error, 1)
	enough := make(chan struct{})
	base := filepath.Join(dir, name)
	go func() {
		files, err := profileCPU(ctx, address, base, enough)
		parts <- files
		failed <- err
	}()
	return func() error {
		close(enough)
		files, err := <-parts, <-failed
		heap := base + ".heap.pprof"
		if err := errors.Join(err, download(ctx, address, "heap?gc=1", heap)); err != nil {
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
func profileCPU(ctx context.Context, address, base string, enough <-chan struct{}) (files []string, err error) {
	for {
		file := fmt.Sprintf("%s.cpu-%03d.pprof", base, len(files))
		if err := download(ctx, address, fmt.Sprintf("profile?seconds=%d", profilePart), file); err != nil {
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

func download(ctx context.Context, address, page, file string) error {
	text, err := get(ctx, http.DefaultClient, "http://"+address+"/debug/pprof/"+page, "")
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// pprof writes the output of `go tool pprof`. It shortens a list to its top.
func pprof(ctx context.Context, file string, arguments ...string) error {
	command := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", fmt.Sprintf("-nodecount=%d", profileTop), "-output=" + file}, arguments...)...)
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("go tool pprof %s: %w: %s", strings.Join(arguments, " "), err, said.String())
	}
	return nil
}
