# make demo    make the environment, build, install, and run the main job on a real table
# make check   the edit loop, under a minute: lint, types, import layers and the quick unit tests
# make test    lint, types, import layers, C++ tests and Python tests, in the same environment
# make test-slow  simulations that take minutes, and scikit-learn's battery for every variant
# make format  Python and C++ in the project's format
# make tidy    clang-tidy on the C++ core
# make coverage  which lines of Python and C++ the tests run (CONTRIBUTING.md has the figures)
# make wheel   build a wheel and use it outside the checkout
# make sanitize  C++ tests and a part of pytest under ASan and UBSan
# make fuzz    mutated files and arrays under ASan and UBSan: FUZZ="--seconds 600" by default
# make bench-setup  an environment with Hedgerow and its rivals, for python -m benchmarks

PYTHON ?= python3
CXX ?= g++
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp bindings -type f)
SOURCES = $(shell find cpp bindings -name '*.cpp' -o -name '*.hpp' -o -name '*.inl')
CMAKE := $(BIN)/cmake -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python
JOBS ?= 2
BENCH := .venv-bench
BENCH_PIP := $(BENCH)/bin/python -m pip --disable-pip-version-check --quiet

.PHONY: demo check test format tidy coverage lint types layers test-cpp test-python test-slow wheel build-sanitized sanitize fuzz bench-setup tools clean
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	@$(BIN)/hedgerow auto --example breast_cancer

check: lint types layers
	$(BIN)/pytest -n $(JOBS) -q tests/unit -m "not slow and not long and not data"

test: lint types layers test-cpp test-python

# ------------------------------------------------------------------------------- environment

tools:
	@command -v $(PYTHON) >/dev/null || { echo "Hedgerow needs Python 3.11 or newer, and '$(PYTHON)' is not there: install it (Debian: apt-get install python3-venv python3-dev) or set PYTHON=." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Hedgerow needs Python 3.11 or newer, and '$(PYTHON)' is older: install a newer one or set PYTHON=." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Hedgerow needs Python's venv module: install it (Debian: apt-get install python3-venv)." >&2; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { echo "Hedgerow needs Python's headers to build: install them (Debian: apt-get install python3-dev)." >&2; exit 1; }
	@command -v $(CXX) >/dev/null || { echo "Hedgerow needs a C++ compiler, and '$(CXX)' is not there: install one (Debian: apt-get install g++) or set CXX=." >&2; exit 1; }

$(VENV)/made: pyproject.toml | tools
	@echo "Making the environment in $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"
	@$(PIP) install --group build
	@touch $@

$(VENV)/installed: $(VENV)/made $(NATIVE) | tools
	@echo "Building and installing Hedgerow ..."
	@CXX=$(CXX) $(PIP) install --no-build-isolation --editable .
	@touch $@

$(VENV)/developed: $(VENV)/installed
	@echo "Installing what the tests need ..."
	@$(PIP) install --group dev
	@touch $@

# -------------------------------------------------------------------------------------- test

lint: $(VENV)/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)
	HEDGEROW_REQUIRE_DATA= $(BIN)/pytest -n 0 -q tests/unit/test_docstrings.py

format: $(VENV)/developed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(SOURCES)

types: $(VENV)/developed
	$(BIN)/mypy

layers: $(VENV)/developed
	$(BIN)/lint-imports

test-cpp: $(VENV)/developed
	$(CMAKE) -B build/tests -DHEDGEROW_TESTS=ON -DCMAKE_BUILD_TYPE=Release >/dev/null
	$(BIN)/cmake --build build/tests
	$(BIN)/ctest --test-dir build/tests --output-on-failure

test-python: $(VENV)/developed
	$(BIN)/pytest -n $(JOBS) -m "not slow"

test-slow: $(VENV)/developed
	$(BIN)/pytest -n $(JOBS) -m slow

tidy: $(VENV)/developed
	@$(PIP) install clang-tidy
	$(CMAKE) -B build/tidy -DHEDGEROW_TESTS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_BUILD_TYPE=Debug >/dev/null
	$(BIN)/clang-tidy -p build/tidy --quiet $(shell find cpp/src -name '*.cpp')

coverage: $(VENV)/developed
	@$(PIP) install coverage gcovr
	$(CMAKE) -B build/coverage -DHEDGEROW_TESTS=ON -DHEDGEROW_PYTHON=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="--coverage -O1" >/dev/null
	$(BIN)/cmake --build build/coverage
	$(BIN)/ctest --test-dir build/coverage --output-on-failure
	HEDGEROW_CORE=$(abspath build/coverage) $(BIN)/coverage run --source=src/hedgerow -m pytest -q -m "not slow"
	$(BIN)/coverage report --skip-covered --sort=cover | tail -40
	$(BIN)/gcovr --root . --filter cpp/ --exclude cpp/tests build/coverage | tail -4

# ------------------------------------------------------------------------- wheel, sanitizers

wheel: $(VENV)/developed
	rm -rf dist build/wheel-check
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .
	$(PYTHON) -m venv build/wheel-check
	build/wheel-check/bin/python -m pip --disable-pip-version-check --quiet install dist/hedgerow-*.whl
	cd / && $(abspath build/wheel-check)/bin/python -c "import hedgerow, sklearn.datasets as d; m = hedgerow.LinearSVC().fit(*d.load_iris(return_X_y=True)); print(m.certificate_); assert m.certificate_.is_certified"
	cd / && $(abspath build/wheel-check)/bin/hedgerow auto --example iris --json >/dev/null
	rm -rf build/wheel-check

SANITIZED := LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 HEDGEROW_CORE=$(abspath build/sanitize)
FUZZ ?= --seconds 600

build-sanitized: $(VENV)/developed
	$(CMAKE) -B build/sanitize -DHEDGEROW_TESTS=ON -DHEDGEROW_SANITIZE=ON -DHEDGEROW_PYTHON=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
	$(BIN)/cmake --build build/sanitize

sanitize: build-sanitized
	$(BIN)/ctest --test-dir build/sanitize --output-on-failure
	$(SANITIZED) ASAN_OPTIONS=detect_leaks=0 $(BIN)/pytest -m sanitize -p no:cacheprovider

# An allocation that fails is a MemoryError, as without the sanitizer; freed memory is not kept for long.
fuzz: build-sanitized
	$(SANITIZED) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=32 \
	$(BIN)/python -m tests.fuzz --jobs $(JOBS) --megabytes 1500 --patience 60 $(FUZZ)

# ------------------------------------------------------------------------------- benchmarks

bench-setup: $(BENCH)/made

$(BENCH)/made: benchmarks/requirements.txt $(NATIVE) $(shell find src -name '*.py') | tools
	@echo "Making the environment of the benchmarks in $(BENCH) ..."
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@$(BENCH_PIP) install --upgrade "pip>=25.1"
	@CXX=$(CXX) $(BENCH_PIP) install .
	@grep -v '^#' benchmarks/requirements.txt | while read -r peer; do \
	  $(BENCH_PIP) install "$$peer" || echo "$$peer cannot be installed here: the benchmarks will list it as missing." >&2; done
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH) build dist
