#!/usr/bin/env bash
# Removes the CRDs from the current context, and then the admission policies that protect them: the last step, after the
# clusters and the operator. Run by `make uninstall`.
set -euo pipefail

readonly group=database.dbcluster.io
read -ra kubectl <<<"${KUBECTL:-kubectl}"

all=$("${kubectl[@]}" get customresourcedefinitions -o name)
mapfile -t crds < <(grep "\.$group\$" <<<"$all")

# left lists what would go with the CRDs. With that of DatabaseBackups the operator would be asked to delete each, with
# its data where it says so.
left() {
	local plural
	for plural in databaseclusters databasebackups; do
		[[ " ${crds[*]} " == *"/$plural.$group "* ]] || continue
		"${kubectl[@]}" get "$plural.$group" --all-namespaces --no-headers --ignore-not-found \
			-o custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,DELETED:.metadata.deletionTimestamp || return
	done
}

# must_be_empty refuses while something is left. What cannot be listed may be there.
must_be_empty() {
	local found
	found=$(left)
	[[ -n $found ]] || return 0
	echo "The CRDs stay: deleting them would delete these objects. Delete them first:"
	echo "KIND NAMESPACE NAME DELETED"
	echo "$found"
	echo "A DatabaseBackup whose spec.deletionPolicy is Delete takes its data along: set Retain to keep that."
	echo "One that was deleted and stays waits for the operator: bring it back, or see docs/uninstall.md."
	exit 1
}

must_be_empty
operators=$("${kubectl[@]}" get deployments --all-namespaces --no-headers --ignore-not-found \
	-l app.kubernetes.io/name=databasecluster-operator,control-plane=controller-manager -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name)
if [[ -n $operators ]]; then
	echo "The CRDs stay: the operator still runs and cannot do without them. Remove it first, the way it was installed"
	echo "(make undeploy, helm uninstall, or its Subscription and ClusterServiceVersion). These are its Deployments:"
	echo "$operators"
	exit 1
fi

if [[ ${#crds[@]} -gt 0 ]]; then
	# Annotated, the CRDs are given up by the policy that protects them, and everything else stays protected until they
	# are gone. The second look is for what came meanwhile.
	"${kubectl[@]}" annotate --overwrite "${crds[@]}" "$group/allow-deletion=true"
	trap '"${kubectl[@]}" annotate "${crds[@]}" "$group/allow-deletion-"' EXIT
	must_be_empty
	# The API server reads a CRD anew that changed. Where it cannot list the objects yet when it is to delete them, it tries
	# again minutes later.
	for crd in "${crds[@]}"; do
		"${kubectl[@]}" get "${crd#*/}" --all-namespaces -o name >/dev/null
	done
	trap - EXIT
	"${kubectl[@]}" delete "${crds[@]}"
else
	echo "The CRDs are not installed."
fi
"${kubectl[@]}" delete validatingadmissionpolicybindings,validatingadmissionpolicies --ignore-not-found \
	databasecluster-operator-protected-{clusters,claims,definitions}
