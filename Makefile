# The only tools needed are make and Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
VAR_DIR ?= var
export PORT VAR_DIR

BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: run test ci fmt bench bench-redirects bench-changes bench-domains bench-links bench-clicks bench-bulk bench-qr bench-limits prove-clicks prove-keys fuzz-api fuzz-requests lock clean help

run: $(VENV)/.run ## Install, prepare and serve on 127.0.0.1:$PORT
	@exec $(BIN)/python manage.py serve

test: $(VENV)/.npm ## Run the tests on a database of their own
	@$(BIN)/python -m pytest $(ARGS)

ci: $(VENV)/.dev ## Everything that is checked before a change lands
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(MAKE) test

fmt: $(VENV)/.dev ## Format and sort what can be
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: bench-redirects bench-changes bench-domains bench-links bench-clicks bench-bulk bench-qr bench-limits ## Every benchmark

bench-redirects: $(VENV)/.dev ## Following links, against nginx and a plain Django view
	$(BIN)/python -m bench.redirects $(ARGS)

bench-changes: $(VENV)/.dev ## How soon workers and hosts know of a change, and links without the database
	$(BIN)/python -m bench.changes $(ARGS)

bench-domains: $(VENV)/.dev ## Following links while a domain with many is deleted, and while DNS does not answer
	$(BIN)/python -m bench.domains $(ARGS)

bench-links: $(VENV)/.dev ## Listing, searching and creating with a million links
	$(BIN)/python -m bench.links $(ARGS)

bench-clicks: $(VENV)/.dev ## Recording, counting and reporting clicks
	$(BIN)/python -m bench.clicks capture
	$(BIN)/python -m bench.clicks drain
	$(BIN)/python -m bench.clicks reports
	$(BIN)/python -m bench.clicks visible

bench-bulk: $(VENV)/.dev ## A thousand links in one call, an import of 100,000, an export of a million
	$(BIN)/python -m bench.bulk $(ARGS)

bench-qr: $(VENV)/.dev ## Drawing QR codes, and following links meanwhile
	$(BIN)/python -m bench.qr $(ARGS)

bench-limits: $(VENV)/.dev ## Counting requests, and creating with a key
	$(BIN)/python -m bench.limits
	$(BIN)/python -m bench.logins

prove-clicks: $(VENV)/.dev ## Kill, cut and fill everything under load: no answered click is lost or counted twice
	$(BIN)/python -m bench.prove_clicks $(ARGS)

prove-keys: $(VENV)/.dev ## 200,000 calls with keys that were replaced, over two hosts: none is let in
	$(BIN)/python -m bench.rotations $(ARGS)

lock: $(VENV)/.dev ## Pin the newest versions that the .in files allow
	$(BIN)/uv pip compile --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-annotate --quiet -o requirements.txt requirements.in
	$(BIN)/uv pip compile --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-annotate --quiet -o requirements-dev.txt requirements-dev.in

fuzz-api: $(VENV)/.dev ## 34,000 requests and more, made up out of the API's description: none may surprise
	$(BIN)/python -m bench.schemathesis $(ARGS)

fuzz-requests: $(VENV)/.dev ## 30,000 raw requests that no client sends: answered as stock gunicorn would
	$(BIN)/python -m bench.raw_requests $(ARGS)

clean: ## Remove the virtual environment and caches; the data under VAR_DIR stay
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## What there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=...")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Each stamp is written last, so that an interrupted installation is taken up again.
$(VENV)/.run: requirements.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements.txt requirements-dev.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@ $(VENV)/.run

# For two tests that read the API's description. A machine that cannot reach npm's registry does without: they say so.
$(VENV)/.npm: tests/contract/npm/package-lock.json | $(VENV)/.dev
	@mkdir -p $(VENV)/npm
	@cp tests/contract/npm/package.json tests/contract/npm/package-lock.json $(VENV)/npm
	@$(BIN)/npm ci --prefix $(VENV)/npm --ignore-scripts --no-audit --no-fund --silent && touch $@ || \
		echo "npm could not install what tests/contract/npm/package-lock.json lists."
