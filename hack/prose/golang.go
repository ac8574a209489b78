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
	"unicode"

	"k8s.io/apimachinery/pkg/util/sets"
)

// goFile is a Go file whose prose is read.
type goFile struct {
	files *token.FileSet
	is    *source
	// names are what a comment documents, whose first word is its name; described are the comments that become
	// descriptions in the CRDs.
	names     map[*ast.CommentGroup]sets.Set[string]
	described sets.Set[*ast.CommentGroup]
}

func readGo(file string, text []byte) (*source, error) {
	g := goFile{token.NewFileSet(), &source{}, map[*ast.CommentGroup]sets.Set[string]{}, sets.Set[*ast.CommentGroup]{}}
	parsed, err := parser.ParseFile(g.files, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return g.is, err
	}
	test := strings.HasSuffix(file, "_test.go")
	ast.Inspect(parsed, g.declared)
	api := strings.HasPrefix(file, "api/") && !test
	for _, group := range parsed.Comments {
		c := comments
		if api && g.described.Has(group) {
			c = crd
		}
		g.comment(c, group)
		if api {
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

// declared records which comment documents what.
func (g *goFile) declared(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.FuncDecl:
		g.documents(n.Doc, n.Name)
	case *ast.TypeSpec:
		g.documents(n.Doc, n.Name)
		g.described.Insert(n.Doc)
	case *ast.ValueSpec:
		g.documents(n.Doc, n.Names...)
		g.documents(n.Comment, n.Names...)
	case *ast.Field:
		g.documents(n.Doc, n.Names...)
		g.documents(n.Comment, n.Names...)
		g.described.Insert(n.Doc)
	case *ast.GenDecl:
		for _, s := range n.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				g.documents(n.Doc, s.Name)
				g.described.Insert(n.Doc)
			case *ast.ValueSpec:
				g.documents(n.Doc, s.Names...)
			}
		}
	}
	return true
}

func (g *goFile) documents(comment *ast.CommentGroup, names ...*ast.Ident) {
	if comment == nil {
		return
	}
	if g.names[comment] == nil {
		g.names[comment] = sets.Set[string]{}
	}
	for _, name := range names {
		g.names[comment].Insert(name.Name)
	}
}

func (g *goFile) comment(c category, group *ast.CommentGroup) {
	var lines []line
	for _, comment := range group.List {
		lines = append(lines, goCommentLines(comment.Text, g.line(comment))...)
	}
	for _, p := range commentParagraphs(c, lines) {
		if strings.Contains(p.lines[0].text, "SPDX-License") || strings.HasPrefix(p.lines[0].text, "Copyright ") {
			continue
		}
		p.lines[0].text = withoutName(p.lines[0].text, g.names[group])
		g.is.paragraphs = append(g.is.paragraphs, p)
	}
}

// withoutName masks the name of the documented object: it is code, even if it is also a word.
func withoutName(text string, names sets.Set[string]) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 || !names.Has(text[:end]) {
		return text
	}
	return "X" + strings.Repeat("x", end-1) + text[end:]
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
