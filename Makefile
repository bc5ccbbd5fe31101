# Every verb works from nothing on a machine with Python >= 3.10, its pip and a C++20 compiler:
# it makes the virtual environment, builds the package into it and goes on.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Byte code is made of what is really imported, not of every file installed; at once, because where
# PYTHONDONTWRITEBYTECODE is set no later import would keep it, and numpy alone takes 0.2 s without.
PIP_OPTIONS := --disable-pip-version-check -q
PIP_INSTALL := $(BIN)/python -m pip $(PIP_OPTIONS) install --no-compile
COMPILE := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c \
  "import numpy, prunedbpe, prunedbpe.cli.main; [getattr(prunedbpe, name) for name in prunedbpe.__all__]"
NATIVE := $(shell find cpp -name '*.cpp' -o -name '*.hpp' -o -name CMakeLists.txt)
# Tools installed into the environment come before those of the system.
WITH_TOOLS := PATH="$(CURDIR)/$(BIN):$$PATH"

.PHONY: install demo test test-integrations lint types stubs sanitize bench docs clean

install: $(VENV)/.installed

# The wheels of cmake and ninja are large, so they are installed only where the system has none.
# The pip of $(PYTHON) fills the environment, pip included, in half the time that `venv` takes to
# unpack its own; where it is missing or older than 22.3, `ensurepip` does.
$(VENV)/.tools: pyproject.toml
	@echo "Preparing the virtual environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@tools="scikit-build-core>=0.11 nanobind>=2.9"; \
	cmake --version 2>/dev/null | awk 'NR == 1 { split($$3, v, "."); \
	  found = v[1] > 3 || (v[1] == 3 && v[2] >= 18) } END { exit !found }' \
	  || tools="$$tools cmake>=3.18"; \
	ninja --version >/dev/null 2>&1 || tools="$$tools ninja"; \
	if $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  $(PIP_INSTALL) $$tools; \
	else \
	  $(PYTHON) -m pip --python $(BIN)/python $(PIP_OPTIONS) install --no-compile pip $$tools \
	    || { $(BIN)/python -m ensurepip >/dev/null && $(PIP_INSTALL) $$tools; }; \
	fi
	@touch $@

# Editable, so that Python sources are live; native sources are rebuilt incrementally.
$(VENV)/.installed: $(VENV)/.tools pyproject.toml $(NATIVE)
	@echo "Installing dependencies and building the native core"
	@$(PIP_INSTALL) --no-build-isolation -e .
	@$(COMPILE)
	@touch $@

# One stamp per extra: `make test` installs what the tests need, and nothing else; from nothing, in
# the same step as the package.
$(VENV)/.extra-%: $(VENV)/.tools pyproject.toml $(NATIVE)
	@echo "Installing dependencies (with those of $*) and building the native core"
	@$(PIP_INSTALL) --no-build-isolation -e '.[$*]'
	@$(COMPILE)
	@touch $(VENV)/.installed $@

demo: install
	@$(BIN)/python examples/demo.py

test: $(VENV)/.extra-test
	$(BIN)/python -m pytest -q

# With the libraries of other people that the default tests skip: transformers, torch, tiktoken.
test-integrations: $(VENV)/.extra-test-integrations
	$(BIN)/python -m pytest -q tests/integrations tests/unit/encoded tests/docs/test_examples.py

lint: $(VENV)/.extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

types: $(VENV)/.extra-lint
	$(BIN)/mypy

# The committed stub is the typed view of the native module; a test checks that it is fresh.
stubs: install
	$(BIN)/python -m nanobind.stubgen -m prunedbpe._core -o src/prunedbpe/_core.pyi

sanitize: $(VENV)/.tools
	$(WITH_TOOLS) cmake -S cpp -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug \
	  -DPRUNEDBPE_PYTHON=OFF -DPRUNEDBPE_TESTS=ON -DPRUNEDBPE_SANITIZE=ON -DPRUNEDBPE_WERROR=ON
	$(WITH_TOOLS) cmake --build build/sanitize
	./build/sanitize/core_tests

# Texts: PRUNEDBPE_BENCH_TEXTS=a.txt:b.txt, or what every machine has; see benchmarks/README.md.
bench: $(VENV)/.extra-bench
	$(BIN)/python benchmarks/bench_machine.py --fill
	$(BIN)/python benchmarks/bench_train.py --fill
	$(BIN)/python benchmarks/bench_encode.py --fill
	$(BIN)/python benchmarks/bench_limits.py --fill
	$(BIN)/python benchmarks/bench_formats.py --fill

docs: $(VENV)/.extra-docs
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

clean:
	rm -rf build docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-output bench-texts bench-vocab
