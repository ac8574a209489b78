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
# PLUGIN_PLATFORMS are the machines of users, who run the kubectl plugin.
PLUGIN_PLATFORMS ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64

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

LINUX = $(ARCHITECTURES:%=$(BIN)/linux-%)
PLUGINS = $(foreach platform,$(subst $(comma), ,$(PLUGIN_PLATFORMS)),$(BIN)/plugin/$(subst /,-,$(platform)))

# FIRST are the targets that most people need: to try the operator, to change it, and to run their change.
FIRST = demo|demo-down|manifests|generate|verify|test|test-unit|e2e-smoke|run|image|deploy|undeploy
describe = awk 'BEGIN {FS = ":.*\#\#"} /^[a-z0-9-]+:.*\#\#/ { printf "  %-20s %s\n", $$1, $$2 } \
	/^\#\#@/ { printf "\n%s\n", substr($$0, 5) }'

##@ General

.PHONY: help
help: ## Show the targets that most people need.
	@printf 'Usage: make TARGET; make help-all shows all targets.\n\n'
	@grep -hE '^($(FIRST)):.*##' $(MAKEFILE_LIST) | $(describe)

.PHONY: help-all
help-all: ## Show all targets.
	@$(describe) $(MAKEFILE_LIST)

include make/dev.mk make/test.mk make/bench.mk make/build.mk make/release.mk make/deploy.mk make/package.mk
