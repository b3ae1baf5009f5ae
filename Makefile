PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed

$(STAMP): requirements/dev.txt pyproject.toml
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@$(VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
setup: $(STAMP)
