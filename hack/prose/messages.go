/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

var (
	word = regexp.MustCompile(`(?:^|[\s"(])[A-Za-z][A-Za-z'’-]+(?:[\s.,;:!?)"]|$)`)
	// script is a text for a machine as a whole: a shell script, a regular expression, JSON or YAML.
	script = regexp.MustCompile(`^#!/|(?m:^set -e)|^\^|\(\?[:=!]|^\s*[{[]\s*"|^apiVersion: `)
	// code is for a machine in a text for people: a call of a shell, an operator of CEL or of a shell.
	code = regexp.MustCompile(`\$\([^)]*\)|\bself\.[\w.]+|&&|\|\|`)
)

// messages reads the string literals that a person may read.
func (g *goFile) messages(parsed *ast.File) {
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			g.usage(n.Tag)
			n.Tag = nil
		case *ast.CallExpr:
			return !isRegexp(n.Fun)
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				return !g.sum(n)
			}
		case *ast.BasicLit:
			g.literals([]ast.Expr{n})
		}
		return true
	})
}

func isRegexp(function ast.Expr) bool {
	selector, is := function.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := selector.X.(*ast.Ident)
	return is && from.Name == "regexp"
}

// usage reads what --help prints of a flag, which stands in a tag.
func (g *goFile) usage(tag *ast.BasicLit) {
	if tag == nil {
		return
	}
	if text, err := strconv.Unquote(tag.Value); err == nil {
		g.message(reflect.StructTag(text).Get("usage"), g.line(tag))
	}
}

// sum reads literals that are added as one text; false when there is none among them, or something else to look into.
func (g *goFile) sum(n *ast.BinaryExpr) bool {
	var parts []ast.Expr
	plain := true
	var flatten func(ast.Expr)
	flatten = func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.BinaryExpr:
			flatten(e.X)
			flatten(e.Y)
		case *ast.CallExpr, *ast.FuncLit, *ast.CompositeLit:
			plain = false
			parts = append(parts, e)
		default:
			parts = append(parts, e)
		}
	}
	flatten(n)
	if !plain {
		return false
	}
	g.literals(parts)
	return true
}

// literals reads a text that consists of literals and of values, which count as one word each.
func (g *goFile) literals(parts []ast.Expr) {
	var lines []line
	var whole strings.Builder
	for _, part := range parts {
		number, text := g.line(part), "%s"
		if literal, is := part.(*ast.BasicLit); is {
			if literal.Kind != token.STRING {
				return
			}
			unquoted, err := strconv.Unquote(literal.Value)
			if err != nil {
				return
			}
			text = unquoted
		}
		whole.WriteString(text)
		for i, t := range strings.Split(text, "\n") {
			at := number
			if literal, is := part.(*ast.BasicLit); is && strings.HasPrefix(literal.Value, "`") {
				at += i
			}
			if last := len(lines) - 1; i == 0 && last >= 0 && lines[last].number == at {
				lines[last].text += t
				continue
			}
			lines = append(lines, line{t, at})
		}
	}
	g.add(whole.String(), lines)
}

func (g *goFile) message(text string, number int) { g.add(text, []line{{text, number}}) }

func (g *goFile) add(whole string, lines []line) {
	g.is.paragraphs = append(g.is.paragraphs, messageOf(whole, lines)...)
}

// messageOf returns a text as a message; nothing when it is none. With less than three words it is no sentence: only
// the rules on words apply.
func messageOf(whole string, lines []line) []paragraph {
	n := words(whole)
	if script.MatchString(whole) || n == 0 || !strings.Contains(whole, " ") {
		return nil
	}
	p := paragraph{category: messages}
	if n < 3 {
		p.category = short
	}
	for _, l := range lines {
		if l.text = strings.TrimSpace(code.ReplaceAllString(l.text, "%s")); l.text != "" {
			p.lines = append(p.lines, l)
		}
	}
	return []paragraph{p}
}

func words(text string) int {
	n := 0
	for field := range strings.FieldsSeq(text) {
		if word.MatchString(field) {
			n++
		}
	}
	return n
}
