# Every verb works from nothing on a machine with Python >= 3.10 and a C++20 compiler:
# it makes the virtual environment, builds the package into it and goes on.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
NATIVE := $(shell find cpp -name '*.cpp' -o -name '*.hpp' -o -name CMakeLists.txt)

.PHONY: install demo test lint types stubs sanitize bench docs clean

install: $(VENV)/.installed

$(VENV)/.tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install 'scikit-build-core>=0.11' 'nanobind>=2.4' 'cmake>=3.18' ninja
	touch $@

# Editable, so that Python sources are live; native sources are rebuilt incrementally.
$(VENV)/.installed: $(VENV)/.tools pyproject.toml $(NATIVE)
	$(PIP) install --no-build-isolation -e .
	touch $@

# One stamp per extra: `make test` installs what the tests need, and nothing else.
$(VENV)/.extra-%: $(VENV)/.installed
	$(PIP) install --no-build-isolation -e '.[$*]'
	touch $@

demo: install
	$(BIN)/python examples/demo.py

test: $(VENV)/.extra-test
	$(BIN)/python -m pytest -q

lint: $(VENV)/.extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The committed stub is the typed view of the native module; a test checks that it is fresh.
stubs: install
	$(BIN)/python -m nanobind.stubgen -m prunedbpe._core -o src/prunedbpe/_core.pyi

sanitize: $(VENV)/.tools
	$(BIN)/cmake -S cpp -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DPRUNEDBPE_PYTHON=OFF -DPRUNEDBPE_TESTS=ON -DPRUNEDBPE_SANITIZE=ON
	$(BIN)/cmake --build build/sanitize
	./build/sanitize/core_tests

bench: install
	$(BIN)/python benchmarks/bench_train.py

docs: $(VENV)/.extra-docs
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

clean:
	rm -rf build docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-output
