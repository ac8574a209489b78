# VERSION is the version of the operator, its image and its bundle.
VERSION ?= 0.3.0

# IMAGE_TAG_BASE is the operator's image without a tag; IMG is the image that the targets below use.
IMAGE_TAG_BASE ?= ghcr.io/dbcluster/databasecluster-operator
IMG ?= $(IMAGE_TAG_BASE):v$(VERSION)
BUNDLE_IMG ?= $(IMAGE_TAG_BASE)-bundle:v$(VERSION)
# SCORECARD_IMG holds the scorecard's tests of our own (test/scorecard).
SCORECARD_IMG ?= $(IMAGE_TAG_BASE)-scorecard:v$(VERSION)
# POSTGRES_IMG is the PostgreSQL image of the demo and the e2e tests. Default: one made from Debian's
# packages; with CLUSTER=current the official one.
POSTGRES_IMG ?=

CHANNELS ?= candidate-v0,fast-v0,stable-v0
DEFAULT_CHANNEL ?= stable-v0
# BUNDLE_OUT is where the bundle is written to and validated: here, where it is committed, or elsewhere.
BUNDLE_OUT ?= .

# CONTAINER_TOOL builds and pushes images where there is a Docker daemon or podman.
CONTAINER_TOOL ?= docker
PLATFORMS ?= linux/amd64,linux/arm64

comma = ,
SHELL = /usr/bin/env bash -o pipefail
.SHELLFLAGS = -ec
.DEFAULT_GOAL = help

# Without paths of the checkout in them, what was compiled in one clone is found again in the next.
export GOFLAGS ?= -trimpath

BIN = bin
LOCAL = $(BIN)/local
# tool is the path of a pinned tool, built on first use outside the checkout.
tool = $$($(LOCAL) tool $(1))
KUBECTL ?= $(call tool,kubectl)
# render is a kustomization with the operator's image in its places, the container's and TRANSFER_IMAGE's, and
# with that of the scorecard.
render = $(call tool,kustomize) build $(1) | sed 's|: controller:latest$$|: $(IMG)|; s|: scorecard:latest$$|: $(SCORECARD_IMG)|'
GO_LDFLAGS = -s -w -X main.version=v$(VERSION)
# GO_BUILD makes what depends on the sources and the version of Go alone: no path, no state of the clone, no setting of
# this machine. The Dockerfile builds with the same flags.
GO_BUILD = CGO_ENABLED=0 GOFLAGS= GOEXPERIMENT= GOAMD64=v1 GOARM64=v8.0 go build -trimpath -buildvcs=false
platforms = $(foreach a,$(ARCHITECTURES),--platform $(a)=$(BIN)/linux-$(a))
ARCHITECTURES = $(patsubst linux/%,%,$(subst $(comma), ,$(PLATFORMS)))

##@ General

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make \033[36m<target>\033[0m\n"} /^[a-zA-Z_0-9-]+:.*?##/ { printf "  \033[36m%-20s\033[0m %s\n", $$1, $$2 } /^##@/ { printf "\n\033[1m%s\033[0m\n", substr($$0, 5) }' $(MAKEFILE_LIST)

##@ Try it

.PHONY: demo
demo: ## Run a PostgreSQL cluster on a real Kubernetes on this machine (CLUSTER=current: on the current context).
	@IMG=$(IMG) CLUSTER=$(CLUSTER) POSTGRES_IMG=$(POSTGRES_IMG) hack/demo.sh

.PHONY: demo-down
demo-down: ## Remove what the demo left.
	@IMG=$(IMG) CLUSTER=$(CLUSTER) hack/demo.sh down

##@ Development

.PHONY: manifests
manifests: $(LOCAL) ## Generate the CRDs and the RBAC rules.
	@$(call tool,controller-gen) rbac:roleName=manager-role crd paths="./api/...;./internal/...;./cmd/..." output:crd:artifacts:config=config/crd/bases
	@go run ./hack/crd config/crd/bases/*.yaml

# CORE_TYPES are the types of Kubernetes in the API that have apply configurations of their own.
CORE_TYPES = Affinity ConfigMapVolumeSource EmptyDirVolumeSource EnvFromSource EnvVar LocalObjectReference PodSecurityContext \
	Probe ResourceRequirements SecretVolumeSource SecurityContext Toleration TopologySpreadConstraint
space = $(subst ,, )
core_configurations = $(subst $(space),;,$(strip $(CORE_TYPES:%=k8s.io/api/core/v1.%@k8s.io/client-go/applyconfigurations/core/v1)))

.PHONY: generate
generate: $(LOCAL) ## Generate the DeepCopy methods and the apply configurations.
	@rm -rf api/v1alpha1/applyconfiguration
	@$(call tool,controller-gen) object:headerFile=hack/boilerplate.go.txt paths="./api/v1alpha1" \
		applyconfiguration:headerFile=hack/boilerplate.go.txt,omitToolVersion=true,externalApplyConfigurations="$(core_configurations)"

.PHONY: api-docs
api-docs: $(LOCAL) ## Generate docs/api.md from the types of the API.
	@$(call tool,crd-ref-docs) --log-level=ERROR --source-path=api/v1alpha1 --config=hack/api-docs/config.yaml \
		--renderer=markdown --templates-dir=hack/api-docs/templates --output-path=docs/api.md

.PHONY: fmt
fmt: ## Format the code.
	go fmt ./...

.PHONY: vet
vet: ## Run go vet.
	go vet ./...

.PHONY: lint
lint: $(LOCAL) ## Run the linters.
	$(call tool,golangci-lint) run
	linter=$(call tool,golangci-lint); cd hack/local && $$linter run

.PHONY: lint-fix
lint-fix: $(LOCAL) ## Run the linters and mend what they can.
	$(call tool,golangci-lint) run --fix

.PHONY: lint-prose
lint-prose: $(LOCAL) ## Check messages, CRD descriptions, comments and docs by Vale (PROSE="docs internal/plan": some of them).
	@export DBC_VALE=$(call tool,vale); go test -tags prose -count=1 ./hack/prose; go run ./hack/prose lint $(PROSE)

.PHONY: crd-compat
crd-compat: $(LOCAL) ## Check that today's CRDs take what those of the previous release took.
	crds=$$(hack/previous.sh crds); go run ./hack/crdcompat "$(call tool,crdify)" "$$crds" config/crd/bases

.PHONY: verify
verify: $(LOCAL) ## Check that everything generated is current, modules are tidy, lint is clean, no file is untracked.
	hack/verify.sh

##@ Tests

.PHONY: test
test: test-unit test-integration test-s3 ## Run the unit tests, the integration tests and those on S3.

# SEED is by what a sample of the campaigns is chosen, and which orders of events are tried.
SEED ?= 1
export DBC_SEED = $(SEED)

.PHONY: test-unit
test-unit: race-detector ## Run the unit tests, those of the local tool and of the bundle too, and a sample of the campaigns.
	go test -timeout 10m $$(go list ./... | grep -v /internal/transfer)
	go test -race -timeout 10m ./internal/transfer # it alone starts goroutines; at night all are under the race detector
	cd hack/local && go test ./...

.PHONY: test-integration
test-integration: ## Run the integration tests on a real kube-apiserver and kube-controller-manager.
	hack/test-integration.sh

.PHONY: test-s3
test-s3: $(LOCAL) ## Run the tests of transfer on a real S3 server.
	DBC_VERSITYGW=$(call tool,versitygw) go test -count=1 -parallel 6 -tags s3 ./test/transfer/...

.PHONY: test-campaigns
test-campaigns: export DBC_WHOLE = yes
test-campaigns: race-detector test-s3 ## Run what make test has a sample of, whole, and all tests under the race detector (SEED=7: other orders of events).
	go test -count=1 -timeout 60m ./test/sim
	go test -race -timeout 60m ./...
	hack/test-integration.sh -race

.PHONY: race-detector
race-detector:
	@command -v gcc >/dev/null || { echo "make test needs a C compiler for the race detector: apt-get install gcc libc6-dev"; exit 1; }

.PHONY: e2e
e2e: ## Run the users' stories on the real node (CLUSTER=current: on the current context, without those that need the node).
	IMG=$(IMG) CLUSTER=$(CLUSTER) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e.sh

.PHONY: e2e-smoke
e2e-smoke: ## Run the demo's story as a test on the real node (CLUSTER=current: on the current context).
	IMG=$(IMG) CLUSTER=$(CLUSTER) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e.sh -run Smoke

.PHONY: bench-backup
bench-backup: ## Measure backups and restores of 1 GB of PostgreSQL on the real node, beside its own tools and zstd.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) DBC_BENCH_ROUNDS=3 hack/e2e.sh -run BenchBackup

.PHONY: bench-quick
bench-quick: ## Measure requests, CPU, heap and times at 100 and 1,000 clusters, beside a bare client (BENCH="--sizes 10,100").
	@hack/bench.sh $(BENCH)

##@ Build

.PHONY: build
build: manifests generate fmt vet $(BIN)/manager $(BIN)/transfer ## Build the manager, and what Jobs transfer backups with.

.PHONY: $(BIN)/manager
$(BIN)/manager:
	$(GO_BUILD) -ldflags "$(GO_LDFLAGS)" -o $@ ./cmd

.PHONY: $(BIN)/transfer
$(BIN)/transfer:
	$(GO_BUILD) -ldflags "-s -w" -o $@ ./cmd/transfer

LINUX = $(ARCHITECTURES:%=$(BIN)/linux-%)
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
image-multiarch: $(LINUX) $(LOCAL) ## Build the images of operator and scorecard tests for PLATFORMS without a daemon, as dist/*.oci.tar, and print their digests.
	@$(LOCAL) image operator-index $(platforms) --version v$(VERSION) --ref $(IMG) --out dist/operator.oci.tar
	@$(LOCAL) image scorecard-index $(platforms) --version v$(VERSION) --ref $(SCORECARD_IMG) --out dist/scorecard.oci.tar
	@for image in operator scorecard; do tar -xOf dist/$$image.oci.tar index.json | grep -oP '"digest": *"\K[^"]+'; done

.PHONY: image-postgresql
image-postgresql: $(LOCAL) ## Build a PostgreSQL image from Debian's packages, as dist/postgresql.tar.
	@mkdir -p dist
	@$(LOCAL) image postgresql --ref $(or $(POSTGRES_IMG),localhost/postgresql:15) --out dist/postgresql.tar

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
build-installer: manifests generate $(LOCAL) ## Write dist/crds.yaml, dist/operator.yaml and, as both in one file, dist/install.yaml.
	@$(call render,config/default) | go run ./hack/package manifests dist

##@ Supply chain

.PHONY: sbom
sbom: $(LINUX) $(LOCAL) ## List what each binary of the image is made of, as dist/sbom/*.cdx.json (CycloneDX).
	@$(LOCAL) sbom --version v$(VERSION) --dir dist/sbom $(foreach folder,$(LINUX),$(folder)/manager $(folder)/transfer $(folder)/scorecard)

.PHONY: test-supply
test-supply: $(LOCAL) ## Test make vulncheck and make release: no network without PUSH_TO, a registry on loopback with it, the same bytes twice.
	cd hack/local && go test -tags supply -count=1 -timeout 60m ./internal/supply

.PHONY: vulncheck
vulncheck: $(LINUX) $(LOCAL) ## Look for known vulnerabilities that the code calls, in sources and binaries (DB=file:///folder: another database).
	@DB="$(DB)" hack/vulncheck.sh $(foreach folder,$(LINUX),$(folder)/manager $(folder)/transfer)

.PHONY: reproducible
reproducible: ## Build the images twice, the second time elsewhere and with an empty build cache, and compare them.
	@PLATFORMS=$(PLATFORMS) hack/reproducible.sh

.PHONY: release
release: $(LOCAL) ## Make everything of a release in dist/release/VERSION (PUSH_TO=registry.example.com/you: and push it there).
	@VERSION=$(VERSION) IMAGE_TAG_BASE=$(IMAGE_TAG_BASE) PLATFORMS=$(PLATFORMS) PUSH_TO=$(PUSH_TO) hack/release.sh

##@ Deployment

ifndef ignore-not-found
  ignore-not-found = false
endif

.PHONY: install
install: manifests $(LOCAL) ## Install the CRDs into the current context.
	@$(call tool,kustomize) build config/crd | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: $(LOCAL) ## Remove the CRDs and what protects them; refused while a DatabaseCluster or DatabaseBackup exists.
	@KUBECTL="$(KUBECTL)" hack/uninstall.sh

.PHONY: deploy
deploy: manifests $(LOCAL) ## Deploy CRDs and operator to the current context (IMG=...).
	@$(call render,config/default) | $(KUBECTL) apply --server-side -f -
	@$(KUBECTL) -n databasecluster-operator-system rollout status deployment/databasecluster-operator-controller-manager --timeout=180s

.PHONY: undeploy
undeploy: $(LOCAL) ## Remove the operator from the current context; the CRDs, the clusters, their volumes and what protects them stay.
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; $(call render,config/default) | go run ./hack/package manifests "$$folder" >/dev/null; \
		$(KUBECTL) delete --cascade=foreground --ignore-not-found=$(ignore-not-found) -f "$$folder/operator.yaml"
	@echo "The namespace databasecluster-operator-system stays: there may be databases in it."

##@ Packaging

.PHONY: bundle
bundle: manifests $(LOCAL) ## Generate the OLM bundle and validate it (IMG=...@sha256:... and BUNDLE_OUT=dist for a release).
	@$(call tool,operator-sdk) generate kustomize manifests --interactive=false -q
	@$(call render,config/manifests) | VERSION=$(VERSION) IMG=$(IMG) CHANNELS=$(CHANNELS) \
		DEFAULT_CHANNEL=$(DEFAULT_CHANNEL) BUNDLE_OUT=$(BUNDLE_OUT) hack/bundle.sh
	@$(MAKE) --no-print-directory bundle-validate

.PHONY: bundle-validate
bundle-validate: $(LOCAL) ## Validate the OLM bundle by operator-sdk; a warning is a failure.
	@echo "operator-sdk bundle validate $(BUNDLE_OUT)/bundle --select-optional suite=operatorframework" >&2
	@$(call tool,operator-sdk) bundle validate $(BUNDLE_OUT)/bundle --select-optional suite=operatorframework \
		-o json-alpha1 | go run ./hack/bundle judge

.PHONY: scorecard
scorecard: ## Run the scorecard on the real node; its results are in dist/scorecard.json.
	@IMG=$(IMG) SCORECARD_IMG=$(SCORECARD_IMG) POSTGRES_IMG=$(POSTGRES_IMG) hack/scorecard.sh

.PHONY: chart
chart: manifests $(LOCAL) ## Generate what the Helm chart has from config, and the table of its values in docs/install.md.
	@$(call tool,kustomize) build config/default | go run ./hack/package chart $(VERSION)

CHART = charts/databasecluster-operator

.PHONY: helm-lint
helm-lint: $(LOCAL) ## Lint the Helm chart; hold it against its golden files and against config/default.
	@for values in $(CHART)/ci/*-values.yaml; do echo "helm lint --values $$values"; $(call tool,helm) lint --strict --quiet $(CHART) --values $$values; done
	@echo "golden files, wrong values, the same objects as config/default"
	@DBC_HELM=$(call tool,helm) DBC_KUSTOMIZE=$(call tool,kustomize) go test -tags helm -count=1 ./test/packaging/... $(HELM_TEST)

.PHONY: helm-golden
helm-golden: HELM_TEST = -args -update
helm-golden: helm-lint ## Write the golden files of the Helm chart anew.

.PHONY: e2e-helm
e2e-helm: ## Install, upgrade and uninstall by Helm on the real node, in the wrong order too.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e-install.sh -run Helm

.PHONY: e2e-install
e2e-install: ## Install and uninstall by plain manifests on the real node, in the wrong order too.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e-install.sh -run Manifests

.PHONY: catalog
catalog: $(LOCAL) ## Write dist/catalog, the catalog for OLM with the upgrade from the release before, and validate it by opm.
	@VERSION=$(VERSION) IMAGE_TAG_BASE=$(IMAGE_TAG_BASE) BUNDLE=$(BUNDLE_OUT)/bundle hack/catalog.sh

.PHONY: e2e-olm
e2e-olm: ## Install, upgrade and remove by the real Operator Lifecycle Manager on the real node (STORIES="-run Namespace": some).
	@VERSION=$(VERSION) IMG=$(IMG) IMAGE_TAG_BASE=$(IMAGE_TAG_BASE) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e-olm.sh $(STORIES)

.PHONY: bundle-build
bundle-build: ## Build the bundle image with Docker.
	$(CONTAINER_TOOL) build -f bundle.Dockerfile -t $(BUNDLE_IMG) .

.PHONY: bundle-push
bundle-push: ## Push the bundle image.
	$(CONTAINER_TOOL) push $(BUNDLE_IMG)
