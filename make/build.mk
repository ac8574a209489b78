##@ Build

.PHONY: build
build: manifests generate fmt vet $(BIN)/manager $(BIN)/transfer $(BIN)/kubectl-dbc ## Build the manager, transfer, the program in backup Jobs, and the kubectl plugin.

.PHONY: $(BIN)/manager
$(BIN)/manager:
	$(GO_BUILD) -ldflags "$(GO_LDFLAGS)" -o $@ ./cmd

.PHONY: $(BIN)/transfer
$(BIN)/transfer:
	$(GO_BUILD) -ldflags "-s -w" -o $@ ./cmd/transfer

.PHONY: plugin
plugin: $(BIN)/kubectl-dbc ## Build only the kubectl plugin, for this machine.

.PHONY: $(BIN)/kubectl-dbc
$(BIN)/kubectl-dbc:
	$(GO_BUILD) -ldflags "$(GO_LDFLAGS)" -o $@ ./cmd/kubectl-dbc

# A plugin is built for the machines of its users, so also for other systems than Linux.
.PHONY: $(PLUGINS)
$(PLUGINS): $(BIN)/plugin/%:
	platform=$*; GOOS=$${platform%-*} GOARCH=$${platform#*-} $(GO_BUILD) -ldflags "$(GO_LDFLAGS)" -o $@/ ./cmd/kubectl-dbc

.PHONY: plugins
plugins: $(PLUGINS) ## Build the kubectl plugin for PLUGIN_PLATFORMS, as dist/plugin/*.tar.gz, and the manifest for krew.
	@VERSION=$(VERSION) hack/plugin.sh $(PLUGINS)

.PHONY: headlamp
headlamp: ## Install, check, test and build the plugin for Headlamp, as config/headlamp/dist/main.js (needs npm).
	cd config/headlamp && npm ci && npm run tsc && npm run lint && CI=true npm test && npm run build

.PHONY: $(LINUX)
$(LINUX): $(BIN)/linux-%:
	GOOS=linux GOARCH=$* $(GO_BUILD) -ldflags "$(GO_LDFLAGS)" -o $@/manager ./cmd
	GOOS=linux GOARCH=$* $(GO_BUILD) -ldflags "-s -w" -o $@/ ./cmd/transfer ./test/scorecard

.PHONY: $(BIN)/scorecard
$(BIN)/scorecard:
	$(GO_BUILD) -ldflags "-s -w" -o $@ ./test/scorecard

.PHONY: $(LOCAL)
$(LOCAL):
	@cd hack/local && CGO_ENABLED=0 go build -o $(abspath $@) .

.PHONY: run
run: manifests generate fmt vet ## Run the operator on this machine against the current context.
	TRANSFER_IMAGE=$(IMG) go run -ldflags "$(GO_LDFLAGS)" ./cmd

.PHONY: image
image: $(BIN)/manager $(BIN)/transfer $(LOCAL) ## Build the operator image without a daemon, as dist/operator.tar.
	@mkdir -p dist
	@$(LOCAL) image operator --binary manager=$(BIN)/manager --binary transfer=$(BIN)/transfer --version v$(VERSION) --ref $(IMG) --out dist/operator.tar

.PHONY: image-multiarch
image-multiarch: $(LINUX) $(LOCAL) ## Build the operator and scorecard images for PLATFORMS without a daemon, as dist/*.oci.tar, and print their digests.
	@$(LOCAL) image operator-index $(platforms) --version v$(VERSION) --ref $(IMG) --out dist/operator.oci.tar
	@$(LOCAL) image scorecard-index $(platforms) --version v$(VERSION) --ref $(SCORECARD_IMG) --out dist/scorecard.oci.tar
	@for image in operator scorecard; do tar -xOf dist/$$image.oci.tar index.json | grep -oP '"digest": *"\K[^"]+'; done

.PHONY: image-postgresql
image-postgresql: $(LOCAL) ## Build a PostgreSQL image from Debian packages, as dist/postgresql.tar.
	@mkdir -p dist
	@$(LOCAL) image postgresql --ref $(or $(POSTGRES_IMG),localhost/postgresql:15) --out dist/postgresql.tar

.PHONY: image-patroni image-pgbouncer image-etcd image-memcached image-versitygw image-cloudnative-pg image-cloudnative-pg-pgbouncer
image-patroni: ## Build an image of PostgreSQL with Patroni from Debian packages, as dist/patroni.tar.
image-pgbouncer: ## Build an image of PgBouncer from Debian packages, as dist/pgbouncer.tar.
image-etcd: ## Build an etcd image from Debian packages, as dist/etcd.tar.
image-memcached: ## Build a memcached image from Debian packages, as dist/memcached.tar.
image-versitygw: ## Build an image of an S3 server, as dist/versitygw.tar.
image-cloudnative-pg image-cloudnative-pg-pgbouncer: # contestants of make bench-clients
image-patroni image-pgbouncer image-etcd image-memcached image-versitygw image-cloudnative-pg image-cloudnative-pg-pgbouncer: image-%: $(LOCAL)
	@mkdir -p dist
	@$(LOCAL) image $* --out dist/$*.tar

.PHONY: image-scorecard
image-scorecard: $(BIN)/scorecard $(LOCAL) ## Build the image of our scorecard tests without a daemon, as dist/scorecard.tar.
	@mkdir -p dist
	@$(LOCAL) image scorecard --binary scorecard=$(BIN)/scorecard --version v$(VERSION) --ref $(SCORECARD_IMG) --out dist/scorecard.tar

.PHONY: docker-build
docker-build: ## Build the operator image with Docker.
	$(CONTAINER_TOOL) build --build-arg VERSION=v$(VERSION) -t $(IMG) .

.PHONY: docker-push
docker-push: ## Push the operator image.
	$(CONTAINER_TOOL) push $(IMG)

.PHONY: docker-buildx
docker-buildx: ## Build and push the operator image for several platforms.
	$(CONTAINER_TOOL) buildx build --push --platform=$(PLATFORMS) --build-arg VERSION=v$(VERSION) -t $(IMG) .

.PHONY: build-installer
build-installer: manifests generate $(LOCAL) ## Write dist/crds.yaml, dist/operator.yaml, dist/install.yaml (both), and the policies dist/secret-*.yaml.
	@$(call render,config/default) | go run ./hack/package manifests dist
	@$(call tool,kustomize) build config/secret-access >dist/secret-access.yaml
