# The verbs a person uses. `make test` is the README's test command.
.PHONY: install test quick lint format bench wheel clean
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

wheel:  ## dist/netsim-*.whl, shipped inputs included
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache
