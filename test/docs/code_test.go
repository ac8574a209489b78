/*
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sources returns the Go files below folders of the repository, without tests.
func sources(t *testing.T, folders ...string) []string {
	t.Helper()
	var files []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// literals returns all string literals below folders, one each line, in quotation marks. Literals that are added to
// each other are one.
func literals(t *testing.T, folders ...string) string {
	t.Helper()
	var all strings.Builder
	for _, file := range sources(t, folders...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			expression, is := node.(ast.Expr)
			if !is {
				return true
			}
			text, constant := literal(expression)
			if constant {
				all.WriteString(`"` + text + "\"\n")
			}
			return !constant
		})
	}
	return all.String()
}

// literal returns the value of a string literal, or of several that are added to each other.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, first := literal(e.X)
		right, second := literal(e.Y)
		return left + right, first && second && e.Op == token.ADD
	}
	return "", false
}

// qualified matches a code span that begins like a symbol of a Go package.
var qualified = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z0-9]*)")

func TestEverySymbolOfAPackageThatAPageNamesExists(t *testing.T) {
	symbols := map[string]map[string]bool{} // by the name of the package
	for _, file := range sources(t, "internal") {
		folder := filepath.Base(filepath.Dir(file))
		if symbols[folder] == nil {
			symbols[folder] = map[string]bool{}
		}
		for name := range declared(t, file) {
			symbols[folder][name] = true
		}
	}
	named := 0
	for page, content := range pages(t) {
		for _, span := range qualified.FindAllStringSubmatch(blocks.ReplaceAllString(content, ""), -1) {
			if known := symbols[span[1]]; known != nil {
				named++
				if !known[span[2]] {
					t.Errorf("%s names %s.%s, which does not exist", page, span[1], span[2])
				}
			}
		}
	}
	if named < 20 {
		t.Errorf("found only %d symbols on the pages", named)
	}
}

// An engine is a declaration, never Go code. Helpers of tests may name one.
func TestTheOperatorKnowsNoEngine(t *testing.T) {
	engine := regexp.MustCompile(`(?i)postgres|patroni|etcd|memcached|redis|mariadb`)
	for _, file := range sources(t, "internal", "cmd") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := engine.Find(text); name != nil && !strings.Contains(file, "internal/testing/") {
			t.Errorf("%s names the engine %s", file, name)
		}
	}
}
