/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import "testing"

func TestYAMLCommentsAreProseOrValues(t *testing.T) {
	expect(t, prose(t, "config/x/x.yaml", "# Note: one told.\na: 1\n# TODO: two told.\nb: 2\n#three told\nc: 3\n# key: value\n# key: \"a value\" # four\n# - item\nd: \"a # b\"\ne: a#b #five told\n"),
		"comments 1: Note: one told.", "comments 3: TODO: two told.", "comments 5: three told", "comments 11: five told")
}

func TestYAMLTextsHaveAllTheirLines(t *testing.T) {
	expect(t, prose(t, "config/prometheus/x.yaml", "- description: \"first line\n    second # line\"\n  summary: |2-\n    a block\n\n    of two paragraphs\n- {description: in flow}\n- summary: plain\n    and long\n---\nsummary: next document\n"),
		"messages 1: first line / second # line", "messages 4: a block", "messages 6: of two paragraphs", "messages 7: in flow",
		"messages 8: plain / and long", "messages 11: next document")
}

func TestWorkflowsHaveComments(t *testing.T) {
	expect(t, prose(t, ".github/workflows/x.yml", "# A comment.\non: push\n"), "comments 1: A comment.")
}

func TestAdmissionPoliciesHaveMessages(t *testing.T) {
	expect(t, prose(t, "config/admission/x.yaml", "message: >-\n  delete it\n  later\nmessageExpression: >-\n  'Cluster ' + object.name + '/' +\n  ' is protected by ' + object.x + '; wait'\nexpression: object.message == 'not a message'\n"),
		"messages 2: delete it / later", "messages 5: Cluster / is protected by %s ; wait")
}

func TestShellHasCommentsAndWhatItPrints(t *testing.T) {
	expect(t, prose(t, "hack/x.sh", "#!/bin/sh\n# One\n#two.\necho \"a $# b $name and $(one two) end\" # told\nfail 20 \"the server ${x:-y} is gone\"\necho 'three plain words' >&2\necho \"$x\"\nprintf '%s\\n' \"$x\"\n"),
		"comments 2: One / two.", "comments 4: told", "short 4: a %s b %s and %s end", "messages 5: the server %s is gone", "messages 6: three plain words")
}

func TestScriptsOfEnginesHaveMessages(t *testing.T) {
	expect(t, prose(t, "config/engines/x/scripts/start", "#!/bin/sh\n# a comment\n[ -s x ] || fail 20 \"the password is gone\"\n"), "comments 2: a comment", "messages 3: the password is gone")
}

func TestTemplatesHaveCommentsAndErrors(t *testing.T) {
	expect(t, prose(t, "charts/x/templates/_x.tpl", "{{/* A comment\nof two lines. */}}\n{{- fail (printf \"the release %q is gone\" .Name) -}}\n# Beside.\nname: \"not a message here\"\n"),
		"comments 1: A comment / of two lines.", "messages 3: the release %q is gone", "comments 4: Beside.")
	expect(t, prose(t, "charts/x/templates/NOTES.txt", "{{- if .x }}\nRelease {{ .x }} is there.\n{{- end }}\n\nWait:\n  kubectl wait\n"), "docs 2: Release %s is there.", "docs 5: Wait:")
}

func TestPicturesDashboardsAndHealthChecksHaveTexts(t *testing.T) {
	expect(t, prose(t, "docs/images/x.svg", "<svg>\n<text x=\"1\">the pod &amp; it</text>\n<title>A picture</title><path d=\"a b\"/>\n</svg>\n"), "docs 2: the pod & it", "docs 3: A picture")
	expect(t, prose(t, "config/grafana/x.json", "{\"title\": \"Two words\",\n \"description\": \"The \\\"first\\\" of three.\", \"description\": \"\", \"expr\": \"a b c d\"}\n"),
		"short 1: Two words", "messages 2: The \"first\" of three.")
	expect(t, prose(t, "config/argocd/X/health.lua", "-- A comment\n-- of two lines.\nreturn health(\"Progressing\", \"waiting for it all\")\n"),
		"comments 1: A comment / of two lines.", "messages 3: waiting for it all")
	expect(t, prose(t, "config/headlamp/src/x.ts", "/** one does this. */\nconst one = 1; // no\n// A comment\n// of two lines.\n"),
		"comments 1: one does this.", "comments 3: A comment / of two lines.")
	expect(t, prose(t, "config/headlamp/node_modules/x/x.ts", "// A package.\n"))
}
