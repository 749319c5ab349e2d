# The commands of the README and of CONTRIBUTING.md. `make install` is the set-up that most others need.
.PHONY: help install demo test test-quick test-portable test-web mutation vendor bench strength strength-page profile lint lint-protos \
    debug-test sanitize fuzz dist wheel-test wheel-manylinux clean
.DEFAULT_GOAL := install
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEBUG_VENV := .venv-debug
PORTABLE_VENV := .venv-portable
# Four workers; tests/real.py says what each of them gets.
PYTEST := python -P -m pytest --numprocesses 4

# The tests start the command hundreds of times; without bytecode each start compiles all modules.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := setup.py cext/build.py \
    $(shell find cext proto tests/games -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.proto')
# All else that is installed; only builds in environments of their own depend on it.
PYTHON_SOURCES = $(wildcard examples/*.json*) \
    $(shell find cext mexica_ai server tests/games -type f -not -name '*_pb2*' -not -name built.json \
        \( -name '*.py' -o -name '*.json' -o -path '*/static/*' -o -path '*/fonts/*' -o -path '*/texts/*' \))

CLANG ?= clang
export MEXICA_AI_NATIVE ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export CEXT_JOBS ?= 2

# This list: the first comment line above each target.
help:
	@awk '/^# /{text = text == "" ? substr($$0, 3) : text; next} \
	    /^[a-z][a-z-]*:/ && text != ""{split($$1, name, ":"); printf "%-16s %s\n", name[1], text} {text = ""}' Makefile

# Builds the package in .venv, for this machine's processor.
# (The stamps alone do not tell that files were deleted behind their back, or that they were built elsewhere.)
install: $(VENV)/.built
	@$(BIN)/python -P .ci/check-install || { rm -f $(VENV)/.built $(VENV)/.installed; $(MAKE) $(VENV)/.built; }

# Compiles only what has changed, and generates the protobuf modules.
$(VENV)/.built: $(VENV)/.installed $(SOURCES)
	$(BIN)/python setup.py --quiet build_py build_ext --inplace
	@touch $@

# The tools of the build stay in the environment. pip would compile all modules in a directory of its own.
$(VENV)/.installed: pyproject.toml
	@sh .ci/check-machine $(PYTHON)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python .ci/build-requirements | $(BIN)/python -m pip install --quiet --requirement /dev/stdin
	CEXT_SKIP=1 $(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[test]'
	@touch $@

# The best turn of an example position.
demo: install
	@$(BIN)/mexica-ai best examples/mexica_midgame.json --time 2

# All tests but those of the page.
test: install
	$(BIN)/$(PYTEST) --ignore tests/web

QUICK := --ignore tests/web -m 'not slow and not real'

# The tests that a change most likely breaks.
# (Those that take long, or that depend on time, processes or ports, wait for `make test`.)
test-quick: install
	$(BIN)/$(PYTEST) $(QUICK)

# The quick tests on what `pip install` gives, and the search's signature, which is that of every build.
test-portable: $(PORTABLE_VENV)/.installed
	$(PORTABLE_VENV)/bin/$(PYTEST) $(QUICK)
	for game in '' $(notdir $(patsubst %/,%,$(wildcard benchmarks/signature/*/))); do \
	    $(PORTABLE_VENV)/bin/python -P benchmarks/signature.py --check $${game:+--game $$game} || exit 1; \
	done

# Not an editable install: that would put its modules in the place of those of $(VENV).
$(PORTABLE_VENV)/.installed: $(SOURCES) pyproject.toml $(PYTHON_SOURCES)
	@sh .ci/check-machine $(PYTHON)
	$(PORTABLE_VENV)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(PORTABLE_VENV)
	MEXICA_AI_NATIVE=0 CEXT_TESTS=1 $(PORTABLE_VENV)/bin/python -m pip install --quiet '.[test]'
	@touch $@

# The tests of the page: its HTTP interface, and in a browser, if there is a Chromium.
test-web: install $(VENV)/.web
	$(BIN)/$(PYTEST) tests/web

$(VENV)/.web: $(VENV)/.installed
	CEXT_SKIP=1 $(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[test-web]'
	@touch $@

# Changes a sample of lines one at a time, and lists the changes that no test notices.
# (Lines of the scheduler, the arena's statistics and the page. About an hour on two processors by estimate; tests/mutation.md judges what survived. OPTIONS='slots --seed 2' runs a part of it.)
mutation: install $(VENV)/.mutation
	$(BIN)/python -P .ci/mutation $(OPTIONS)

$(VENV)/.mutation: $(VENV)/.installed
	CEXT_SKIP=1 $(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[mutation]'
	@touch $@

# Fetches the npm packages of the page again, as vendor.json names them.
vendor: install
	$(BIN)/python .ci/vendor mexica_ai/web/static/vendor tests/web/vendor

# The speed of the rules and of the search.
bench: install
	$(BIN)/python benchmarks/bench_rules.py
	$(BIN)/python benchmarks/bench_search.py

# Measures this release (about 12 hours on 2 cores) and writes docs/strength.md and the README's table; resumable.
# (It plays what benchmarks/results lacks. SMALL=1: a plan of minutes, into build/strength; OPTIONS=--status: how far it is.)
strength: install
	$(BIN)/python benchmarks/measure.py $(if $(SMALL),--plan benchmarks/plans/small.toml --results build/strength) $(OPTIONS)

# Writes docs/strength.md and the README's table from benchmarks/results, without a game.
strength-page: install
	$(BIN)/python benchmarks/strength.py

# Where a search spends its instructions; OPTIONS=perf samples its time instead.
# (On the portable build: valgrind does not know all instructions of new processors.)
profile: .venv-profile/.installed
	.ci/profile $(OPTIONS)

.venv-profile/.installed: $(SOURCES) pyproject.toml $(PYTHON_SOURCES)
	@sh .ci/check-machine $(PYTHON)
	.venv-profile/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv-profile
	CEXT_PROFILE=1 MEXICA_AI_NATIVE=0 .venv-profile/bin/python -m pip install --quiet .
	@touch $@

# Style and types: ruff, mypy and cython-lint; of the scripts of the page tsc, if there is npm.
lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(BIN):$$PATH" $(BIN)/cython-lint cext tests/games examples/plugin_game
	.ci/check-scripts

# The protos: their style, and that they do not break published clients; needs npm.
lint-protos:
	.ci/lint-protos

# All tests on the core with bounds checks, overflow checks and check() after every action.
debug-test: $(DEBUG_VENV)/.installed
	CEXT_DEBUG=1 $(DEBUG_VENV)/bin/$(PYTEST)

# Not an editable install: that would put its modules in the place of those of $(VENV).
$(DEBUG_VENV)/.installed: $(SOURCES) pyproject.toml $(PYTHON_SOURCES)
	@sh .ci/check-machine $(PYTHON)
	$(DEBUG_VENV)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(DEBUG_VENV)
	CEXT_DEBUG=1 CEXT_TESTS=1 $(DEBUG_VENV)/bin/python -m pip install --quiet '.[test]'
	@touch $@

# The core under gcc's sanitizers; `make sanitize-thread` runs one of them.
# (DRIVE is a list of options of tests/sanitize/drive.py, such as DRIVE='--seconds 120 --seed 1000'.)
sanitize: sanitize-address sanitize-thread

sanitize-%: .venv-%/.installed
	.ci/sanitize $* $(DRIVE)

.PRECIOUS: .venv-%/.installed
.venv-%/.installed: $(SOURCES) pyproject.toml $(PYTHON_SOURCES)
	@sh .ci/check-machine $(PYTHON) $(LIBRARIES_$*)
	.venv-$*/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv-$*
	CEXT_SANITIZE=$* CEXT_TESTS=1 .venv-$*/bin/python -m pip install --quiet '.$(EXTRAS_$*)'
	@touch $@

LIBRARIES_address := libasan libubsan
LIBRARIES_thread := libtsan
EXTRAS_fuzzer := [fuzz]
.venv-fuzzer/.installed: export CC = $(CLANG)

DOOR ?= position
SECONDS ?= 60

# Looks for inputs that break a reader or the core; tests/fuzz/README.md has the doors.
# (CLANG=clang-14 or the like where there is no `clang`.)
fuzz: .venv-fuzzer/.installed
	.ci/fuzz $(DOOR) --seconds $(SECONDS)

# The source archive, in dist/.
dist: install
	rm -rf dist
	$(BIN)/python -m build --quiet --sdist --no-isolation --outdir dist
	$(BIN)/python -m twine check --strict dist/*

# A portable wheel, installed and tested outside the checkout.
wheel-test:
	@sh .ci/check-machine $(PYTHON)
	.ci/wheel-test $(PYTHON)

# A portable wheel, tested and tagged by auditwheel for the Linux systems on which it runs, in dist/.
wheel-manylinux:
	@sh .ci/check-machine $(PYTHON)
	.ci/wheel-test $(PYTHON) manylinux

# Removes all that was built.
clean:
	rm -rf build dist $(VENV) .venv-* *.egg-info
	rm -f mexica_ai/v1/*_pb2*
	find cext tests/games -name '*.c' -delete -o -name '*.so' -delete -o -name built.json -delete
