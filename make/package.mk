##@ Packaging

.PHONY: bundle
bundle: manifests $(LOCAL) ## Generate the OLM bundle and validate it (IMG=...@sha256:... and BUNDLE_OUT=dist for a release).
	@$(call tool,operator-sdk) generate kustomize manifests --interactive=false -q
	@$(call render,config/manifests) | VERSION=$(VERSION) IMG=$(IMG) CHANNELS=$(CHANNELS) \
		DEFAULT_CHANNEL=$(DEFAULT_CHANNEL) BUNDLE_OUT=$(BUNDLE_OUT) hack/bundle.sh
	@$(MAKE) --no-print-directory bundle-validate

.PHONY: bundle-validate
bundle-validate: $(LOCAL) ## Validate the OLM bundle with operator-sdk; warnings are errors.
	@echo "operator-sdk bundle validate $(BUNDLE_OUT)/bundle --select-optional suite=operatorframework" >&2
	@$(call tool,operator-sdk) bundle validate $(BUNDLE_OUT)/bundle --select-optional suite=operatorframework \
		-o json-alpha1 | go run ./hack/bundle judge

.PHONY: scorecard
scorecard: ## Run the scorecard on the real node; results in dist/scorecard.json.
	@IMG=$(IMG) SCORECARD_IMG=$(SCORECARD_IMG) POSTGRES_IMG=$(POSTGRES_IMG) hack/scorecard.sh

.PHONY: chart
chart: manifests $(LOCAL) ## Generate the Helm chart's files from config, and the table of values in docs/install.md.
	@$(call tool,kustomize) build config/default | go run ./hack/package chart $(VERSION)

CHART = charts/databasecluster-operator

.PHONY: helm-lint
helm-lint: $(LOCAL) ## Lint the Helm chart and compare it with its golden files and config/default.
	@for values in $(CHART)/ci/*-values.yaml; do echo "helm lint --values $$values"; $(call tool,helm) lint --strict --quiet $(CHART) --values $$values; done
	@echo "golden files, wrong values, the same objects as config/default"
	@DBC_HELM=$(call tool,helm) DBC_KUSTOMIZE=$(call tool,kustomize) go test -tags helm -count=1 ./test/packaging/... $(HELM_TEST)

.PHONY: helm-golden
helm-golden: HELM_TEST = -args -update
helm-golden: helm-lint ## Update the golden files of the Helm chart.

.PHONY: e2e-helm
e2e-helm: ## Install, upgrade and uninstall with Helm on the real node, also in the wrong order.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e-install.sh -run Helm

.PHONY: e2e-install
e2e-install: ## Install and uninstall with plain manifests on the real node, also in the wrong order.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e-install.sh -run Manifests

.PHONY: catalog
catalog: $(LOCAL) ## Write dist/catalog, the OLM catalog with the upgrade from the previous release, and validate it with opm.
	@VERSION=$(VERSION) IMAGE_TAG_BASE=$(IMAGE_TAG_BASE) BUNDLE=$(BUNDLE_OUT)/bundle hack/catalog.sh

.PHONY: e2e-olm
e2e-olm: ## Install, upgrade and remove with Operator Lifecycle Manager on the real node (STORIES="-run Namespace": only these).
	@VERSION=$(VERSION) IMG=$(IMG) IMAGE_TAG_BASE=$(IMAGE_TAG_BASE) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e-olm.sh $(STORIES)

.PHONY: bundle-build
bundle-build: ## Build the bundle image with Docker.
	$(CONTAINER_TOOL) build -f bundle.Dockerfile -t $(BUNDLE_IMG) .

.PHONY: bundle-push
bundle-push: ## Push the bundle image.
	$(CONTAINER_TOOL) push $(BUNDLE_IMG)
