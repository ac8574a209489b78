##@ Supply chain

.PHONY: sbom
sbom: $(LINUX) $(PLUGINS) $(LOCAL) ## List the modules in each binary of the images and in the plugin, as dist/sbom/*.cdx.json (CycloneDX).
	@hack/sbom.sh "$(call tool,cyclonedx-gomod)" v$(VERSION) dist/sbom $(foreach folder,$(LINUX),$(folder)/manager $(folder)/transfer $(folder)/scorecard) \
		$(PLUGINS:%=%/kubectl-dbc*)

.PHONY: test-supply
test-supply: $(LOCAL) ## Test make vulncheck and make release: no network without PUSH_TO, a local registry with it, reproducible files.
	cd hack/local && go test -tags supply -count=1 -timeout 60m ./internal/supply

.PHONY: vulncheck
vulncheck: $(LINUX) $(PLUGINS) $(LOCAL) ## Check sources and binaries for known vulnerabilities in called functions (DB=file:///folder: another database).
	@DB="$(DB)" hack/vulncheck.sh $(foreach folder,$(LINUX),$(folder)/manager $(folder)/transfer) $(PLUGINS:%=%/kubectl-dbc*)

.PHONY: reproducible
reproducible: ## Build the images twice, in different directories and with an empty build cache, and compare them.
	@PLATFORMS=$(PLATFORMS) hack/reproducible.sh

.PHONY: release
release: $(LOCAL) ## Build all files of a release in dist/release/VERSION (PUSH_TO=registry.example.com/you: also push them).
	@VERSION=$(VERSION) IMAGE_TAG_BASE=$(IMAGE_TAG_BASE) PLATFORMS=$(PLATFORMS) PUSH_TO=$(PUSH_TO) hack/release.sh
