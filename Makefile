# Every target sets up what it needs; a second call reuses it.
PYTHON ?= python3
BIN := .venv/bin
CORE := .venv/.core-ready
DEV := .venv/.dev-ready
DATA ?= ../shared/data
OUT ?= outputs/tables.json
# whole files to a worker: what a file sets up is set up once
TESTS = $(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder --durations=20

# what may come out otherwise on another CPU
CPU_TESTS = tests/e2e/test_finetune.py $(addprefix tests/unit/test_,four_bits.py transformers_lm.py \
  loading.py scoring.py scoring_norms.py)

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-cpu-paths coverage check bench tables check-vllm bench-scoring

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

demo: $(CORE) ## one experiment, offline: 30 rule-based agents, an attack, TVD-MI, a report
	$(BIN)/python run.py mechanism=tvd_mi dataset=xsum attack=case_flip

test: check ## everything CI runs: lint, types, all tests
	$(TESTS)

test-fast: $(DEV) ## before each commit: unit and contract tests without the slow ones
	$(TESTS) -m "not slow" tests/unit tests/contract

test-cpu-paths: $(DEV) ## what computes with torch, as on CPUs with AVX2 and with neither AVX
	for path in avx2:AVX2:AVX2 default:SSE41:COMPATIBLE; do \
	  set -- $$(echo $$path | tr : ' '); echo "== torch $$1, oneDNN $$2, MKL $$3"; \
	  ATEN_CPU_CAPABILITY=$$1 ONEDNN_MAX_CPU_ISA=$$2 MKL_CBWR=$$3 $(TESTS) $(CPU_TESTS) || exit 1; \
	done

coverage: $(DEV) ## all tests again, a fifth slower, with the lines they reach
	$(TESTS) --cov --cov-report=term

check: $(DEV) ## lint and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(DEV) bench-scoring ## speed against named peers, measured in the same run (outputs/bench/)
	$(BIN)/python -m experiments.bench.statistics --out outputs/bench/statistics.json
	$(BIN)/python -m experiments.bench.ranking --out outputs/bench/ranking.json

tables: $(DEV) ## the published tables from released data: make tables DATA=folder
	$(BIN)/python -m experiments.tables --data $(DATA) --out $(OUT)

bench-scoring: $(DEV) ## log-probability engines against lm-evaluation-harness (15 minutes; wants a quiet machine)
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m experiments.bench.scoring --threads 2 --out outputs/bench/scoring.json

check-vllm: $(DEV) ## compare a running vLLM server (URL=, MODEL=) with transformers
	$(BIN)/python -m experiments.check_vllm --url $(or $(URL),http://127.0.0.1:8000/v1) --model $(or $(MODEL),outputs/models/tiny_llama)

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "judgelab needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(DEV): $(CORE)
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@
