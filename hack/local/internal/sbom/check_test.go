package sbom

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

func TestABillListsExactlyTheModulesOfTheBinary(t *testing.T) {
	const (
		std   = `{"name": "std", "version": "go1.26.8"}`
		logr  = `{"name": "github.com/go-logr/logr", "version": "v1.4.4", "evidence": {"licenses": [{"license": {"id": "Apache-2.0"}}]}}`
		mine  = `{"name": "example.com/mine", "version": "v2.0.0", "evidence": {"licenses": [{"license": {"id": "MIT"}}]}}`
		other = `{"name": "github.com/go-logr/logr", "version": "v1.4.3", "evidence": {"licenses": [{"license": {"id": "Apache-2.0"}}]}}`
		bare  = `{"name": "github.com/go-logr/logr", "version": "v1.4.4"}`
	)
	built := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "github.com/go-logr/logr", Version: "v1.4.4"},
		{Path: "example.com/theirs", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/mine", Version: "v2.0.0"}},
	}}
	for name, c := range map[string]struct {
		components []string
		want       []string
	}{
		"the same":        {[]string{std, logr, mine}, nil},
		"one too few":     {[]string{std, mine}, []string{"it lacks github.com/go-logr/logr@v1.4.4"}},
		"no Go":           {[]string{logr, mine}, []string{"it lacks std@go1.26.8"}},
		"another version": {[]string{std, other, mine}, []string{"it lists github.com/go-logr/logr@v1.4.3", "it lacks github.com/go-logr/logr@v1.4.4"}},
		"no license":      {[]string{std, bare, mine}, []string{"it has no license of github.com/go-logr/logr@v1.4.4"}},
	} {
		var listed bill
		if err := json.Unmarshal([]byte(`{"components": [`+strings.Join(c.components, ",")+`]}`), &listed); err != nil {
			t.Fatal(err)
		}
		err := listed.check(built)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: error is %v, want one with %q", name, err, c.want)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is %v, want one with %q", name, err, want)
			}
		}
	}
}
