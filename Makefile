# The verbs a person uses. `make test` is the README's test command.
.PHONY: install test quick lint format bench numba wheel clean
VENV ?= .venv
BIN := $(VENV)/bin

$(BIN)/python:
	python3 -m venv $(VENV)

install: $(BIN)/python  ## a virtual environment with netsim (editable) and its test tools
	$(BIN)/python -m pip install --quiet -e '.[dev]'

test:  ## the whole suite
	$(BIN)/python -m pytest -n auto

quick:  ## the suite without its slow tests
	$(BIN)/python -m pytest -n auto -m 'not slow'

lint:  ## what CI asks of the text of the code
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format:  ## let ruff write it
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench:  ## the twelve scenarios against the published htsim numbers
	$(BIN)/python benchmarks/core_speed.py

NUMBAS ?= 0.60.0 0.68.1
numba:  ## the kernels and the twin with the oldest and the newest numba that pyproject.toml allows
	for version in $(NUMBAS); do \
		python3 -m venv .venv-numba-$$version && \
		.venv-numba-$$version/bin/python -m pip install --quiet "numba==$$version" -e '.[test]' && \
		.venv-numba-$$version/bin/python -m pytest -q -n auto tests/kernel tests/core tests/transport tests/reference || exit 1; \
	done

wheel:  ## dist/netsim-*.whl, shipped inputs included
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache
