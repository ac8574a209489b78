/*
SPDX-License-Identifier: Apache-2.0
*/

// Package internal_test holds the order of the packages.
package internal_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// place is a package, or a folder of packages, in the order of imports.
type place struct {
	name string
	// pure packages decide. They have no client, context, clock, random numbers, files, network or logger, nor import packages that do:
	// the same arguments give the same result. Only two files may have these: read.go reads what the others decide from, and act.go
	// executes what they have decided.
	pure bool
	// importedBy are the only places that may import it; nil for all that follow.
	importedBy []string
	// imports are the only places that it may import; nil for all that precede.
	imports []string
}

// order is the order of imports: a package imports only packages that precede it.
var order = []place{
	{name: "protocol", pure: true},
	{name: "archive", pure: true, imports: none, importedBy: []string{"transfer"}},
	{name: "reuse", imports: []string{"protocol"}, importedBy: []string{"transfer"}},
	{name: "naming", pure: true},
	// Only the controller issues certificates. The pure packages know public facts of them, and transfer verifies servers.
	{name: "pki", imports: none, importedBy: []string{"pods", "jobs", "state", "resources", "plan/situation", "subject", "certificate", "user", "user/plan",
		"companion", "companion/plan", "controller", "transfer"}},
	{name: "engine", pure: true},
	{name: "memo", imports: none, importedBy: []string{"objects", "resources"}},
	{name: "objects", pure: true},
	{name: "pods", pure: true},
	{name: "jobs", pure: true},
	{name: "state", pure: true},
	{name: "resources", pure: true},
	{name: "operation", pure: true},
	{name: "apply"},
	{name: "kit"},
	{name: "execute"},
	{name: "plan/situation", pure: true},
	{name: "plan/phase", pure: true},
	{name: "subject", pure: true},
	// The cluster that an object of another kind names.
	{name: "named", pure: true},
	// Subjects do not import each other, and the core does not import them: only the list of package plan does.
	{name: "credentials", pure: true, imports: core, importedBy: theList},
	{name: "identity", pure: true, imports: core, importedBy: theList},
	{name: "connection", pure: true, imports: core, importedBy: theList},
	{name: "schedule", pure: true, imports: core, importedBy: theList},
	{name: "drain", pure: true, imports: core, importedBy: theList},
	{name: "protection", pure: true, imports: core, importedBy: theList},
	{name: "storage", pure: true, imports: core, importedBy: theList},
	{name: "space", pure: true, imports: core, importedBy: theList},
	{name: "autoresize", pure: true, imports: core, importedBy: theList},
	{name: "network", pure: true, imports: core, importedBy: []string{"plan", "cmd/kubectl-dbc/internal/preview"}},
	{name: "certificate", pure: true, imports: core, importedBy: theList},
	{name: "monitoring", pure: true, imports: core, importedBy: theList},
	{name: "rotation", pure: true, imports: core, importedBy: theList},
	{name: "archiver", pure: true, imports: core, importedBy: theList},
	{name: "companions", pure: true, imports: core, importedBy: theList},
	{name: "accounts", pure: true, imports: core, importedBy: []string{"plan", "accounts/plan", "database", "user", "user/plan"}},
	{name: "plan/disturb", pure: true},
	{name: "plan/members", pure: true},
	{name: "plan/restore", pure: true},
	{name: "plan/replacement", pure: true},
	{name: "plan/deletion", pure: true},
	{name: "plan", pure: true},
	{name: "status", pure: true},
	{name: "backup/plan", pure: true},
	{name: "restoration/plan", pure: true},
	{name: "accounts/plan", pure: true, importedBy: []string{"database", "user", "user/plan"}},
	{name: "user/plan", pure: true, importedBy: []string{"user"}},
	{name: "companion/plan", pure: true, importedBy: []string{"companion"}},
	{name: "controller", importedBy: []string{"kinds", "manager", "cmd/kubectl-dbc/internal/preview"}},
	{name: "backup", importedBy: []string{"kinds"}},
	{name: "restoration", importedBy: []string{"kinds"}},
	{name: "database", importedBy: []string{"kinds"}},
	{name: "user", importedBy: []string{"kinds"}},
	{name: "companion", importedBy: []string{"kinds"}},
	{name: "kinds", importedBy: onlyTheManager},
	{name: "acceptance", importedBy: onlyTheManager},
	// Controllers read logs, and the use of volumes, through an interface.
	{name: "kubelet", imports: []string{"naming", "state", "subject"}, importedBy: onlyTheManager},
	{name: "logs", importedBy: onlyTheManager},
	// Metrics report the spec and the status of a cluster, and facts of its members that no decision reads.
	{name: "metrics", imports: []string{"state"}, importedBy: onlyTheManager},
	// The operator does not depend on OLM.
	{name: "olm", imports: none, importedBy: onlyTheManager},
	{name: "transfer", imports: []string{"protocol", "archive", "reuse", "pki"}, importedBy: []string{"cmd/transfer"}},
	{name: "config", imports: none, importedBy: []string{"config", "manager"}},
	{name: "manager", importedBy: []string{"cmd"}},
	{name: "cmd/transfer", imports: []string{"transfer"}},
	{name: "cmd", imports: []string{"manager"}},
	// The plugin of kubectl is a client like others: it knows the API. Only three packages know the operator: preview and restoring repeat
	// its decisions, and reporting knows which Secrets it reads.
	{name: "cmd/kubectl-dbc/internal/text", pure: true, imports: none, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/why", pure: true, imports: none, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/status", pure: true, imports: []string{"cmd/kubectl-dbc/internal/text", "cmd/kubectl-dbc/internal/why"}, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/requests", pure: true, imports: []string{"cmd/kubectl-dbc/internal/text"}, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/restoring", pure: true, imports: []string{"state", "cmd/kubectl-dbc/internal/text"}, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/declared", pure: true, imports: []string{"cmd/kubectl-dbc/internal/text"}, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/preview", pure: true, importedBy: plugin, imports: []string{
		"naming", "objects", "pods", "resources", "operation", "apply", "kit", "plan/situation", "network", "plan", "controller",
	}},
	{name: "cmd/kubectl-dbc/internal/connecting", pure: true, imports: none, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/merging", pure: true, imports: []string{"cmd/kubectl-dbc/internal/text"}, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/redact", pure: true, imports: none, importedBy: plugin},
	{name: "cmd/kubectl-dbc/internal/reporting", pure: true, importedBy: plugin, imports: []string{
		"naming", "engine", "pods", "cmd/kubectl-dbc/internal/text", "cmd/kubectl-dbc/internal/merging",
	}},
	{name: "cmd/kubectl-dbc/internal/cli", imports: plugin, importedBy: []string{"cmd/kubectl-dbc"}},
	{name: "cmd/kubectl-dbc", imports: []string{"cmd/kubectl-dbc/internal/cli"}},
}

var (
	none = []string{}
	// core is what a subject may see, and theList is where its line stands.
	core           = []string{"protocol", "naming", "pki", "engine", "objects", "pods", "jobs", "state", "resources", "operation", "apply", "kit", "plan/situation", "plan/phase", "subject"}
	theList        = []string{"plan"}
	onlyTheManager = []string{"manager"}
	// plugin are the packages of the plugin of kubectl that import others of it.
	plugin = []string{
		"cmd/kubectl-dbc/internal/text", "cmd/kubectl-dbc/internal/why", "cmd/kubectl-dbc/internal/status", "cmd/kubectl-dbc/internal/requests",
		"cmd/kubectl-dbc/internal/restoring", "cmd/kubectl-dbc/internal/connecting", "cmd/kubectl-dbc/internal/merging",
		"cmd/kubectl-dbc/internal/declared", "cmd/kubectl-dbc/internal/preview",
		"cmd/kubectl-dbc/internal/redact", "cmd/kubectl-dbc/internal/reporting", "cmd/kubectl-dbc/internal/cli",
	}
)

// impure are the files of a pure package that read and act.
var impure = []string{"read.go", "act.go"}

// pureImports are the packages that a pure package may import, besides those of the operator. A slash at the end means all below.
var pureImports = []string{
	"bytes", "cmp", "crypto/sha256", "encoding/", "errors", "flag", "fmt", "hash", "hash/", "iter", "maps", "math", "math/big", "net/netip", "net/url",
	"path", "reflect", "regexp", "slices", "sort", "strconv", "strings", "text/template", "text/template/parse", "time", "unicode", "unicode/utf8",
	ours + "api/", "github.com/robfig/cron/v3", "k8s.io/api/", "k8s.io/apimachinery/pkg/api/", "k8s.io/apimachinery/pkg/apis/", "k8s.io/apimachinery/pkg/runtime/",
	"k8s.io/apimachinery/pkg/runtime", "k8s.io/apimachinery/pkg/types", "k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/util/duration", "k8s.io/apimachinery/pkg/util/intstr",
	"k8s.io/apimachinery/pkg/util/sets", "k8s.io/apimachinery/pkg/util/validation", "k8s.io/apimachinery/pkg/util/validation/field",
	"k8s.io/apimachinery/third_party/", "k8s.io/client-go/applyconfigurations/", "k8s.io/utils/ptr", "mvdan.cc/sh/v3/syntax", "sigs.k8s.io/yaml",
}

func TestImportsFollowTheOrderOfThePackages(t *testing.T) {
	for _, broken := range breaches(readImports(t)) {
		t.Error(broken)
	}
}

func TestAnImportAgainstTheOrderIsFound(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"backwards":             {"state", "plan", "precedes"},
		"from above":            {"plan", "state", ""},
		"into a package itself": {"plan/members", "plan/members", ""},
		"another reader":        {"plan", "memo", "only objects, resources"},
		"more than it may":      {"metrics", "plan", "only state"},
		"a new package":         {"poolers", "state", "no place"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(breaches(imports{c.from: {ours + "internal/" + c.to: "file.go"}}), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for _, target := range []string{"context", "crypto/rand", "io", "os", "net/http", "sigs.k8s.io/controller-runtime/pkg/client", "k8s.io/apimachinery/pkg/util/rand", ours + "internal/kit"} {
		if len(breaches(imports{"subject": {target: "file.go"}})) != 1 {
			t.Errorf("subject may import %s", target)
		}
		if len(breaches(imports{"controller": {target: "file.go"}})) != 0 {
			t.Errorf("controller may not import %s", target)
		}
	}
}

// breaches describes every import that the order does not allow.
func breaches(all imports) []string {
	var found []string
	for from, targets := range all {
		importer, ok := placeOf(from)
		if !ok {
			found = append(found, fmt.Sprintf("package %s has no place: add it to the order in internal/architecture_test.go", from))
			continue
		}
		for target, file := range targets {
			if problem := problemOf(importer, target, order[importer].pure && !slices.Contains(impure, path.Base(file))); problem != "" {
				found = append(found, fmt.Sprintf("%s: %s %s", file, from, problem))
			}
		}
	}
	slices.Sort(found)
	return found
}

func problemOf(importer int, target string, pure bool) string {
	to, internal := packageOf(target)
	if !internal {
		if pure && !slices.ContainsFunc(pureImports, func(p string) bool { return target == p || strings.HasSuffix(p, "/") && strings.HasPrefix(target, p) }) {
			return fmt.Sprintf("is pure, so it must not import %s", target)
		}
		return ""
	}
	imported, ok := placeOf(to)
	is := order[importer]
	switch {
	case !ok:
		return fmt.Sprintf("imports %s, which has no place in the order", to)
	case imported == importer:
		return ""
	case imported > importer:
		return fmt.Sprintf("imports %s, but precedes it", to)
	case is.imports != nil && !slices.Contains(is.imports, order[imported].name):
		return fmt.Sprintf("imports %s, but may import only %s", to, strings.Join(is.imports, ", "))
	case order[imported].importedBy != nil && !slices.Contains(order[imported].importedBy, is.name):
		return fmt.Sprintf("imports %s, but only %s may", to, strings.Join(order[imported].importedBy, ", "))
	case pure && !order[imported].pure && !slices.Contains(order[imported].importedBy, is.name): // pki and memo name their readers
		return fmt.Sprintf("is pure, so it must not import %s", to)
	default:
		return ""
	}
}

// placeOf is the index of the place with the longest name that is the package or a folder above it.
func placeOf(name string) (place int, found bool) {
	for i, p := range order {
		if (name == p.name || strings.HasPrefix(name, p.name+"/")) && (!found || len(p.name) > len(order[place].name)) {
			place, found = i, true
		}
	}
	return place, found
}
