##@ Try it

.PHONY: demo
demo: ## Kill the primary of a PostgreSQL with replicas under load, on a real Kubernetes on this machine (CLUSTER=current: on the current context).
	@IMG=$(IMG) CLUSTER=$(CLUSTER) POSTGRES_IMG=$(POSTGRES_IMG) hack/demo.sh

.PHONY: demo-down
demo-down: ## Remove the demo.
	@IMG=$(IMG) CLUSTER=$(CLUSTER) hack/demo.sh down

##@ Development

.PHONY: engines
engines: ## Assemble the DatabaseEngines in config/engines from their folders.
	@go run ./hack/engines config/engines/*/engine.yaml

.PHONY: manifests
manifests: engines $(LOCAL) ## Generate the CRDs, the files that list them, the RBAC rules and the built-in engines.
	@$(call tool,controller-gen) rbac:roleName=manager-role crd paths="./api/...;./internal/...;./cmd/...;./config/engines" output:crd:artifacts:config=config/crd/bases
	@go run ./hack/crd config/crd/bases/*.yaml
	@go run ./hack/kinds

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
lint: lint-go lint-scripts ## Run the linters of Go, shell and Python.

.PHONY: lint-go
lint-go: $(LOCAL)
	$(call tool,golangci-lint) run
	$(call tool,kube-api-linter) run --config=.golangci-kal.yml ./api/v1alpha1
	linter=$(call tool,golangci-lint); for module in hack/local test/bench/report; do (cd $$module && $$linter run) || exit; done

.PHONY: lint-scripts
lint-scripts: ## Check scripts with ShellCheck and Pyflakes, also those of the engines.
	hack/lint-scripts.sh || [ $$? = 77 ]

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
