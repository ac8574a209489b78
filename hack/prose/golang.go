/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// goFile is a Go file whose messages are read. Vale reads its comments.
type goFile struct {
	files *token.FileSet
	is    *source
}

func readGo(file string, text []byte) (*source, error) {
	g := goFile{token.NewFileSet(), &source{}}
	parsed, err := parser.ParseFile(g.files, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return g.is, err
	}
	g.is.native = true
	test := strings.HasSuffix(file, "_test.go")
	if strings.HasPrefix(file, "api/") && !test {
		for _, group := range parsed.Comments {
			g.markers(group)
		}
	}
	if !test && operators(file) {
		g.messages(parsed)
	}
	return g.is, nil
}

// operators reports whether a file is part of the operator: not of its tests or of a tool for developers.
func operators(file string) bool {
	root, rest, _ := strings.Cut(file, "/")
	return root == "api" || root == "cmd" || root == "internal" && !strings.HasPrefix(rest, "testing/")
}

// markers reads the messages of the rules of validation.
func (g *goFile) markers(group *ast.CommentGroup) {
	for _, comment := range group.List {
		if !strings.HasPrefix(comment.Text, "// +") {
			continue
		}
		for _, match := range markerMessage.FindAllStringSubmatch(comment.Text, -1) {
			if text, err := strconv.Unquote(match[1]); err == nil {
				g.message(text, g.line(comment))
			}
		}
	}
}

func (g *goFile) line(node ast.Node) int { return g.files.Position(node.Pos()).Line }
