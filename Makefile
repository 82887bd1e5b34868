# `make demo` and `make test` set up what they need: a virtual environment in .venv, made once and again
# whenever pyproject.toml or the pins change. The machine gives make, git, Python with venv, and Java for Spark.

PYTHON ?= python3
PYTHON_NEEDED := 3.11
JAVA_NEEDED := 17

BIN := .venv/bin
INSTALLED := .venv/.installed
PINS := requirements/dev.txt
FUZZ_PINS := requirements/fuzz.txt
FUZZ_INSTALLED := .venv/.fuzz
FUZZ_SECONDS ?= 3600
# What `make test` leaves to other targets, which .ci/run starts where what they ask about changed (tests/support/targets.py).
EACH_TIME := -m 'not answers and not apply and not dbt and not demo and not engine and not kill and not older and not wide'
# Samples that `make engine` asks whole (tests/support/sampling.py), and plans that it generates.
SAMPLED := $(addprefix tests/engine/test_,checkpoint_faults.py constraints.py expressions_on_the_engine.py \
    feature_drops.py generated.py live_values.py schema_history.py ways_back.py) \
    $(addprefix tests/spark/test_,apply_sessions.py every_value_is_accounted_for.py)
GENERATED := $(addprefix tests/planner/test_,pairs_on_the_engine.py planned_commits.py plans_on_the_engine.py)
# Delta's line, and the pair of Delta and Spark that it is asked with: requirements/engine-SPARK.txt. Each has an
# environment of its own, of the only Python that all of these Sparks run on.
ENGINE_PYTHON := 3.11
ENGINE_3.2 := 3.5.3 delta-spark==3.2.1 pyspark==3.5.3
ENGINE_3.3 := 3.5 delta-spark==3.3.2 pyspark==3.5.7
ENGINE_4.0 := 4.0 delta-spark==4.0.1 pyspark==4.0.2
ENGINE_PINS = requirements/engine-$(firstword $(ENGINE_$(ENGINE))).txt
DBT := dbt-core==1.11.16 'dbt-spark[PyHive]==1.11.0'
DBT_PINS := requirements/dbt.txt
RUNS ?= 7
BUF_VERSION := v1.75.0
DATACONTRACT_VERSION := 1.2.8
PLACEHOLDER := OWNER
# In place, for GNU's sed and BSD's: both take the ending of a copy, and neither the other's way to keep none.
REPLACE := sed -E -i.before
# With the extras: pip 23 takes the newest release for `coverage[toml]`, whatever a pin of `coverage` says, and refuses it.
COMPILE = $(BIN)/uv pip compile --quiet --universal --no-strip-extras --python-version $(PYTHON_NEEDED) --generate-hashes \
    $(if $(UPGRADE),--upgrade) --custom-compile-command 'make pins'
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Spark looks for Java in the same order (bin/load-spark-env.sh and bin/spark-class of Spark).
JAVA := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo tour test coverage docs dist version home bench wide answers apply kill engine engine-environment engine-pins apply-engines dbt record probe protocol ground fuzz lint pins clean
.PHONY: require-java require-python

help:
	@echo 'make demo      a small lakehouse: contracts checked, a plan made and applied with Spark'
	@echo 'make tour      the demo, compared with what docs/tour.md shows of it'
	@echo 'make test      the tests, those that ask the real engine once per mechanism included'
	@echo 'make wide      the tests without Spark that take long: whole tables of records, hostile sizes, environments'
	@echo 'make answers   ask the real engine more about its answers, and about logs'
	@echo 'make kill      kill runs at all points of which make test takes one of each class'
	@echo 'make apply     let the real engine carry out more plans, fills, audits and names'
	@echo 'make coverage  the tests, and a list of the lines and branches that none of them reaches'
	@echo 'make docs      the site, in site/'
	@echo 'make dist      wheel and sdist, in dist/, built, checked, installed and tried'
	@echo 'make bench     ratios to peers: buf (needs Go), datacontract, delta-rs, plain Spark (needs Java); and scale (takes long)'
	@echo 'make engine    ask the real engine all that other targets ask it a sample of; ENGINE=3.3 records an older one'
	@echo 'make apply-engines  apply pull requests of every kind on Delta 3.3 and 4.0, each in an environment of its own'
	@echo 'make dbt       let a real dbt make the manifests that make test reads, and the engine run what dbt does'
	@echo 'make record    record all answers of the engine again, and kill all plans (takes hours)'
	@echo 'make probe     ask all readers again that the client table was measured with (takes long)'
	@echo 'make ground    the tests without Spark on the lowest versions that pyproject.toml allows (takes long)'
	@echo 'make protocol  list what a CHECKOUT of Delta has and no table here: features, types, properties, errors'
	@echo 'make fuzz      fuzz all readers for an hour, or for FUZZ_SECONDS (docs/fuzzing.md)'
	@echo 'make lint      ruff, mypy, the direction of imports, and zizmor for the workflows'
	@echo 'make pins      bring requirements/ in line with pyproject.toml; UPGRADE=1 takes the newest versions'
	@echo 'make clean     remove what these made'

demo: require-java $(INSTALLED)
	@$(BIN)/python examples/demo.py

tour: require-java $(INSTALLED)
	$(BIN)/python -m pytest -n 0 -m demo tests/docs/test_tour.py

# Without bytecode, each worker and each command that the tests start would compile all modules again.
test wide coverage: export PYTHONDONTWRITEBYTECODE =

# Two workers have a Spark session for their group of the engine's tests (tests/conftest.py). The third one works while
# those wait for disks, processes and servers.
test: require-java $(INSTALLED)
	$(BIN)/python -m pytest -n 3 --dist loadgroup --durations=20 $(EACH_TIME)

wide: $(INSTALLED)
	$(BIN)/python -m pytest -n 3 --dist loadgroup -m wide

coverage: require-java $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov $(EACH_TIME)
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-append -m wide

# The variable silences an announcement of mkdocs-material. With --quiet, mkdocs counts no warnings and is not strict.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# The wheel is built from the sdist. Both are judged as a package index does, and tried in a new environment.
dist: $(INSTALLED)
	rm -rf dist
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	SCHEMALINT_DIST=dist $(BIN)/python -m pytest -n 0 --quiet tests/integration/test_distribution.py

# The version stands in schemalint/__init__.py; these texts repeat it for people who copy them.
version:
	@test -n '$(VERSION)' || { echo 'say which: make version VERSION=1.2.3' >&2; exit 2; }
	old=$$(sed -n 's/^__version__ = "\(.*\)"$$/\1/p' schemalint/__init__.py | sed 's/\./\\./g'); \
	git ls-files schemalint/__init__.py tests/support/ci_jobs.py README.md docs examples .github ':!docs/rules' | \
	    xargs $(REPLACE) "s/([v=\"]|schemalint )$$old([^0-9]|$$)/\1$(VERSION)\2/g"
	$(REPLACE) 's/^## \[Unreleased\]$$/## [$(VERSION)] - '"$$(date +%F)/" CHANGELOG.md
	git ls-files --others '*.before' | xargs rm

# Once, by whoever hosts schemalint: make home OWNER=acme
home:
	@test -n '$(OWNER)' || { echo 'say whose: make home OWNER=ACCOUNT' >&2; exit 2; }
	git grep --files-with-matches --fixed-strings '$(PLACEHOLDER)/schemalint' | \
	    xargs $(REPLACE) 's#$(PLACEHOLDER)/schemalint#$(OWNER)/schemalint#g'
	git ls-files --others '*.before' | xargs rm

# benchmarks/README.md has the results. A peer that cannot be installed is left out.
# RUNS=1 is for a change of the benchmarks: whether they run at all.
bench: $(INSTALLED)
	for style in flow quoted blocks JSON; do $(BIN)/python -m benchmarks.check --runs $(RUNS) --changed 1 --style $$style || exit 1; done
	$(BIN)/python -m benchmarks.check --runs $(RUNS) --changed 50
	$(BIN)/python -m benchmarks.check --runs $(RUNS) --tables 10000 --changed 1
	$(BIN)/python -m benchmarks.check --runs $(RUNS) --tables 1 --columns 5000 --changed 1
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.tables --tables 10 100 --latency 0.05 --runs 1
	$(BIN)/python -m benchmarks.show --runs $(RUNS) --files 100000
	if GOBIN=$(CURDIR)/.bench go install github.com/bufbuild/buf/cmd/buf@$(BUF_VERSION); then \
	    $(BIN)/python -m benchmarks.check --runs $(RUNS) --changed 1 50 1000 --buf .bench/buf; \
	else echo 'buf is left out: go could not install it.' >&2; fi
	if $(BIN)/uv venv --quiet --clear --python $(BIN)/python .bench/datacontract && \
	    $(BIN)/uv pip install --quiet --python .bench/datacontract datacontract-cli==$(DATACONTRACT_VERSION); then \
	    $(BIN)/python -m benchmarks.check --runs $(RUNS) --changed 1 --datacontract .bench/datacontract/bin/datacontract; \
	else echo 'datacontract is left out: uv could not install it.' >&2; fi
	if '$(JAVA)' -version 2>/dev/null; then $(BIN)/python -m benchmarks.apply --runs 3; \
	else echo 'apply is left out: there is no $(JAVA).' >&2; fi

# With ANSWERS, the answers that a notebook brought become records: tests/engine/elsewhere.py writes its script.
# With ENGINE, what another Delta answers is recorded, to be read as a diff. It takes long.
ifdef ANSWERS
engine: $(INSTALLED)
	PYTHONPATH=tests $(BIN)/python -m engine.elsewhere read $(ANSWERS)
else ifdef ENGINE
engine: require-java engine-environment
	for part in $(or $(PART),types nested protocols states writes); do \
	    PYTHONPATH=tests:.:rules .engines/$(ENGINE)/bin/python -m engine.record_$$part || exit 1; \
	done
else
engine: require-java $(INSTALLED)
	SCHEMALINT_ENGINE_ALL=1 $(BIN)/python -m pytest -n 2 --dist load -m spark $(SAMPLED)
	SCHEMALINT_ENGINE_ALL=1 SCHEMALINT_ENGINE_PLANS=200 $(BIN)/python -m pytest -n 2 --dist load -m spark $(GENERATED)
	$(BIN)/python -m pytest -n 2 --dist load -m engine $(addprefix --ignore=,$(SAMPLED) $(GENERATED))
	SCHEMALINT_ENGINE_ALL=1 $(BIN)/python -m pytest -n 2 tests/judge/test_one_finding.py
endif

# An older engine with its Spark, and schemalint as its users install it.
engine-environment: $(INSTALLED)
	@test -n '$(ENGINE_$(ENGINE))' || { echo 'no pins for Delta $(ENGINE): ENGINE=3.2, 3.3 or 4.0' >&2; exit 2; }
	test -x .engines/$(ENGINE)/bin/python || $(BIN)/uv venv --quiet --python $(ENGINE_PYTHON) .engines/$(ENGINE)
	$(BIN)/uv pip install --quiet --python .engines/$(ENGINE) --require-hashes --requirement $(ENGINE_PINS)
	rm -rf .engines/wheel
	$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir .engines/wheel
	$(BIN)/uv pip install --quiet --no-deps --reinstall --python .engines/$(ENGINE) .engines/wheel/*.whl

# Pull requests of every kind, applied by the command line of each environment.
apply-engines: require-java $(INSTALLED)
	for line in $(or $(ENGINE),3.3 4.0); do \
	    $(MAKE) --no-print-directory engine-environment ENGINE=$$line && \
	    SCHEMALINT_ENGINE=$$line $(BIN)/python -m pytest -n 0 -m older tests/integration/test_apply_on_engines.py || exit 1; \
	done

# dbt connects to nothing: it parses projects. The engine runs the statements that it would send.
dbt: require-java $(INSTALLED)
	test -x .engines/dbt/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python .engines/dbt
	$(BIN)/uv pip install --quiet --python .engines/dbt --require-hashes --requirement $(DBT_PINS)
	SCHEMALINT_DBT=$(CURDIR)/.engines/dbt/bin/dbt $(BIN)/python -m pytest -n 2 --dist loadgroup -m dbt tests/made_files

# More of what `make test` asks once per mechanism. Each worker has a session. In `make kill`, runs end between any two
# statements, and other runs come between them.
answers apply kill: require-java $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist load -m $@

# The answers and the counts are files, to be read as a diff. Processes are killed too, each with a Spark session of
# its own. PLANS=swap kills one of the plans.
record: require-java $(INSTALLED)
	$(if $(PLANS),,for part in types nested protocols alters states logs functions values \
    defaults constraints operands generated shapes streams rewrites overwrites writes arrow_writes; do \
	    PYTHONPATH=tests $(BIN)/python -m engine.record_$$part || exit 1; \
	done)
	PYTHONPATH=tests $(BIN)/python -m engine.record_kills $(PLANS)

# Each version of a reader is installed from the package index, into an environment of its own.
probe: require-java $(INSTALLED)
	PYTHONPATH=tests $(BIN)/python -m probe.ask_again

# The pins, and of what schemalint itself needs the lowest versions. TESTS=tests/storage runs a part.
ground: $(INSTALLED)
	$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python .ground
	$(BIN)/uv pip install --quiet --python .ground --require-hashes --requirement $(PINS)
	$(BIN)/uv pip compile --quiet --resolution lowest-direct --python .ground --extra spark pyproject.toml \
	    --output-file .ground/lowest.txt
	$(BIN)/uv pip install --quiet --python .ground --requirement .ground/lowest.txt
	$(BIN)/uv pip install --quiet --python .ground --no-deps --no-build-isolation --editable .
	PATH=$(CURDIR)/.ground/bin:$$PATH .ground/bin/python -m pytest -n 2 --dist loadgroup -m 'not spark' $(TESTS)

# After a release of Delta: what its checkout knows, and no table here has.
protocol: $(INSTALLED)
	@test -n '$(CHECKOUT)' || { echo 'say which: make protocol CHECKOUT=../delta' >&2; exit 2; }
	@PYTHONPATH=tests $(BIN)/python -m engine.checkout $(CHECKOUT)

fuzz: $(FUZZ_INSTALLED)
	PYTHONPATH=tests $(BIN)/python -m fuzz.run --seconds $(FUZZ_SECONDS)

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet --persona=auditor .github action.yml examples/deploy/github/*.yml examples/pull-request/github.yml

# One resolution for every Python and platform, so that every machine installs the same versions.
pins: $(INSTALLED)
	$(COMPILE) --group dev --extra spark --output-file $(PINS) pyproject.toml
	$(COMPILE) --group fuzz --output-file $(FUZZ_PINS)
	printf '%s\n' $(DBT) | $(COMPILE) --output-file $(DBT_PINS) -
	for line in 3.2 3.3 4.0; do $(MAKE) --no-print-directory engine-pins ENGINE=$$line || exit 1; done

engine-pins: $(INSTALLED)
	printf '%s\n' $(wordlist 2,9,$(ENGINE_$(ENGINE))) pytest hypothesis | \
	    $(COMPILE) --extra live --output-file $(ENGINE_PINS) pyproject.toml -

clean:
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf .bench .coverage .coverage.* .engines .fuzz .ground dist site metastore_db spark-warehouse derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The last step downloads nothing: the pins hold the build backend too.
$(INSTALLED): pyproject.toml $(PINS) | require-python
	$(PYTHON) -m venv .venv
	$(PIP) --require-hashes --requirement $(PINS)
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# The fuzzer has wheels for few platforms, and only `make fuzz` needs it.
$(FUZZ_INSTALLED): $(FUZZ_PINS) $(INSTALLED)
	$(PIP) --require-hashes --requirement $(FUZZ_PINS)
	@touch $@

require-python:
	@found=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); \
	if [ -z "$$found" ]; then \
	    echo 'schemalint needs Python $(PYTHON_NEEDED) or later, and there is no $(PYTHON).'; \
	elif ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < tuple(map(int, "$(PYTHON_NEEDED)".split("."))))'; then \
	    echo "schemalint needs Python $(PYTHON_NEEDED) or later, and $(PYTHON) is $$found."; \
	elif ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "Python $$found has no venv: apt-get install python$$found-venv"; exit 1; \
	else exit 0; fi >&2; \
	echo '  Install one (apt-get install python3 python3-venv, brew install python@3.13),' >&2; \
	echo '  or name one that is there: make $(MAKECMDGOALS) PYTHON=python3.12' >&2; \
	exit 1

require-java:
	@found=$$('$(JAVA)' -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'); \
	if [ -z "$$found" ]; then echo 'Spark needs Java $(JAVA_NEEDED) or later, and there is no $(JAVA).'; \
	elif [ "$$found" -lt $(JAVA_NEEDED) ]; then \
	    echo "Spark needs Java $(JAVA_NEEDED) or later, and $(JAVA) is older: $$('$(JAVA)' -version 2>&1 | grep ' version ')"; \
	else exit 0; fi >&2; \
	echo '  Install one (apt-get install openjdk-17-jre-headless, brew install openjdk@17),' >&2; \
	echo '  or name one that is there: JAVA_HOME=/usr/lib/jvm/java-17 make $(MAKECMDGOALS)' >&2; \
	exit 1
