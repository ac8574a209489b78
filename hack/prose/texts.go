/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"html"
	"path"
	"regexp"
	"strings"
)

var (
	templateComment = regexp.MustCompile(`(?s)\{\{-?\s*/\*(.*?)\*/\s*-?\}\}`)
	templateAction  = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	templateBranch  = regexp.MustCompile(`^\s*\{\{-?\s*(?:if|else|end|with|range)\b.*\}\}\s*$`)
	quoted          = regexp.MustCompile(`"((?:\\.|[^"\\])*)"`)
	svgText         = regexp.MustCompile(`<(?:text|tspan|title|desc)\b[^>]*>([^<]+)`)
	jsonText        = regexp.MustCompile(`"(?:title|description)":\s*("(?:\\.|[^"\\])*")`)
	luaComment      = regexp.MustCompile(`^\s*--\s?(.*)$`)
	tsComment       = regexp.MustCompile(`(?m)^\s*(//.*|/\*\*.*\*/)$`)
)

// lineAt is the number of the line in which an offset is.
func lineAt(text string, offset int) int { return strings.Count(text[:offset], "\n") + 1 }

// readTemplate reads a template of a chart: its comments, and the texts with which it fails. NOTES.txt is printed.
func readTemplate(file string, raw []byte) (*source, error) {
	text, is := string(raw), &source{}
	for _, at := range templateComment.FindAllStringSubmatchIndex(text, -1) {
		is.paragraphs = append(is.paragraphs, commentParagraphs(comments, goCommentLines("/*"+text[at[2]:at[3]]+"*/", lineAt(text, at[2])))...)
	}
	for _, action := range templateAction.FindAllStringIndex(text, -1) {
		for _, at := range quoted.FindAllStringSubmatchIndex(text[action[0]:action[1]], -1) {
			literal := text[action[0]+at[2] : action[0]+at[3]]
			is.paragraphs = append(is.paragraphs, messageOf(literal, []line{{literal, lineAt(text, action[0]+at[2])}})...)
		}
	}
	lines := strings.Split(text, "\n")
	if path.Base(file) != "NOTES.txt" {
		is.paragraphs = append(is.paragraphs, hashComments(comments, lines, nil)...)
		return is, nil
	}
	var notes []line
	for i, l := range lines {
		if !templateBranch.MatchString(l) {
			notes = append(notes, line{" " + templateAction.ReplaceAllString(l, "%s"), i + 1}) // three spaces begin code
		}
	}
	is.paragraphs = append(is.paragraphs, commentParagraphs(docs, notes)...)
	return is, nil
}

// readSVG reads the texts of a picture.
func readSVG(_ string, raw []byte) (*source, error) {
	text, is := string(raw), &source{}
	for _, at := range svgText.FindAllStringSubmatchIndex(text, -1) {
		is.paragraphs = append(is.paragraphs, paragraph{docs, []line{{html.UnescapeString(text[at[2]:at[3]]), lineAt(text, at[2])}}})
	}
	return is, nil
}

// readDashboard reads the titles and descriptions of a dashboard of Grafana.
func readDashboard(_ string, raw []byte) (*source, error) {
	text, is := string(raw), &source{}
	for _, at := range jsonText.FindAllStringSubmatchIndex(text, -1) {
		var value string
		if err := json.Unmarshal([]byte(text[at[2]:at[3]]), &value); err != nil {
			return nil, err
		}
		is.paragraphs = append(is.paragraphs, messageOf(value, []line{{value, lineAt(text, at[2])}})...)
	}
	return is, nil
}

// readLua reads the comments and the messages of a health check.
func readLua(_ string, raw []byte) (*source, error) {
	is := &source{}
	var comment []line
	for i, l := range strings.Split(string(raw)+"\n", "\n") {
		if match := luaComment.FindStringSubmatch(l); match != nil {
			comment = append(comment, line{match[1], i + 1})
			continue
		}
		is.paragraphs = append(is.paragraphs, commentParagraphs(comments, comment)...)
		comment = nil
		for _, match := range quoted.FindAllStringSubmatch(l, -1) {
			is.paragraphs = append(is.paragraphs, messageOf(match[1], []line{{match[1], i + 1}})...)
		}
	}
	return is, nil
}

// readTypeScript reads the comments of a plugin: those of one line, and lines of // below each other.
func readTypeScript(_ string, raw []byte) (*source, error) {
	is := &source{}
	var comment []line
	for i, l := range strings.Split(string(raw)+"\n", "\n") {
		if match := tsComment.FindStringSubmatch(l); match != nil {
			text := strings.TrimSuffix(strings.TrimLeft(match[1], "/*"), "*/")
			comment = append(comment, line{strings.TrimSpace(text), i + 1})
			continue
		}
		is.paragraphs = append(is.paragraphs, commentParagraphs(comments, comment)...)
		comment = nil
	}
	return is, nil
}
