# `make setup`  everything into .venv, node_modules and the user's cache
# `make demo`   the page at http://localhost:8000 (PORT=... for another)
# `make test`   all checks and tests
# `make lint`   the checks alone; `make format` mends what can be mended

.PHONY: setup demo test lint format
.DEFAULT_GOAL := setup

PORT ?= 8000
BIN := .venv/bin

setup:
	@command -v python3 >/dev/null || { echo "setup: python3 is missing; on Debian: apt-get install python3" >&2; exit 1; }
	@python3 tools/setup.py $(if $(PYTHON),--python '$(PYTHON)')

demo: setup
	@exec $(BIN)/onegpu-web demo --port $(PORT)

test: setup lint
	$(BIN)/pytest tests
	$(BIN)/pytest playwright_tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	node_modules/.bin/prettier --check --log-level warn demo web

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	node_modules/.bin/prettier --write --log-level warn demo web
