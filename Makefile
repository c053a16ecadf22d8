# zwang: `make demo` and `make test` do everything; `make help` lists the rest.
# Needs make, Python >= 3.11 and nothing else: everything is installed into .venv, by the pip that a venv brings.

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
STAMPS := .make
REPORT := report.html
LEDGER := ledger.json
PAGES := $(wildcard docs/*.md docs/*/*.md)

# A shell may carry settings that turn an install into something else or tests into no tests; none of them is ours.
unexport PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_CONSTRAINT PIP_REQUIREMENT PIP_EDITABLE PIP_NO_DEPS PIP_DRY_RUN
unexport PIP_REQUIRE_HASHES PIP_ONLY_BINARY PIP_NO_BINARY PIP_PYTHON PIP_NO_COMPILE PIP_IGNORE_INSTALLED PIP_UPGRADE
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONOPTIMIZE PYTHONWARNINGS PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX
unexport PYTEST_ADDOPTS PYTEST_PLUGINS MYPYPATH SPHINXOPTS ZWANG_PASSED
# Two test processes on two cores: threads inside them would only get in each other's way. A process keeps the tests of a
# file (worksteal), and with them what they share, until the other one has nothing left to do.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export JAX_PLATFORMS := cpu
export MPLBACKEND := agg

PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
COMPILE := $(STAMPS)/lock/bin/pip-compile --quiet --generate-hashes --strip-extras --no-emit-index-url \
	--no-emit-find-links --no-emit-trusted-host

# Bytecode is made of what is imported, when it is: most of what the tools bring never is.
INSTALL := $(PIP) install --quiet --no-user --no-compile

# $(call step,what is done,command): one line before, one line with the time after.
define step
@printf '==> %s\n' "$(1)"; begin=$$(date +%s); \
{ $(2); } || { printf '==> FAILED: %s\n' "$(1)" >&2; exit 1; }; \
printf '    done in %s s\n' "$$(( $$(date +%s) - begin ))"
endef

# Where make can, what runs side by side is told one after the other.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

# The package is installed as a link to src, so only what pyproject.toml says can make an install stale.
VENV := .venv/pyvenv.cfg
RUNTIME := $(STAMPS)/runtime
PACKAGE := $(STAMPS)/package
TOOLS := $(STAMPS)/tools
BYTECODE := $(STAMPS)/bytecode
TESTS := $(wildcard tests/*.py tests/*/*.py)

.DEFAULT_GOAL := help
.PHONY: help demo test lint types layers docs warm pytest browser nightly bench lock clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -e 's/:.*## /\t/' | expand -t 12

demo: $(PACKAGE) ## install what the demonstration needs and run it: writes report.html and ledger.json
	$(call step,demo: every claim of five papers (the first time compiles kernels for a minute),$(BIN)/zwang reproduce --jobs $(WORKERS) --out $(REPORT) --json $(LEDGER))
	@printf 'Open %s in a browser.\n' '$(CURDIR)/$(REPORT)'

# Kernels are compiled first, while the tools are installed and the pages built, whose examples wait for those that they
# need; the pages are checked by the tests, which come last and on all processes. What runs on one processor runs beside
# the others: each has a cache of its own, by the content of what it reads.
test: $(PACKAGE) ## install the development tools and check everything (ALL=yes: also what passed and has not changed)
	@$(MAKE) --no-print-directory -j $(WORKERS) $(TOGETHER) warm docs types $(BYTECODE) lint layers
	@$(MAKE) --no-print-directory pytest

lint: $(TOOLS) ## style: ruff; dependencies: deptry; the package as an index sees it: twine
	$(call step,lint: ruff check,$(BIN)/ruff check --quiet .)
	$(call step,lint: ruff format --check,$(BIN)/ruff format --check --quiet .)
	$(call step,lint: deptry: what is imported is declared and the other way round,$(BIN)/deptry --no-ansi src)
	$(call step,lint: twine check on what would be published,rm -rf $(STAMPS)/dist && $(BIN)/python -m hatchling build -d $(STAMPS)/dist 2>$(STAMPS)/build.log && $(BIN)/twine check --strict $(STAMPS)/dist/*)

types: $(TOOLS) ## types: mypy, strict
	$(call step,types: mypy --strict on src,$(BIN)/mypy)

layers: $(TOOLS) ## layers: import-linter, exhaustive
	$(call step,layers: import-linter,$(BIN)/lint-imports)

docs: $(TOOLS) ## build the documentation, warnings are errors: docs/_build/html
	$(call step,docs: sphinx with warnings as errors; runs the examples,ZWANG_WAIT=1 $(BIN)/sphinx-build --quiet -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html)

warm: $(PACKAGE) ## compile the kernels once, before tests run in parallel
	$(call step,warm: compile the kernels,$(BIN)/zwang warm --jobs $(WORKERS))

# Pytest rewrites the asserts of a test file when it is imported first: here once, not in every process at once.
$(BYTECODE): $(TOOLS) $(TESTS)
	$(call step,tests: bytecode of $(words $(TESTS)) files,$(BIN)/python -m pytest -qq --collect-only tests >$(STAMPS)/collected.log || { tail -n 50 $(STAMPS)/collected.log; false; })
	@touch $@

# No line after pytest's own: the last thing a reader sees is how many tests passed, and in what time. What passed in this
# clone and can't have changed since is told apart there: tests/passed_before.py.
pytest: $(TOOLS) ## tests, doctests of the package, of the README and of the pages
	@printf '==> %s\n' 'tests and doctests: pytest on $(WORKERS) processes'
	@$(if $(ALL),,ZWANG_PASSED=$(STAMPS)/passed.json) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --doctest-modules --doctest-glob='*.md' tests src README.md $(PAGES)

browser: $(TOOLS) ## checks that need a real browser
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  echo 'make browser: no Chromium found (chromium, chromium-browser, google-chrome). Cure: apt install chromium' >&2; \
	  exit 1; }
	@$(MAKE) --no-print-directory docs
	@[ -d $(STAMPS)/npm/node_modules/axe-core ] || ! command -v npm >/dev/null || \
	  npm install --silent --no-save --prefix $(STAMPS)/npm axe-core
	@$(BIN)/python -c 'import jupyterlab, marimo' 2>/dev/null || $(PIP) install --quiet --no-user jupyterlab marimo || \
	  echo 'make browser: JupyterLab and marimo could not be installed; views in notebooks are not looked at' >&2
	$(call step,browser: pages in headless Chromium,NODE_PATH=$(STAMPS)/npm/node_modules $(BIN)/python -m pytest -q -m browser tests)

# Each test says what it drew and from which seed (-rP prints it, also where it passed).
nightly: $(TOOLS) ## what takes longer than a change can wait: fuzz, random problems, full numbers; about an hour
	@$(MAKE) --no-print-directory warm
	@printf '==> %s\n' 'nightly: pytest -m nightly on $(WORKERS) processes'
	@$(BIN)/python -m pytest -q -rP -n $(WORKERS) --dist worksteal -m nightly tests

gpu: $(TOOLS) ## tests and benchmark of the backend cuda, on a machine with an NVIDIA GPU
	@$(BIN)/python -c 'import cupy; cupy.cuda.runtime.getDeviceCount()' 2>/dev/null || { \
	  echo "make gpu: no NVIDIA GPU that CuPy can use. Cure: $(BIN)/pip install 'cupy-cuda13x[ctk]', on a machine with a GPU and its driver" >&2; \
	  exit 1; }
	$(call step,gpu: every test that the backend takes part in,$(BIN)/python -m pytest -q tests/test_cuda.py tests/test_lanes.py tests/contracts/test_backends.py -k "cuda or lanes")
	$(call step,gpu: benchmark,$(BIN)/python benchmarks/bench_gpu.py)

bench: $(TOOLS) ## benchmarks against peers, each with its residual
	@found=; for file in benchmarks/bench_*.py; do [ -e "$$file" ] || continue; found=yes; \
	  printf '==> %s\n' "$$file"; $(BIN)/python "$$file" || exit 1; done; \
	[ -n "$$found" ] || echo 'make bench: no benchmarks/bench_*.py yet'

lock: ## resolve the requirements anew: requirements.txt, requirements-dev.txt
	@[ -d $(STAMPS)/lock ] || { $(PYTHON) -m venv $(STAMPS)/lock && $(STAMPS)/lock/bin/python -m pip install -q pip-tools; }
	$(call step,lock: runtime and plots,CUSTOM_COMPILE_COMMAND='make lock' $(COMPILE) --extra plot \
	  -o requirements.txt pyproject.toml requirements.in)
	$(call step,lock: every extra and the tools,CUSTOM_COMPILE_COMMAND='make lock' $(COMPILE) --extra plot \
	  --extra io --extra gpu --extra lab --extra notebook --extra dask --extra robots -c requirements.txt \
	  -o requirements-dev.txt pyproject.toml requirements-dev.in)

clean: ## remove what make made: environment, stamps, caches, built pages
	rm -rf .venv $(STAMPS) docs/_build docs/examples docs/systems.md docs/generated docs/papers docs/reference/generated build dist $(REPORT) $(LEDGER)
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "make: zwang needs Python >= 3.11; '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo 'not there')." >&2; \
	  echo "make: name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@printf '==> environment: .venv, of %s\n' "$$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "make: '$(PYTHON) -m venv' failed. Cure: apt install python3-venv" >&2; exit 1; }

$(RUNTIME): $(VENV) requirements.txt
	$(call step,install: $$(grep -c == requirements.txt) locked packages for the runtime and its plots (the first time takes a minute),$(INSTALL) --require-hashes -r requirements.txt)
	@mkdir -p $(STAMPS) && touch $@

$(PACKAGE): $(RUNTIME) pyproject.toml
	$(call step,install: zwang itself as a link to src,$(INSTALL) --no-deps --no-build-isolation -e .)
	@mkdir -p $(STAMPS) && touch $@

$(TOOLS): $(PACKAGE) requirements-dev.txt
	$(call step,install: $$(grep -c == requirements-dev.txt) locked packages for development (the first time takes minutes),$(INSTALL) --require-hashes -r requirements-dev.txt)
	@mkdir -p $(STAMPS) && touch $@
