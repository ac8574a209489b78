#!/usr/bin/env bash
# Is what is checked in complete, current and clean? Run by `make verify`.
#
# Every check runs, whatever the others found. Nothing is written to the checkout: the
# generators run in a copy that is thrown away, so uncommitted work is judged as it stands.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Variables of `make verify` must not change the generated files.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES

readonly skipped=77 # the exit code of a check that could not run

scratch=$(mktemp -d)
ticker=
trap 'stop_ticker; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# A dot every five seconds shows that a check is running: the first run builds its tools.
start_ticker() {
	while sleep 5 >/dev/null 2>&1; do printf .; done &
	ticker=$!
}

stop_ticker() {
	[[ -n $ticker ]] || return 0
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	ticker=
}

# check NAME COMMAND... prints one line for COMMAND, and its output if it fails.
checks=0
failures=0
check() {
	local name=$1 started=$SECONDS result=0
	shift
	checks=$((checks + 1))
	printf '%-28s ' "$name"
	start_ticker
	"$@" >"$scratch/output" 2>&1 || result=$?
	stop_ticker
	case $result in
	0) echo " ok, $((SECONDS - started))s" ;;
	"$skipped") echo " SKIPPED, $((SECONDS - started))s" ;;
	*)
		echo " FAILED, $((SECONDS - started))s"
		failures=$((failures + 1))
		;;
	esac
	[[ $result -eq 0 ]] || sed 's/^/    /' "$scratch/output"
}

# files PATTERN... lists, separated by NUL, the files of the checkout: committed or new, but not ignored.
files() {
	git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu |
		while IFS= read -r -d '' file; do
			if [[ -e $file || -L $file ]]; then printf '%s\0' "$file"; fi
		done
}

everything_is_committed() {
	local changes
	changes=$(git status --porcelain --untracked-files=all) || return
	[[ -n $changes ]] || return 0
	echo "$changes"
	echo "Commit these files, remove them, or name them in .gitignore. The other checks judge them as they stand."
	return 1
}

# no_binary_is_committed allows screenshots of the documents, up to 150 KiB each.
no_binary_is_committed() {
	local binaries
	binaries=$(git diff --numstat "$(git hash-object -t tree /dev/null)" -- . ':(exclude,glob)docs/images/*.png' | awk '$1 == "-" { print $3 }') || return
	binaries+=$(find docs/images -name '*.png' -size +150k) || return
	[[ -n $binaries ]] || return 0
	echo "$binaries"
	echo "Remove these files with git rm --cached, and name them in .gitignore if a build creates them."
	return 1
}

generated_files_are_current() {
	local copy=$scratch/copy stale
	mkdir "$copy" || return
	files . | tar --null -T - -cf - | tar -C "$copy" -xf - || return
	in_copy init -q || return
	in_copy add --all || return
	in_copy commit -q -m before || return
	make -C "$copy" --no-print-directory generate manifests api-docs bundle chart || return

	in_copy add --all || return
	stale=$(in_copy diff --cached --stat=200 HEAD) || return
	[[ -n $stale ]] || return 0
	in_copy diff --cached HEAD | head -n 60
	echo "$stale"
	echo "Run \`make generate manifests api-docs bundle chart\` and commit the result."
	return 1
}

# in_copy runs git in the copy, with default settings.
in_copy() {
	git -C "$scratch/copy" -c user.name=verify -c user.email=verify@localhost \
		-c commit.gpgSign=false -c core.hooksPath=/dev/null -c core.autocrlf=false "$@"
}

# docker_has_the_sources compiles only the files that .dockerignore allows.
docker_has_the_sources() {
	local context=$scratch/context parts
	mkdir "$context" || return
	sed -n 's/^!//p' .dockerignore >"$scratch/parts" || return
	mapfile -t parts <"$scratch/parts"
	files "${parts[@]}" | grep -zv -e '_test\.go$' -e '/testdata/' | tar --null -T - -cf - | tar -C "$context" -xf - || return
	(cd "$context" && CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd ./cmd/transfer) && return
	echo "Name what the compiler misses in .dockerignore."
	return 1
}

modules_are_tidy() {
	local mod result=0
	while IFS= read -r -d '' mod; do
		if ! (cd "$(dirname "$mod")" && go mod tidy -diff); then
			echo "Run \`go mod tidy\` in $(dirname "$mod")."
			result=1
		fi
	done < <(files ':(glob)**/go.mod')
	return "$result"
}

go_files_are_formatted() {
	local unformatted
	unformatted=$(files '*.go' | xargs -0 gofmt -s -l) || return
	[[ -n $unformatted ]] || return 0
	echo "$unformatted"
	echo "Run \`gofmt -s -w\` on these files."
	return 1
}

# one_image_everywhere sets another image with `kustomize edit`: the operator's container and TRANSFER_IMAGE must both
# have it. The tests of the bundle check the same.
one_image_everywhere() {
	local kustomize folder image=example.org/operator:named named result=0
	kustomize=$(bin/local tool kustomize) || return
	for folder in manager default; do
		mkdir "$scratch/$folder" || return
		files config | tar --null -T - -cf - | tar -C "$scratch/$folder" -xf - || return
		(cd "$scratch/$folder/config/$folder" && "$kustomize" edit set image "controller=$image") || return
		named=$("$kustomize" build "$scratch/$folder/config/default" | grep -B1 -F "$image" | sed '/^--$/d; s/^[ -]*//') || return
		[[ $named == $'name: TRANSFER_IMAGE\nvalue: '$image$'\nimage: '$image ]] && continue
		printf 'After kustomize edit set image in config/%s the manifests say:\n%s\n' "$folder" "$named"
		echo "Both the container's image and TRANSFER_IMAGE must be $image: see the replacements in config/default/kustomization.yaml."
		result=1
	done
	return "$result"
}

# the_dashboard_answers runs promtool on the queries of the dashboard as rules, with values in place of its variables. A test of package
# metrics compares the names in them.
the_dashboard_answers() {
	local promtool rules=$scratch/dashboard
	promtool=$(bin/local tool promtool) || return
	mkdir "$rules" || return
	python3 hack/dashboard-rules.py config/grafana/databasecluster.json shop/orders >"$rules/dashboard.yaml" || return
	cp config/grafana/dashboard_test.yaml "$rules/" || return
	"$promtool" check rules --lint=none "$rules/dashboard.yaml" || return
	"$promtool" test rules "$rules/dashboard_test.yaml"
}

# alerts_hold runs promtool on the rules of the PrometheusRule: the part below its spec.
alerts_hold() {
	local promtool rules=$scratch/rules
	promtool=$(bin/local tool promtool) || return
	mkdir "$rules" || return
	sed '1,/^spec:/d; s/^  //' config/prometheus/alerts.yaml >"$rules/alerts.yaml" || return
	cp config/prometheus/alerts_test.yaml "$rules/" || return
	"$promtool" check rules --lint=all --lint-fatal "$rules/alerts.yaml" || return
	"$promtool" test rules "$rules/alerts_test.yaml"
}

check 'every file is committed' everything_is_committed
check 'no binary is committed' no_binary_is_committed
check 'generated files are current' generated_files_are_current
check 'CRDs take what was stored' make --no-print-directory crd-compat
check 'the Helm chart is config' make --no-print-directory helm-lint
check 'one image everywhere' one_image_everywhere
check 'docker has the sources' docker_has_the_sources
check 'every go.mod is tidy' modules_are_tidy
check 'Go files are formatted' go_files_are_formatted
check 'lint finds nothing' make --no-print-directory lint-go
check 'the prose is plain' make --no-print-directory lint-prose
check 'scripts are sound' hack/lint-scripts.sh
check 'alerts fire when they should' alerts_hold
check 'the dashboard answers' the_dashboard_answers

if [[ $failures -gt 0 ]]; then
	echo
	echo "$failures of $checks checks failed: each has instructions."
	exit 1
fi
