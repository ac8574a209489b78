/*
SPDX-License-Identifier: Apache-2.0
*/

// Package redact removes passwords and keys from objects and logs.
package redact

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Values are secret values that a text must not have.
type Values struct {
	// anywhere are replaced in all places, and words only where no letter or digit stands beside them.
	anywhere, words []string
	replacer        *strings.Replacer
}

const (
	// long is the length from which a value is replaced anywhere: shorter ones are parts of other words.
	long = 6
	// shortest is the length of the shortest value that is replaced at all.
	shortest = 3
)

// Searchable reports whether a value can be searched for. A shorter one, or a truth value, is in many texts that have nothing to do
// with it.
func Searchable(value string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= shortest && value != "true" && value != "false"
}

// With adds a secret value, in all forms that programs write.
func (v Values) With(value string) Values {
	// The results must not share memory with v.
	v.anywhere, v.words = slices.Clone(v.anywhere), slices.Clone(v.words)
	for _, part := range parts(value) {
		switch {
		case !Searchable(part):
		case len(part) >= long:
			v.anywhere = append(append(v.anywhere, forms(part)...), encoded(part)...)
		default:
			v.words = append(append(v.words, forms(part)...),
				base64.StdEncoding.EncodeToString([]byte(part)), base64.RawStdEncoding.EncodeToString([]byte(part)))
		}
	}
	v.anywhere, v.words = ordered(v.anywhere), ordered(v.words)
	pairs := make([]string, 0, 2*len(v.anywhere))
	for _, value := range v.anywhere {
		pairs = append(pairs, value, removed)
	}
	v.replacer = strings.NewReplacer(pairs...)
	return v
}

// ordered has each value once, and the longest first: a value can be a part of a longer one.
func ordered(values []string) []string {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(values)
}

// Text removes secrets from a text.
func (v Values) Text(text string) string {
	if v.replacer != nil {
		text = v.replacer.Replace(text)
	}
	for _, value := range v.words {
		text = replaceWord(text, value)
	}
	return byForm(text)
}

// replaceWord replaces a value where no letter or digit stands beside it.
func replaceWord(text, value string) string {
	var all strings.Builder
	last := utf8.RuneError
	for {
		before, after, found := strings.Cut(text, value)
		if !found {
			return all.String() + text
		}
		if r, size := utf8.DecodeLastRuneInString(before); size > 0 {
			last = r
		}
		next, _ := utf8.DecodeRuneInString(after)
		all.WriteString(before)
		if ofWord(last) || ofWord(next) {
			all.WriteString(value)
		} else {
			all.WriteString(removed)
		}
		last, _ = utf8.DecodeLastRuneInString(value)
		text = after
	}
}

func ofWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
