# `make crawl URL=https://...` and `make test` set up what they need by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DIR    ?= crawls/$(shell printf '%s' '$(URL)' | sed -e 's,^[a-z]*://,,' -e 's,[^A-Za-z0-9.-],_,g' | cut -c1-60)
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help crawl test check bench cluster-demo image screenshots lock clean

help: ## show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -e 's/:.*## /\t/' | expand -t 14

crawl: $(VENV)/.run ## crawl a site: make crawl URL=https://example.org/ [DIR=folder] [ARGS="--max-pages 100"]
	@test -n "$(URL)" || { echo 'usage: make crawl URL=https://example.org/ [DIR=folder] [ARGS="--max-pages 100"]' >&2; exit 2; }
	@mkdir -p "$(dir $(DIR))"
	$(BIN)/sanderling crawl "$(URL)" -d "$(DIR)" $(ARGS)
	@command -v sanderling >/dev/null || echo '(`. $(BIN)/activate` makes `sanderling` a command of this shell)'

# Without byte code, each of the thousand processes of the tests would compile what it imports, and
# each worker of pytest all tests: that takes it 15 seconds instead of 4.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.browser $(VENV)/.replay ## run all tests
	@$(BIN)/python -m compileall -q -j 0 src bench lab
	@$(if $(ARGS),,for half in 'tests/test_*.py' 'tests/*/'; do $(BIN)/python -m pytest --collect-only -qq $$half >/dev/null & done; wait)
	$(BIN)/python -m pytest -n 5 --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(VENV)/.dev ## format, lint, types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_imports.py

bench: $(VENV)/.dev ## race against other crawlers (installs nginx, wget2 and documentation packages; needs root)
	$(BIN)/python -m bench $(ARGS)

cluster-demo: $(VENV)/.dev ## a crawl on three machines (network namespaces if you are root), one of which is cut off
	$(BIN)/python -m bench.cluster_demo

image: ## build the image of deploy/Dockerfile (needs docker)
	docker build -f deploy/Dockerfile -t sanderling:$(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml) .

screenshots: $(VENV)/.browser ## take the pictures in the docs again (needs Chromium)
	$(BIN)/python -m tests.browser.screenshots $(ARGS)

lock: $(VENV)/.dev ## update the pinned dependencies after a change of pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --custom-compile-command "make lock" --no-header pyproject.toml requirements/build.in -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra dev -c requirements/run.txt pyproject.toml -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header requirements/replay.in -o requirements/replay.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra postgresql -c requirements/run.txt pyproject.toml requirements/build.in -o requirements/image.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra cluster -c requirements/run.txt pyproject.toml requirements/build.in -o requirements/cluster.txt

clean: ## remove the environment and caches, never a crawl
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.run: requirements/run.txt pyproject.toml hatch_build.py $(wildcard src/sanderling/documents/native/*.[ch])
	@echo "Setting up Sanderling in $(VENV) (once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sanderling needs Python 3.11 or newer; set PYTHON=python3.x" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.browser: $(VENV)/.dev
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/python -m tests.applications
	@touch $@

# pywb, which replays archives, with its 40 dependencies. Without it, the tests of replay are skipped and say so.
$(VENV)/.replay: requirements/replay.txt $(VENV)/.dev
	$(PYTHON) -m venv $(VENV)/replay
	$(VENV)/replay/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements/replay.txt \
	  || { rm -rf $(VENV)/replay; echo "pywb could not be installed: the tests of replay are skipped" >&2; }
	@touch $@
