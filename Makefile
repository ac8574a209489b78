# VERSION is the version of the operator, its image and its bundle.
VERSION ?= 0.3.0

# IMAGE_TAG_BASE is the operator image without a tag. The targets below use IMG.
IMAGE_TAG_BASE ?= ghcr.io/dbcluster/databasecluster-operator
IMG ?= $(IMAGE_TAG_BASE):v$(VERSION)
BUNDLE_IMG ?= $(IMAGE_TAG_BASE)-bundle:v$(VERSION)
# SCORECARD_IMG is the image with our scorecard tests (test/scorecard).
SCORECARD_IMG ?= $(IMAGE_TAG_BASE)-scorecard:v$(VERSION)
# POSTGRES_IMG is the PostgreSQL image of the demo and the e2e tests. The default is an image built from Debian
# packages, or the official image with CLUSTER=current.
POSTGRES_IMG ?=

CHANNELS ?= candidate-v0,fast-v0,stable-v0
DEFAULT_CHANNEL ?= stable-v0
# BUNDLE_OUT is the directory in which make bundle writes and validates the bundle. The default is the committed bundle.
BUNDLE_OUT ?= .

# CONTAINER_TOOL builds and pushes images where a Docker daemon or podman exists.
CONTAINER_TOOL ?= docker
PLATFORMS ?= linux/amd64,linux/arm64

comma = ,
SHELL = /usr/bin/env bash -o pipefail
.SHELLFLAGS = -ec
.DEFAULT_GOAL = help

# -trimpath omits the paths of the checkout, so clones share the build cache.
export GOFLAGS ?= -trimpath

BIN = bin
LOCAL = $(BIN)/local
# tool is the path of a pinned tool. The first use builds it outside the checkout.
tool = $$($(LOCAL) tool $(1))
KUBECTL ?= $(call tool,kubectl)
# render prints a kustomization with the operator image (in the container and in TRANSFER_IMAGE) and the scorecard
# image.
render = $(call tool,kustomize) build $(1) | sed 's|: controller:latest$$|: $(IMG)|; s|: scorecard:latest$$|: $(SCORECARD_IMG)|'
GO_LDFLAGS = -s -w -X main.version=v$(VERSION)
# GO_BUILD depends only on the sources and the Go version, not on paths, the state of the clone or settings of this
# machine. The Dockerfile builds with the same flags.
GO_BUILD = CGO_ENABLED=0 GOFLAGS= GOEXPERIMENT= GOAMD64=v1 GOARM64=v8.0 go build -trimpath -buildvcs=false
platforms = $(foreach a,$(ARCHITECTURES),--platform $(a)=$(BIN)/linux-$(a))
ARCHITECTURES = $(patsubst linux/%,%,$(subst $(comma), ,$(PLATFORMS)))

##@ General

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make \033[36m<target>\033[0m\n"} /^[a-zA-Z_0-9-]+:.*?##/ { printf "  \033[36m%-20s\033[0m %s\n", $$1, $$2 } /^##@/ { printf "\n\033[1m%s\033[0m\n", substr($$0, 5) }' $(MAKEFILE_LIST)

##@ Try it

.PHONY: demo
demo: ## Kill the primary of a PostgreSQL with replicas under load, on a real Kubernetes on this machine (CLUSTER=current: on the current context).
	@IMG=$(IMG) CLUSTER=$(CLUSTER) POSTGRES_IMG=$(POSTGRES_IMG) hack/demo.sh

.PHONY: demo-down
demo-down: ## Remove the demo.
	@IMG=$(IMG) CLUSTER=$(CLUSTER) hack/demo.sh down

##@ Development

.PHONY: manifests
manifests: $(LOCAL) ## Generate the CRDs and the RBAC rules.
	@$(call tool,controller-gen) rbac:roleName=manager-role crd paths="./api/...;./internal/...;./cmd/...;./config/engines" output:crd:artifacts:config=config/crd/bases
	@go run ./hack/crd config/crd/bases/*.yaml

# CORE_TYPES are the Kubernetes types in the API that have their own apply configurations.
CORE_TYPES = Affinity ClusterTrustBundleProjection ConfigMapProjection ConfigMapVolumeSource DownwardAPIProjection EmptyDirVolumeSource \
	EnvFromSource EnvVar LocalObjectReference PodSecurityContext Probe ResourceRequirements SecretProjection SecretVolumeSource \
	SecurityContext Toleration TopologySpreadConstraint
space = $(subst ,, )
core_configurations = $(subst $(space),;,$(strip $(CORE_TYPES:%=k8s.io/api/core/v1.%@k8s.io/client-go/applyconfigurations/core/v1) \
	k8s.io/api/networking/v1.NetworkPolicyPeer@k8s.io/client-go/applyconfigurations/networking/v1))

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
	linter=$(call tool,golangci-lint); for module in hack/local test/bench/report; do (cd $$module && $$linter run) || exit; done

.PHONY: lint-fix
lint-fix: $(LOCAL) ## Run the linters and fix findings automatically.
	$(call tool,golangci-lint) run --fix

.PHONY: lint-prose
lint-prose: $(LOCAL) ## Check messages, CRD descriptions, comments and docs by Vale (PROSE="docs internal/plan": only these paths).
	@export DBC_VALE=$(call tool,vale); go test -tags prose -count=1 ./hack/prose; go run ./hack/prose lint $(PROSE)

.PHONY: crd-compat
crd-compat: $(LOCAL) ## Check that the CRDs accept all objects of the previous release.
	crds=$$(hack/previous.sh crds); go run ./hack/crdcompat "$(call tool,crdify)" "$$crds" config/crd/bases

.PHONY: verify
verify: $(LOCAL) ## Check generated files, go.mod files, linters and untracked files.
	hack/verify.sh

##@ Tests

.PHONY: test
test: test-unit test-integration test-s3 ## Run the unit tests, the integration tests and the S3 tests.

# SEED selects the sample of the campaigns and the orders of events.
SEED ?= 1
export DBC_SEED = $(SEED)

.PHONY: test-unit
test-unit: race-detector ## Run the unit tests, with those of the local tool and the bundle, and a sample of the campaigns.
	go test -timeout 10m $$(go list ./... | grep -v /internal/transfer)
	go test -race -timeout 10m ./internal/transfer # only this package starts goroutines; make test-campaigns runs all tests with -race
	cd hack/local && go test ./...
	cd test/bench/report && go test ./...

.PHONY: test-integration
test-integration: ## Run the integration tests on a real kube-apiserver and kube-controller-manager.
	hack/test-integration.sh

.PHONY: test-s3
test-s3: $(LOCAL) ## Run the tests of transfer on a real S3 server.
	DBC_VERSITYGW=$(call tool,versitygw) go test -count=1 -parallel 6 -tags s3 ./test/transfer/...

.PHONY: test-campaigns
test-campaigns: export DBC_WHOLE = yes
test-campaigns: race-detector test-s3 ## Run the whole campaigns, and all tests with the race detector (SEED=7: other orders of events).
	go test -count=1 -timeout 60m ./test/sim
	go test -race -timeout 60m ./...
	hack/test-integration.sh -race

.PHONY: race-detector
race-detector:
	@command -v gcc >/dev/null || { echo "make test needs a C compiler for the race detector: apt-get install gcc libc6-dev"; exit 1; }

.PHONY: e2e
e2e: ## Run the users' stories on the real node (CLUSTER=current: on the current context, without stories that need the node).
	IMG=$(IMG) CLUSTER=$(CLUSTER) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e.sh

.PHONY: e2e-smoke
e2e-smoke: ## Run the demo and two more stories as tests on the real node (CLUSTER=current: on the current context).
	IMG=$(IMG) CLUSTER=$(CLUSTER) POSTGRES_IMG=$(POSTGRES_IMG) hack/e2e.sh -run Smoke

# The arguments of test-faults and bench-failover. Without FAULT, SYNCHRONOUS or OPERATOR, all of them run. NODE=shared uses a
# node that runs, without the faults that disturb its other users.
NODE ?= mine
faults = IMG=$(IMG) NODE=$(NODE) DBC_FAULT="$(FAULT)" DBC_SYNCHRONOUS="$(SYNCHRONOUS)" DBC_OPERATOR="$(OPERATOR)" DBC_DURATION=$(DURATION) \
	DBC_PARAMETERS="$(PARAMETERS)" DBC_RUNS=$(RUNS) hack/test-faults.sh

.PHONY: test-faults
test-faults: ## Disturb PostgreSQL under load on the real node, and look for every acknowledged row (FAULT=kill-postgres SYNCHRONOUS=on OPERATOR=off).
	$(faults) -run NoFault

.PHONY: test-idle
test-idle: ## Count the requests that the operator sends in ten minutes while clients write to PostgreSQL (DURATION=1m).
	$(faults) -run Idle

.PHONY: bench-failover
bench-failover: ## Measure how long writes fail during failovers, beside bare Patroni on the same node (RUNS=20).
	$(faults) -run BenchFailover

.PHONY: conformance
conformance: ## Run an engine through its contract on the real node (ENGINE=FILE IMAGE=NAME, ONLY=rollout,kill; without ENGINE: all built-in engines).
	@IMG=$(IMG) NODE=$(NODE) ENGINE="$(ENGINE)" IMAGE="$(IMAGE)" CLIENT="$(CLIENT)" ONLY="$(ONLY)" KEEP="$(KEEP)" LOAD="$(LOAD)" hack/conformance.sh

.PHONY: bench-backup
bench-backup: ## Measure backups and restores of 1 GB of PostgreSQL on the real node, and compare with its own tools and zstd.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) DBC_BENCH_ROUNDS=3 hack/e2e.sh -run BenchBackup

.PHONY: bench-quick
bench-quick: ## Measure requests, CPU, heap and times at 100 and 1,000 clusters, and compare with a minimal client (BENCH="--sizes 10,100").
	@hack/bench.sh thin $(BENCH)

.PHONY: bench
bench: ## Measure all phases at up to 10,000 clusters and with a scheduler (BASE=COMMIT: compare with an older commit; OPERATORS=FILE: with another operator).
	@BASE="$(BASE)" SIZES="$(SIZES)" THIN="$(THIN)" FULL="$(FULL)" PROFILED="$(PROFILED)" OPERATORS="$(OPERATORS)" hack/bench-all.sh

.PHONY: bench-docs
bench-docs: ## Publish the results of make bench in docs/benchmarks.md.
	@ls dist/bench/*.jsonl >/dev/null 2>&1 || { echo "dist/bench has no results: run make bench first."; exit 1; }
	@rm -rf docs/benchmarks/profiles docs/benchmarks/{thin,full}*.{svg,jsonl}
	@mkdir -p docs/benchmarks/profiles
	@cp dist/bench/*.jsonl docs/benchmarks/
	@find dist/bench/profiles -name '*.txt' ! -name 'floor-*' -exec cp -t docs/benchmarks/profiles {} + || true
	@cd test/bench/report && go run . --dir $(CURDIR)/docs/benchmarks --document $(CURDIR)/docs/benchmarks.md

##@ Build

.PHONY: build
build: manifests generate fmt vet $(BIN)/manager $(BIN)/transfer ## Build the manager and transfer, the program in backup Jobs.

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
image-multiarch: $(LINUX) $(LOCAL) ## Build the operator and scorecard images for PLATFORMS without a daemon, as dist/*.oci.tar, and print their digests.
	@$(LOCAL) image operator-index $(platforms) --version v$(VERSION) --ref $(IMG) --out dist/operator.oci.tar
	@$(LOCAL) image scorecard-index $(platforms) --version v$(VERSION) --ref $(SCORECARD_IMG) --out dist/scorecard.oci.tar
	@for image in operator scorecard; do tar -xOf dist/$$image.oci.tar index.json | grep -oP '"digest": *"\K[^"]+'; done

.PHONY: image-postgresql
image-postgresql: $(LOCAL) ## Build a PostgreSQL image from Debian packages, as dist/postgresql.tar.
	@mkdir -p dist
	@$(LOCAL) image postgresql --ref $(or $(POSTGRES_IMG),localhost/postgresql:15) --out dist/postgresql.tar

.PHONY: image-patroni image-etcd image-memcached
image-patroni: ## Build an image of PostgreSQL with Patroni from Debian packages, as dist/patroni.tar.
image-etcd: ## Build an etcd image from Debian packages, as dist/etcd.tar.
image-memcached: ## Build a memcached image from Debian packages, as dist/memcached.tar.
image-patroni image-etcd image-memcached: image-%: $(LOCAL)
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

##@ Supply chain

.PHONY: sbom
sbom: $(LINUX) $(LOCAL) ## List the modules in each binary of the image, as dist/sbom/*.cdx.json (CycloneDX).
	@$(LOCAL) sbom --version v$(VERSION) --dir dist/sbom $(foreach folder,$(LINUX),$(folder)/manager $(folder)/transfer $(folder)/scorecard)

.PHONY: test-supply
test-supply: $(LOCAL) ## Test make vulncheck and make release: no network without PUSH_TO, a local registry with it, reproducible files.
	cd hack/local && go test -tags supply -count=1 -timeout 60m ./internal/supply

.PHONY: vulncheck
vulncheck: $(LINUX) $(LOCAL) ## Check sources and binaries for known vulnerabilities in called functions (DB=file:///folder: another database).
	@DB="$(DB)" hack/vulncheck.sh $(foreach folder,$(LINUX),$(folder)/manager $(folder)/transfer)

.PHONY: reproducible
reproducible: ## Build the images twice, in different directories and with an empty build cache, and compare them.
	@PLATFORMS=$(PLATFORMS) hack/reproducible.sh

.PHONY: release
release: $(LOCAL) ## Build all files of a release in dist/release/VERSION (PUSH_TO=registry.example.com/you: also push them).
	@VERSION=$(VERSION) IMAGE_TAG_BASE=$(IMAGE_TAG_BASE) PLATFORMS=$(PLATFORMS) PUSH_TO=$(PUSH_TO) hack/release.sh

##@ Deployment

ifndef ignore-not-found
  ignore-not-found = false
endif

.PHONY: install
install: manifests $(LOCAL) ## Install the CRDs into the current context.
	@$(call tool,kustomize) build config/crd | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: $(LOCAL) ## Remove the CRDs and their admission policies; fails while a DatabaseCluster or DatabaseBackup exists.
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
