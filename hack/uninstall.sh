#!/usr/bin/env bash
# Removes the CRDs from the current context, and the admission policies that protect them. Run by `make uninstall`.
set -euo pipefail

readonly group=database.dbcluster.io
read -ra kubectl <<<"${KUBECTL:-kubectl}"

all=$("${kubectl[@]}" get customresourcedefinitions -o name)
mapfile -t crds < <(grep "\.$group\$" <<<"$all")

# With the CRD of DatabaseBackups the operator would be asked to delete each, with its data where it says so.
left=
for plural in databaseclusters databasebackups; do
	if [[ " ${crds[*]} " == *"/$plural.$group "* ]]; then
		left+=$("${kubectl[@]}" get "$plural.$group" --all-namespaces --no-headers --ignore-not-found \
			-o custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name)$'\n'
	fi
done
left=$(sed '/^$/d' <<<"$left")
if [[ -n $left ]]; then
	echo "The CRDs stay: deleting them would delete these objects. Delete them first:"
	echo "$left"
	echo "A DatabaseBackup whose spec.deletionPolicy is Delete takes its data along: set Retain to keep that."
	exit 1
fi

policies=(databasecluster-operator-protected-{clusters,claims,definitions})
"${kubectl[@]}" delete validatingadmissionpolicybindings,validatingadmissionpolicies "${policies[@]}" --ignore-not-found
if [[ ${#crds[@]} -eq 0 ]]; then
	echo "The CRDs are not installed."
	exit
fi
# The API server takes a moment to forget a policy.
"${kubectl[@]}" annotate --overwrite "${crds[@]}" "$group/allow-deletion=true"
"${kubectl[@]}" delete "${crds[@]}"
