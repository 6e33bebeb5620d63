# Two commands do all set-up: `make demo` shows what unspool does, `make test` runs everything CI runs.

PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin
PIP_FLAGS := --quiet --disable-pip-version-check
# Our modules lie outside of site-packages: where PYTHONDONTWRITEBYTECODE is set, each start would compile them anew.
COMPILE := $(BIN)/python -m compileall -q src

.PHONY: demo test check lowest against bench bench-record stress clients picture screenshots web lock clean

demo: $(VENV)/installed
	@echo '$$ unspool cook samples/traces -o demo.json'
	@$(BIN)/unspool cook samples/traces -o demo.json
	@echo
	@echo 'demo.json holds each message once, and each request as a path through them. One that goes on from a summary:'
	@grep '"parent_reason":"compaction"' demo.json | cut -c1-190
	@echo
	@echo '$$ unspool sessions samples/logs'
	@$(BIN)/unspool sessions samples/logs
	@echo
	@echo '$$ unspool show samples/logs/claude-code.jsonl'
	@$(BIN)/unspool show samples/logs/claude-code.jsonl
	@echo
	@if [ -t 1 ]; then list=; else list=' --list'; fi; \
		echo "$$ unspool view samples$$list"; $(BIN)/unspool view samples$$list

test: check lowest

check: $(VENV)/tested web
	@$(COMPILE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto

# The core on the oldest versions that pyproject.toml allows.
lowest: $(LOWEST)/installed
	UNSPOOL_DEMAND_BROWSER= $(LOWEST)/bin/python -m pytest -n auto --ignore tests/test_house.py

# What another revision would print and write, from the same inputs: all that differs must be in
# tests/allowed_differences.toml. ONLY='samples/*' reads some of the inputs, SHOW=30 shows examples of more differences.
against: $(VENV)/tested
	@test -n '$(REV)' || { echo 'make against REV=a1bda54'; exit 2; }
	PYTHONPATH=bench $(BIN)/python -m against $(REV) $(if $(ONLY),--only '$(ONLY)') $(if $(SHOW),--show $(SHOW))

bench: $(VENV)/tested
	$(BIN)/python bench/run.py $(CASES)

bench-record: $(VENV)/tested
	$(BIN)/python bench/record.py
	$(BIN)/python bench/record_modes.py

# Kill recorders under load, and fill their disks (needs root): make stress STRESS='--kills 5 --fills 2'
stress: $(VENV)/tested
	$(BIN)/python bench/stress.py $(STRESS)

# Real agents through the recorder, without any network. CLIENTS is a script that runs them against a scripted upstream,
# AGENTS the folder with their programs; the script starts PROXY_CMD before each, with UPSTREAM, PORT and TRACE set.
clients: $(VENV)/tested
	@test -n '$(CLIENTS)' -a -n '$(AGENTS)' || { echo 'make clients CLIENTS=run_clients.sh AGENTS=node_modules/.bin'; exit 2; }
	rm -rf .bench/clients
	PROXY_CMD='exec $(CURDIR)/$(BIN)/unspool record --target $$UPSTREAM --port $$PORT -o $$TRACE' \
		$(CLIENTS) .bench/clients $(AGENTS)
	$(BIN)/python bench/clients.py .bench/clients

# The viewer's page, where something in web/ changed since it was built.
web: $(VENV)/tested
	@$(BIN)/python hatch_build.py

# Pictures of the viewer, from real pages; needs Chromium.
screenshots: $(VENV)/tested web
	$(BIN)/python docs/make_screenshots.py

# The terminal picture in docs/cooked.md, from real output.
picture: $(VENV)/installed
	$(BIN)/python docs/make_picture.py

# Pins of what `make test` installs, without any address.
lock: $(VENV)/tested
	$(BIN)/python -m pip freeze --exclude-editable --exclude pip --exclude setuptools > requirements.lock

$(VENV)/installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_FLAGS) -c requirements.lock -e '.[view]'
	@$(COMPILE)
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -c requirements.lock -e '.[all,test,bench]'
	@touch $@

$(LOWEST)/installed: pyproject.toml lowest.lock
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install $(PIP_FLAGS) -c lowest.lock -e '.[all]' datasets nvidia-nat-atif pyte pytest pytest-xdist hypothesis
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) .bench demo.json web/node_modules src/unspool/web/static
