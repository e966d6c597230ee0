# make demo | test | check | prove | bench | docs | release; everything installs into .venv, nothing outside it.
# RUNS is there once the program runs, READY once its tests do, too.
PYTHON ?= python3
BIN := .venv/bin
RUNS := .venv/.runs
READY := .venv/.ready
HOURS ?= 12
SOAKED := tests/benchmarks/test_soak.py
BENCHMARKS := overlay placement trust durability freshness duplicates seen traps crawl search query pagerank important archive store web webreading sources
# prints the processor time of all processes that this shell, and what it started, has waited for
CPU_MINUTES = times >$$beside.cpu; awk -F '[ms ]+' 'NR == 2 { printf "CPU minutes of all processes: %.1f\n", \
  $$1 + $$2 / 60 + $$3 + $$4 / 60 }' $$beside.cpu; rm -f $$beside.cpu
# Tests start hundreds of processes: none compiles again what another has, though the machine may say so.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check prove bench soak docs site release clean

demo: $(RUNS)
	@$(BIN)/dse-node demo $(ARGS)

test: $(READY) # those that start processes of their own mostly wait: they run beside the others, which give way
	@beside=$$(mktemp); $(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m "e2e and not prove" tests/e2e tests/lab >$$beside 2>&1 & pid=$$!; \
	nice -n 19 $(BIN)/python -m pytest --numprocesses $$(($$(nproc) + 1)) --maxprocesses 8 --dist worksteal -m "not prove and not e2e"; others=$$?; \
	wait $$pid; e2e=$$?; $(CPU_MINUTES); cat $$beside; rm -f $$beside; exit $$((others | e2e))

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

prove: $(READY) # as in test, but what starts processes one after the other: it measures seconds; the soak comes last
	@beside=$$(mktemp); $(BIN)/python -m pytest -m prove -vv tests/e2e tests/lab >$$beside 2>&1 & pid=$$!; \
	nice -n 19 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal -m prove -vv \
	  --ignore tests/e2e --ignore tests/lab --ignore $(SOAKED); others=$$?; \
	$(BIN)/python -m pytest -m prove -vv $(SOAKED); soaked=$$?; \
	wait $$pid; e2e=$$?; $(CPU_MINUTES); cat $$beside; rm -f $$beside; exit $$((others | soaked | e2e))

bench: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' || echo "without the peers of some benchmarks: their figures are left out"
	@for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name --quick; done

soak: $(READY) # half a day in blocks of two hours; interrupted, it goes on; make soak HOURS=1 SOAK="--out DIR"
	@$(BIN)/python -m benchmarks.soak --hours $(HOURS) $(SOAK)

docs: $(READY) # the documents as a site in build/site; a link that leads nowhere ends it
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@$(MAKE) --no-print-directory site

site: export DOCUMENTS ?= build/documents
site: export SITE ?= build/site
site:
	@rm -rf "$(DOCUMENTS)" && mkdir -p "$(DOCUMENTS)" && cp -r *.md docs "$(DOCUMENTS)"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict && echo "the documents are in $(SITE)/index.html"

release: $(READY) # into dist, from a commit without changes: packages, SBOM, notes, checksums and the signed list of releases
	@$(BIN)/python packaging/release.py build dist
	@packaging/build_image.sh dist
	@$(BIN)/python packaging/release.py sign dist
	@ls -1 dist

# --no-compile: the first import compiles those modules that run, a third of the time of compiling all. The leaves are
# compiled where a C compiler is; without one the program runs, too.
$(RUNS): pyproject.toml hatch_build.py $(wildcard index/text/leaf/*.[ch] crawl/content/leaf/*.[ch])
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dse-node needs Python 3.11 or newer; $(PYTHON) is older: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "installing into .venv (once) ..."
	@start=$$(date +%s); $(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -e . \
	  && touch $@ && echo "installed in $$(( $$(date +%s) - start )) s"

$(READY): $(RUNS)
	@echo "installing what the tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' && touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
