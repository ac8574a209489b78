// Package main is golangci-lint, linked here so that its version is pinned in this
// module's go.mod and so that a linter of its module plugin system can be linked in
// by one blank import.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"
)

const golangciLint = "github.com/golangci/golangci-lint/v2"

func main() {
	if err := commands.Execute(buildInfo()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitcodes.Failure)
	}
}

// buildInfo reports the version that go.mod pins: golangci-lint keys its cache by it.
func buildInfo() commands.BuildInfo {
	info := commands.BuildInfo{Version: "unknown", GoVersion: "unknown", Commit: "go.mod", Date: "unknown"}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}

	info.GoVersion = build.GoVersion
	for _, dep := range build.Deps {
		if dep.Path == golangciLint {
			info.Version = strings.TrimPrefix(dep.Version, "v")
		}
	}

	return info
}
