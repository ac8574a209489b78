##@ Deployment

ifndef ignore-not-found
  ignore-not-found = false
endif

.PHONY: install
install: manifests $(LOCAL) ## Install the CRDs into the current context.
	@$(call tool,kustomize) build config/crd | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: $(LOCAL) ## Remove the CRDs and their admission policies; fails while an object of their namespaced kinds exists.
	@KUBECTL="$(KUBECTL)" hack/uninstall.sh

.PHONY: deploy
deploy: manifests $(LOCAL) ## Deploy CRDs and operator to the current context (IMG=...).
	@$(call render,config/default) | $(KUBECTL) apply --server-side -f -
	@$(KUBECTL) -n databasecluster-operator-system rollout status deployment/databasecluster-operator-controller-manager --timeout=180s

.PHONY: undeploy
undeploy: $(LOCAL) ## Remove the operator from the current context; keep CRDs, clusters, volumes and admission policies.
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; $(call render,config/default) | go run ./hack/package manifests "$$folder" >/dev/null; \
		$(KUBECTL) delete --cascade=foreground --ignore-not-found=$(ignore-not-found) -f "$$folder/operator.yaml"
	@echo "The namespace databasecluster-operator-system stays: there may be databases in it."
