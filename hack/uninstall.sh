#!/usr/bin/env bash
# Removes the CRDs from the current context, and then their admission policies. This is the last step, after the
# clusters and the operator. `make uninstall` runs it.
set -euo pipefail

readonly group=database.dbcluster.io
read -ra kubectl <<<"${KUBECTL:-kubectl}"

all=$("${kubectl[@]}" get customresourcedefinitions -o name)
mapfile -t crds < <(grep "\.$group\$" <<<"$all")

# left lists the namespaced objects that would be deleted with the CRDs. Deleting the CRD of DatabaseBackups deletes each
# backup, with its data if spec.deletionPolicy is Delete.
left() {
	local crd scope
	for crd in "${crds[@]}"; do
		scope=$("${kubectl[@]}" get "$crd" -o jsonpath='{.spec.scope}') || return
		[[ $scope == Namespaced ]] || continue
		"${kubectl[@]}" get "${crd#*/}" --all-namespaces --no-headers --ignore-not-found \
			-o custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,DELETED:.metadata.deletionTimestamp || return
	done
}

# must_be_empty fails while objects are left, or if it cannot list them.
must_be_empty() {
	local found
	found=$(left)
	[[ -n $found ]] || return 0
	echo "The CRDs stay: deleting them would delete these objects. Delete them first:"
	echo "KIND NAMESPACE NAME DELETED"
	echo "$found"
	echo "A DatabaseBackup whose spec.deletionPolicy is Delete is deleted with its data: set Retain to keep the data."
	echo "A DatabaseBackup that is already terminating waits for the operator: install the operator again, or see docs/uninstall.md."
	exit 1
}

must_be_empty
operators=$("${kubectl[@]}" get deployments --all-namespaces --no-headers --ignore-not-found \
	-l app.kubernetes.io/name=databasecluster-operator,control-plane=controller-manager -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name)
if [[ -n $operators ]]; then
	echo "The CRDs stay: the operator still runs and needs them. Remove the operator first, in the way you installed it"
	echo "(make undeploy, helm uninstall, or its Subscription and ClusterServiceVersion). These are its Deployments:"
	echo "$operators"
	exit 1
fi

if [[ ${#crds[@]} -gt 0 ]]; then
	# The annotation allows the deletion of the CRDs. All other objects stay protected until the CRDs are deleted. The
	# second check finds new objects.
	"${kubectl[@]}" annotate --overwrite "${crds[@]}" "$group/allow-deletion=true"
	trap '"${kubectl[@]}" annotate "${crds[@]}" "$group/allow-deletion-"' EXIT
	must_be_empty
	# The API server reloads a changed CRD. If it cannot list the objects yet when it deletes them ("storage is
	# (re)initializing"), its next attempt conflicts with its own status, and it retries minutes later.
	for crd in "${crds[@]}"; do
		"${kubectl[@]}" get "${crd#*/}" --all-namespaces -o name >/dev/null
	done
	trap - EXIT
	"${kubectl[@]}" delete "${crds[@]}"
else
	echo "The CRDs are not installed."
fi
"${kubectl[@]}" delete validatingadmissionpolicybindings,validatingadmissionpolicies --ignore-not-found \
	databasecluster-operator-{protected-{clusters,claims,definitions},member-{pods,configmaps},secret-access}
