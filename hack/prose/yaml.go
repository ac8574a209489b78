/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/sets"
)

// celLiteral is a literal of CEL.
var celLiteral = regexp.MustCompile(`'((?:\\.|[^'\\])*)'`)

// yamlFile is a YAML file whose prose is read.
type yamlFile struct {
	folder string
	lines  []string
	is     *source
	// texts are the lines of values that are texts: "#" begins no comment there.
	texts sets.Set[int]
}

// readYAML reads comments, descriptions of engines and of their parameters, texts of alerts, messages of admission
// policies, and the text by which OLM describes the operator. OLM's descriptions of fields are generated from the types
// of the API.
func readYAML(file string, text []byte) (*source, error) {
	y := yamlFile{path.Dir(file), strings.Split(string(text), "\n"), &source{}, sets.Set[int]{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		y.walk(&document, "")
	}
	about := comments
	if y.folder == "config/samples" || strings.HasPrefix(y.folder, "charts/") {
		about = docs
	}
	y.is.paragraphs = append(y.is.paragraphs, hashComments(about, y.lines, func(i int) bool { return y.texts.Has(i) })...)
	slices.SortStableFunc(y.is.paragraphs, func(a, b paragraph) int { return cmp.Compare(a.lines[0].number, b.lines[0].number) })
	return y.is, nil
}

// walk reads the texts in a node.
func (y *yamlFile) walk(node *yaml.Node, at string) {
	if node.Kind != yaml.MappingNode {
		for _, inside := range node.Content {
			y.walk(inside, at)
		}
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if c := y.category(key.Value, at); c != "" && value.Kind == yaml.ScalarNode {
			y.text(c, key, value)
		}
		y.walk(value, at+"."+key.Value)
	}
}

// described are the kinds of text of descriptions and summaries, by folder. In other folders they are messages.
var described = map[string]category{
	"config/manifests/bases":          docs,
	"charts/databasecluster-operator": docs,
}

// category returns what kind of text is the value of a key; "" if it is no text.
func (y *yamlFile) category(key, at string) category {
	switch {
	case y.folder == "config/admission" && (key == "message" || key == "messageExpression"):
		return messages
	case key != "description" && key != "summary", y.folder == "config/manifests/bases" && at != ".spec":
		return ""
	case strings.HasPrefix(y.folder, "config/engines/"):
		return crd
	case described[y.folder] != "":
		return described[y.folder]
	default:
		return messages
	}
}

// text reads a value. Its lines after the first stand further right than its key.
func (y *yamlFile) text(c category, key, value *yaml.Node) {
	first, last := value.Line-1, value.Line-1
	for last+1 < len(y.lines) {
		next := y.lines[last+1]
		if indent := len(next) - len(strings.TrimLeft(next, " ")); indent < key.Column && strings.TrimSpace(next) != "" {
			break
		}
		last++
	}
	block := value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	var lines []line
	for i := first; i <= last; i++ {
		y.texts.Insert(i)
		text := " " + strings.TrimLeft(y.lines[i], " ") // an item of a list stands further right than its text
		if i == first {
			if block {
				continue
			}
			text = y.lines[i][value.Column-1:]
		}
		if !block {
			text = strings.Trim(text, `"'`)
		}
		lines = append(lines, line{text, i + 1})
	}
	switch {
	case key.Value == "messageExpression":
		lines = celTexts(lines)
	case !block && first == last:
		lines[0].text = value.Value
	}
	y.is.paragraphs = append(y.is.paragraphs, commentParagraphs(c, lines)...)
}

// celTexts are the literals in the lines of an expression, with %s for the values between them.
func celTexts(lines []line) []line {
	var all []line
	for _, l := range lines {
		var texts []string
		for _, match := range celLiteral.FindAllStringSubmatch(l.text, -1) {
			if strings.Contains(match[1], " ") {
				texts = append(texts, strings.TrimSpace(match[1]))
			}
		}
		if len(texts) > 0 {
			all = append(all, line{strings.Join(texts, " %s "), l.number})
		}
	}
	return all
}
