##@ Tests

.PHONY: test
test: test-unit test-integration test-s3 ## Run the unit tests, the integration tests and the S3 tests.

# SEED selects the sample of the campaigns and the orders of events.
SEED ?= 1
export DBC_SEED = $(SEED)

.PHONY: test-unit
test-unit: race-detector test-scripts ## Run the unit tests, with those of the engines' scripts and the local tool, and a sample of the campaigns.
	go test -timeout 10m $$(go list ./... | grep -vE '/internal/(transfer|kubelet)$$')
	go test -race -timeout 10m ./internal/transfer ./internal/kubelet # only these packages start goroutines; make test-campaigns runs all tests with -race
	cd hack/local && go test ./...
	cd test/bench/report && go test ./...

.PHONY: test-scripts
test-scripts: ## Run the tests of the engines' scripts in Python.
	for tests in config/engines/*/tests; do python3 -m unittest discover --start-directory $$tests || exit; done

.PHONY: test-integration
test-integration: ## Run the integration tests on a real kube-apiserver and kube-controller-manager.
	hack/test-integration.sh

.PHONY: test-s3
test-s3: $(LOCAL) ## Run the tests of transfer on a real S3 server.
	DBC_VERSITYGW=$(call tool,versitygw) DBC_ETCD=$(call tool,etcd-member) DBC_ETCDCTL=$(call tool,etcdctl) DBC_ETCDUTL=$(call tool,etcdutl) \
		go test -count=1 -parallel 6 -tags s3 ./test/transfer/...

.PHONY: test-objects
test-objects: $(LOCAL) ## Run the action objects on real servers of PostgreSQL, Redis and etcd (apt-get install postgresql redis-server python3-psycopg2). DBC_PGBOUNCER is PgBouncer 1.23 or newer.
	@command -v redis-server >/dev/null || { echo "make test-objects needs Redis: apt-get install redis-server"; exit 1; }
	DBC_ETCD=$(call tool,etcd-member) DBC_ETCDCTL=$(call tool,etcdctl) go test -count=1 -timeout 60m -tags objects ./test/objects ./config/engines

.PHONY: test-metrics
test-metrics: $(LOCAL) ## Scrape real servers of PostgreSQL and Redis by their exporters and a real Prometheus (apt-get install postgresql redis-server python3-psycopg2).
	@/usr/bin/python3 -c 'import psycopg2' || { echo "make test-metrics needs psycopg2: apt-get install python3-psycopg2"; exit 1; }
	PATH=$$(dirname $(call tool,prometheus)):$$(dirname $(call tool,promtool)):$$(dirname $(call tool,postgres_exporter)):$$(dirname $(call tool,redis_exporter)):$$PATH \
		go test -count=1 -tags objects,metrics -run 'TestPrometheus|TheExporterOf' ./config/engines

.PHONY: test-headlamp
test-headlamp: headlamp ## Open the plugin for Headlamp in Chromium, on a real API server (SHOTS=docs/images: also take the screenshots).
	@SHOTS="$(SHOTS)" hack/test-headlamp.sh

.PHONY: test-campaigns
test-campaigns: export DBC_WHOLE = yes
test-campaigns: race-detector test-s3 ## Run the whole campaigns, and all tests with the race detector (SEED=7: other orders of events).
	go test -count=1 -timeout 180m ./test/sim
	env --unset=DBC_WHOLE go test -race -timeout 120m ./... # a sample: all plays run the same code
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

# The arguments of test-faults, test-faults-archive, bench-failover and bench-clients. Without FAULT, SYNCHRONOUS or OPERATOR, all of them run.
# NODE=shared uses a node that runs, without the faults that disturb its other users.
NODE ?= mine
faults = IMG=$(IMG) NODE=$(NODE) DBC_FAULT="$(FAULT)" DBC_SYNCHRONOUS="$(SYNCHRONOUS)" DBC_OPERATOR="$(OPERATOR)" DBC_DURATION=$(DURATION) \
	DBC_PARAMETERS="$(PARAMETERS)" DBC_RUNS=$(RUNS) DBC_MOMENTS=$(MOMENTS) DBC_KILLS=$(KILLS) hack/test-faults.sh

.PHONY: test-faults
test-faults: ## Disturb PostgreSQL under load on the real node, and look for every acknowledged row (FAULT=kill-postgres SYNCHRONOUS=on OPERATOR=off).
	$(faults) -run NoFault

.PHONY: test-faults-archive
test-faults-archive: ## Disturb PostgreSQL with a continuous archive under load on the real node, and recover random moments (FAULT=kills KILLS=60 MOMENTS=20).
	$(faults) -run EveryMoment

.PHONY: test-idle
test-idle: ## Count the requests that the operator sends in ten minutes while clients write to PostgreSQL (DURATION=1m).
	$(faults) -run Idle

.PHONY: conformance
conformance: ## Run an engine through its contract on the real node (ENGINE=FILE IMAGE=NAME, ONLY=rollout,kill; without ENGINE: all built-in engines).
	@IMG=$(IMG) NODE=$(NODE) ENGINE="$(ENGINE)" IMAGE="$(IMAGE)" CLIENT="$(CLIENT)" ONLY="$(ONLY)" KEEP="$(KEEP)" LOAD="$(LOAD)" hack/conformance.sh
