# The commands of the README. `make install` is the set-up that all the others share.
.PHONY: install demo test test-quick bench lint debug-test sanitize wheel-test clean
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEBUG_VENV := .venv-debug
# One worker a processor; a group of tests (xdist_group) shares one.
PYTEST := python -P -m pytest --numprocesses logical --dist loadgroup
SOURCES := setup.py pyproject.toml $(shell find cext proto tests/games -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.proto')

export MEXICA_AI_NATIVE ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export CEXT_JOBS ?= 2

# The stamp alone does not tell that files were deleted behind its back, or that they were built elsewhere.
install: $(VENV)/.installed
	@$(BIN)/python -P .ci/check_install.py || { rm $(VENV)/.installed; $(MAKE) $(VENV)/.installed; }

$(VENV)/.installed: $(SOURCES)
	@sh .ci/check-machine $(PYTHON)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

demo: install
	@$(BIN)/mexica-ai best examples/mexica_midgame.json --time 2

test: install
	$(BIN)/$(PYTEST)

# In a minute, what a change is most likely to break.
test-quick: install
	$(BIN)/$(PYTEST) -m 'not slow'

bench: install
	$(BIN)/python benchmarks/bench_rules.py
	$(BIN)/python benchmarks/bench_search.py

lint: install
	$(BIN)/ruff check .
	PATH="$(BIN):$$PATH" $(BIN)/cython-lint cext tests/games
	.ci/lint-protos

# The core with bounds checks, overflow checks and check() after every action, in an environment of its own.
debug-test: $(DEBUG_VENV)/.installed
	CEXT_DEBUG=1 $(DEBUG_VENV)/bin/$(PYTEST)

# Not an editable install: that would put its modules in the place of those of $(VENV).
$(DEBUG_VENV)/.installed: $(SOURCES) $(shell find mexica_ai server -name '*.py' -not -name '*_pb2*')
	@sh .ci/check-machine $(PYTHON)
	$(DEBUG_VENV)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(DEBUG_VENV)
	CEXT_DEBUG=1 CEXT_TESTS=1 $(DEBUG_VENV)/bin/python -m pip install --quiet '.[test]'
	@touch $@

# The core under gcc's sanitizers, one after the other, each in an environment of its own; `make sanitize-thread` is
# one of them. DRIVE are options of tests/sanitize/drive.py, such as DRIVE='--seconds 120 --seed 1000'.
sanitize: sanitize-address sanitize-thread

sanitize-%: .venv-%/.installed
	.ci/sanitize $* $(DRIVE)

.PRECIOUS: .venv-%/.installed
.venv-%/.installed: $(SOURCES) $(shell find mexica_ai server -name '*.py' -not -name '*_pb2*')
	@sh .ci/check-machine $(PYTHON) $(LIBRARIES_$*)
	.venv-$*/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv-$*
	CEXT_SANITIZE=$* CEXT_TESTS=1 .venv-$*/bin/python -m pip install --quiet .
	@touch $@

LIBRARIES_address := libasan libubsan
LIBRARIES_thread := libtsan

# A portable wheel, installed and used outside the checkout.
wheel-test:
	@sh .ci/check-machine $(PYTHON)
	.ci/wheel-test $(PYTHON)

clean:
	rm -rf build $(VENV) $(DEBUG_VENV) .venv-address .venv-thread *.egg-info
	find cext tests/games -name '*.c' -delete -o -name '*.so' -delete
