##@ Benchmarks

.PHONY: bench-failover
bench-failover: ## Measure how long writes fail during failovers, beside bare Patroni on the same node (RUNS=20).
	$(faults) -run BenchFailover

.PHONY: bench-clients
bench-clients: ## Count errors and gaps that clients of PostgreSQL see with and without a pooler, beside CloudNativePG on the same node (RUNS=20).
	$(faults) -run BenchClients

.PHONY: bench-backup
bench-backup: ## Measure backups and restores of 1 GB of PostgreSQL on the real node, and compare with its own tools and zstd.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) DBC_BENCH_ROUNDS=3 hack/e2e.sh -run BenchBackup

.PHONY: bench-autoscaling
bench-autoscaling: ## Let autoscalers change a cluster and a pooler under load on the real node, and draw what their clients saw.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) DBC_AUTOSCALING=$(CURDIR)/docs/benchmarks/autoscaling.jsonl hack/e2e.sh -run AutoscalersAddAndRemove
	cd test/bench/report && go run . --autoscaling $(CURDIR)/docs/benchmarks/autoscaling.jsonl --out $(CURDIR)/docs/images/autoscaling.svg

.PHONY: bench-disks
bench-disks: ## Fill volumes on the real node, and write what their clients see second by second.
	IMG=$(IMG) POSTGRES_IMG=$(POSTGRES_IMG) DBC_DISKS=$(CURDIR)/docs/benchmarks hack/e2e.sh -parallel 1 -run AVolumeThatFills

.PHONY: bench-archive
bench-archive: ## Compare the continuous archive with pg_receivewal, archive_command and pgBackRest, without a node (QUICK=1 for a look, BASE_GIB=10, LOG_GIB=5).
	@QUICK="$(QUICK)" ROUNDS="$(ROUNDS)" LOSSES="$(LOSSES)" SECONDS_EACH="$(SECONDS_EACH)" LAG="$(LAG)" DRAIN_GIB="$(DRAIN_GIB)" BASE_GIB="$(BASE_GIB)" \
		LOG_GIB="$(LOG_GIB)" PHASES="$(PHASES)" ONLY="$(ONLY)" OUT="$(OUT)" hack/bench-archive.sh

.PHONY: bench-quick
bench-quick: ## Measure requests, CPU, heap and times at 100 and 1,000 clusters, and compare with a minimal client (BENCH="--sizes 10,100").
	@hack/bench.sh thin $(BENCH)

.PHONY: bench
bench: ## Measure all phases at up to 10,000 clusters and with a scheduler (BASE=COMMIT: compare with an older commit; OPERATORS=FILE: with another operator).
	@BASE="$(BASE)" SIZES="$(SIZES)" THIN="$(THIN)" FULL="$(FULL)" PROFILED="$(PROFILED)" OPERATORS="$(OPERATORS)" hack/bench-all.sh

.PHONY: bench-docs
bench-docs: ## Publish the results of make bench in docs/benchmarks.
	@ls dist/bench/*.jsonl >/dev/null 2>&1 || { echo "dist/bench has no results: run make bench first."; exit 1; }
	@rm -rf docs/benchmarks/profiles docs/benchmarks/{thin,full}*.{svg,jsonl}
	@mkdir -p docs/benchmarks/profiles
	@cp dist/bench/*.jsonl docs/benchmarks/
	@find dist/bench/profiles -name '*.txt' ! -name 'floor-*' -exec cp -t docs/benchmarks/profiles {} + || true
	@cd test/bench/report && go run . --dir $(CURDIR)/docs/benchmarks --publish

.PHONY: bench-repeat
bench-repeat: $(LOCAL) ## Measure a second backup of PostgreSQL that stores only what has changed, beside one that stores everything (GIB=2).
	DBC_REPEAT_GIB=$(or $(GIB),2) DBC_VERSITYGW=$(call tool,versitygw) go test -count=1 -timeout 60m -tags s3 -run TestMeasureASecondBackup -v ./test/transfer
