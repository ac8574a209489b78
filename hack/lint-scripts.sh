#!/usr/bin/env bash
# Checks scripts in shell with ShellCheck, scripts in Python with Pyflakes, and scripts in Perl with perl: those of this repository, and those
# of the engines. A script of an engine without an interpreter in its first line is checked with the scripts that source it. Run by
# `make lint`.
#
# Exits with 77 if a program is not installed. Then only the syntax was checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly skipped=77
shell=() python=() perl=()
while IFS= read -r -d '' file; do
    [[ -e $file ]] || continue # removed, but not committed
    first=''
    IFS= read -r first <"$file" || :
    case $first,$file in
    *,*.py | '#!'*python3,*) python+=("$file") ;;
    '#!'*perl,*) perl+=("$file") ;;
    '#!'*sh,*) shell+=("$file") ;;
    esac
done < <(git ls-files -z --cached --others --exclude-standard -- '*.sh' '*.py' .ci/run hack/engine 'config/engines/*/scripts/*' | sort -zu)

result=0
for file in "${shell[@]}"; do bash -n "$file" || result=1; done
python3 -c 'import ast, sys; [ast.parse(open(file).read(), file) for file in sys.argv[1:]]' "${python[@]}" || result=1
[[ $result -eq 0 ]] || exit "$result"

# lint PROGRAM PACKAGE ARGUMENTS... runs a program, where it is installed.
lint() {
    if ! command -v "$1" >/dev/null; then
        echo "$1 is not installed (\`apt-get install $2\`): only the syntax of its scripts was checked."
        [[ $result -ne 0 ]] || result=$skipped
        return
    fi
    "$1" "${@:3}" || result=1
}
lint shellcheck shellcheck --external-sources --check-sourced --source-path=.:SCRIPTDIR "${shell[@]}"
lint pyflakes3 pyflakes3 "${python[@]}"
for file in "${perl[@]}"; do lint perl perl -Mwarnings=FATAL,all -c "$file" 2>&1 | { grep -v 'syntax OK$' || :; }; done
exit "$result"
