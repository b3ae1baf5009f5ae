# Everything a person or a machine does with this project. `make` alone lists it.
PYTHON  ?= python3
SECONDS ?= 30
NAME    ?= jobs
JOBS    ?= 2

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
CODE  := $(wildcard src tests benchmarks conftest.py)
LOCK  := $(BIN)/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
         --no-emit-index-url --no-emit-find-links --no-annotate --no-header pyproject.toml

# The JavaScript client. Without npm it is passed over by name, or fails when everything is required.
JS       := clients/js
JS_STAMP := $(JS)/node_modules/.installed
NO_NPM   := command -v npm >/dev/null || { echo "the JavaScript client is not checked: npm is not installed" >&2; exit "$${LIVEWELL_REQUIRE_ALL:-0}"; }

# Migrations are one transaction each, but for those that say otherwise.
MIGRATIONS := $(wildcard src/livewell/*/sql/migrations/*.sql)
APART       = $(shell grep -l '^-- livewell: no transaction' $(MIGRATIONS))

.DEFAULT_GOAL := help
.PHONY: help setup demo test check js js-types bench faults docs lock format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## make .venv and install what the lock names

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Livewell needs Python 3.11 or newer; name one: make PYTHON=python3.11 …" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP) ## see data kept fresh, on a PostgreSQL of its own [SECONDS=30]
	@$(BIN)/livewell demo --seconds $(SECONDS)

test: $(STAMP) ## run every test against a real PostgreSQL [JOBS=2] [ARGS="-k claim"] [THOROUGH=1: all examples]
	@LIVEWELL_THOROUGH=$(THOROUGH) $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

check: $(STAMP) ## format, lint, types, room order, migrations, house rules
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-cache
	$(BIN)/squawk $(filter-out $(APART),$(MIGRATIONS))
	$(if $(APART),$(BIN)/squawk --no-assume-in-transaction $(APART))
	@$(MAKE) --no-print-directory js-types
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup tests/house
	@$(BIN)/python -m tests.house.sizes

js: js-types ## check the types of the JavaScript client and run its tests, on the Node.js of this machine
	@$(NO_NPM); cd $(JS) && npm run --silent test

js-types:
	@$(NO_NPM); $(MAKE) --no-print-directory $(JS_STAMP) && cd $(JS) && npm run --silent types

$(JS_STAMP): $(JS)/package.json $(JS)/package-lock.json
	@echo "installing into $(JS)/node_modules …"
	@cd $(JS) && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

bench: $(STAMP) ## measure against the peers [NAME=jobs|all] [QUICK=1] [SMOKE=1: only that it runs]
	@$(BIN)/python -m benchmarks $(NAME) $(if $(QUICK),--quick) $(if $(SMOKE),--smoke)

faults: $(STAMP) ## kill, pause, cut and fill up, then count [SHORT=1]
	@LIVEWELL_FAULTS=$(if $(SHORT),short,full) $(BIN)/python -m pytest -m "" $(if $(SHORT),-n $(JOBS)) tests/faults $(ARGS)

docs: $(STAMP) ## build the manual into site/; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean

lock: $(STAMP) ## resolve the dependencies again and write the locks [ARGS=--upgrade]
	@$(LOCK) $(ARGS) --output-file requirements/base.txt
	@$(LOCK) $(ARGS) --extra otel --extra market --extra encodings --group dev --output-file requirements/dev.txt

format: $(STAMP) ## let ruff format the code and mend what it can
	@$(BIN)/ruff format --quiet $(CODE)
	@$(BIN)/ruff check --quiet --fix $(CODE)

clean: ## remove what was built; .livewell (your data) stays
	@rm -rf $(VENV) $(JS)/node_modules site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
