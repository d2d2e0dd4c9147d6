# All commands set up what they need in .venv, again when dependencies or what is compiled change.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test quick lint house bench docs reproduce reproduce-quick clean

demo: .venv/.installed
	$(BIN)/python -m examples.demo

# one process per core, one thread each: tables in tests are small
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --cov --cov-report=term

# The loop of a contributor: under a minute, without browser, documentation and cluster
quick: .venv/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not slow and not browser and not docs and not cluster"

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --cache-dir .venv/.import_linter

# Lines, the way of a default fit, parameters: what the budget of the house is about
house: .venv/.installed
	$(BIN)/python docs/contributing/house.py

# A few timings beside the last release, in a few minutes; fails where this version is slower
bench: .venv/.installed
	$(BIN)/python -m benchmarks.releases

# The documentation, in out/docs; a warning is an error
docs: .venv/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -b html docs out/docs

# The paper's figures and tables, in out/; on a machine with a GPU: make reproduce DEVICE=cuda JOBS=16
DEVICE ?= cpu
JOBS ?= 2
# the second need the published files, in the folder GROUPFS_DATA
MOONS := figure1 figure2 figure3 readings ablations
REAL := table1 table2 table_student figure4

reproduce: .venv/.installed
	for name in $(MOONS) choosing_c; do $(BIN)/python -m experiments.$$name --jobs $(JOBS) || exit 1; done
	for name in $(REAL); do $(BIN)/python -m experiments.$$name --device $(DEVICE) --jobs $(JOBS) || exit 1; done

# A small part of each, computed in minutes, in out/quick
reproduce-quick: .venv/.installed
	for name in $(MOONS) choosing_c $(REAL); do \
		$(BIN)/python -m experiments.$$name --quick --jobs $(JOBS) --out out/quick/$$name || exit 1; done

clean:
	rm -rf .venv out

.venv/.installed: pyproject.toml constraints.txt setup.py $(wildcard src/groupfs/*/*.pyx)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@
