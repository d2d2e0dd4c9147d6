# Both commands set up everything they need in .venv, and only when the dependencies have changed.
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
	$(BIN)/python -m benchmarks.releases --guard

# The documentation, in out/docs; a warning is an error
docs: .venv/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -b html docs out/docs

# The paper's results; on a machine with a GPU: make reproduce DEVICE=cuda JOBS=16
DEVICE ?= cpu
JOBS ?= 2
SCENARIOS := scenario0 scenario1 scenario2 student

reproduce: .venv/.installed
	for name in $(SCENARIOS); do $(BIN)/python -m experiments.$$name --device $(DEVICE) --jobs $(JOBS) || exit 1; done
	$(BIN)/python -m experiments.two_moons --jobs $(JOBS) --figures experiments/results/figures
	$(BIN)/python -m experiments.choose_c --figures experiments/results/figures
	$(BIN)/python -m experiments.pixels --device $(DEVICE)
	$(BIN)/python -m experiments.student_figure
	$(BIN)/python -m experiments.tables

# A few small tables and few epochs, results in out/quick
reproduce-quick: .venv/.installed
	for name in $(SCENARIOS); do $(BIN)/python -m experiments.$$name --quick --jobs $(JOBS) || exit 1; done
	$(BIN)/python -m experiments.two_moons --quick --jobs $(JOBS) --results out/quick --figures out/quick
	$(BIN)/python -m experiments.choose_c --quick --results out/quick --figures out/quick
	$(BIN)/python -m experiments.student_figure --results out/quick --figures out/quick

clean:
	rm -rf .venv out

.venv/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@
