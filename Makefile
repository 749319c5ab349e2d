# The commands of the README. `make install` is the set-up that all the others share.
.PHONY: install demo test bench lint debug-test wheel-test clean
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEBUG_VENV := .venv-debug
SOURCES := setup.py pyproject.toml $(shell find cext proto -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.proto')

export MEXICA_AI_NATIVE ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export CEXT_JOBS ?= 2

install: $(VENV)/.installed

$(VENV)/.installed: $(SOURCES)
	@sh .ci/check-machine $(PYTHON)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

demo: install
	@$(BIN)/mexica-ai best examples/mexica_midgame.json --time 2

test: install
	$(BIN)/python -m pytest

bench: install
	$(BIN)/python benchmarks/bench_rules.py
	$(BIN)/python benchmarks/bench_search.py

lint: install
	$(BIN)/ruff check .

# The core with bounds checks, overflow checks and check() after every action, in an environment of its own.
debug-test: $(DEBUG_VENV)/.installed
	$(DEBUG_VENV)/bin/pytest

$(DEBUG_VENV)/.installed: $(SOURCES) $(shell find mexica_ai server -name '*.py')
	@sh .ci/check-machine $(PYTHON)
	test -x $(DEBUG_VENV)/bin/python || $(PYTHON) -m venv $(DEBUG_VENV)
	CEXT_DEBUG=1 $(DEBUG_VENV)/bin/python -m pip install --quiet '.[test]'
	@touch $@

# A portable wheel, installed and used outside the checkout.
wheel-test:
	@sh .ci/check-machine $(PYTHON)
	MEXICA_AI_NATIVE=0 .ci/wheel-test $(PYTHON)

clean:
	rm -rf build $(VENV) $(DEBUG_VENV) *.egg-info
	find cext -name '*.c' -delete -o -name '*.so' -delete
