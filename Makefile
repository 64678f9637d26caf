# The two commands most people need: `make run` and `make test`. Both set the machine up first (tools/setup).
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BUILD := build/release
CTEST := ctest --output-on-failure --no-tests=error -j$(JOBS)

.PHONY: run test check nightly timing build setup kill fuzz asan tsan coverage bench bundle wheel install format tidy clean

# No more than what it shows needs (tools/build_first); `make build` builds the rest.
run:
	@JOBS=$(JOBS) tools/build_first
	$(BUILD)/bin/tandem tune examples/tune-lenet-digits.yaml

test: setup
	@tools/setup slurm
	cmake --preset release -Wno-dev >/dev/null
	cmake --build $(BUILD) -j$(JOBS)
	$(CTEST) --test-dir $(BUILD)

# Unit tests alone, after building what changed: for while you work.
check: setup
	cmake --preset release -Wno-dev >/dev/null
	cmake --build $(BUILD) -j$(JOBS) --target unit_tests
	$(CTEST) --test-dir $(BUILD) -L unit -LE cluster

# What takes long: the storms of kills, the parsers under libFuzzer for minutes, every world, and both sanitizers.
nightly: setup
	@tools/setup slurm
	cmake --preset release -Wno-dev >/dev/null
	cmake --build $(BUILD) -j$(JOBS)
	cmake --build $(BUILD) -j$(JOBS) --target benches
	TANDEM_SERVER_KILLS=50,200 TANDEM_TWO_WORLDS=1 $(CTEST) --test-dir $(BUILD)
	bench/run storm
	TANDEM_FUZZ_SECONDS=180 $(MAKE) fuzz
	$(MAKE) asan
	$(MAKE) tsan

# The parsers under clang's libFuzzer with ASan and UBSan, TANDEM_FUZZ_SECONDS each.
fuzz: export TANDEM_FUZZ_SECONDS ?= 20
fuzz: setup
	@tools/setup fuzz
	cmake --preset fuzz -Wno-dev >/dev/null
	cmake --build build/fuzz -j$(JOBS)
	$(CTEST) --test-dir build/fuzz

# How long a newcomer waits, phase by phase, in a clone of its own: set-up, build and result of `make run`; then a changed
# source and `make check`.
timing:
	tools/timing

build: setup
	cmake --preset release -Wno-dev >/dev/null
	cmake --build $(BUILD) -j$(JOBS) --target tandem tandem-trainer tandem-slurm-agent tandem-kernel tandem-guardian tandem-keeper

setup:
	@tools/setup

# 200 kills of train and the trainer alone, with what was hit and how often a resume was needed; bench/run storm is all of it.
kill: export TANDEM_KILLS ?= 180,20
kill: build
	cmake --build $(BUILD) -j$(JOBS) --target speaker
	cd tests && OMP_WAIT_POLICY=passive TANDEM_BIN=$(CURDIR)/$(BUILD)/bin /usr/bin/python3 -B -m unittest -v e2e.test_kill

# Fewer kills under sanitizers: each run is several times slower and the moments are as random.
asan tsan: export TANDEM_KILLS = 20,4
test: export TANDEM_KILLS ?= 34,6  # make nightly kills more often
test asan tsan coverage: export OMP_WAIT_POLICY = passive  # tests run beside each other: wait without spinning
asan: export ASAN_OPTIONS = detect_leaks=1:abort_on_error=0
asan: export LSAN_OPTIONS = suppressions=$(CURDIR)/tools/lsan.supp:print_suppressions=0
asan: export UBSAN_OPTIONS = print_stacktrace=1
tsan: export OMP_NUM_THREADS = 1
tsan: export TANDEM_ONE_CORE = 1  # libtorch's own OpenMP looks like races to it
tsan: export TSAN_OPTIONS = suppressions=$(CURDIR)/tools/tsan.supp:halt_on_error=0
asan tsan: setup
	@tools/setup slurm
	cmake --preset $@ -Wno-dev >/dev/null
	cmake --build build/$@ -j$(JOBS)
	$(CTEST) --test-dir build/$@ --timeout 3600

# Every folder but trainer/ and cli/ has to have 85 % of its lines run by its tests (tools/coverage). The guardian and
# the adapter are programs of their own, which their end-to-end tests run. Without the trainer, which is not judged: libtorch is not needed.
# Threads that count the same branch at once leave counts below zero, which gcovr does not read; lines are what is judged.
coverage:
	@tools/setup tandem develop slurm
	cmake --preset coverage -Wno-dev >/dev/null
	cmake --build build/coverage -j$(JOBS) --target unit_tests tandem tandem-adapter tandem-guardian tandem-keeper fake_nvml gpu_owner speaker
	find build/coverage -name '*.gcda' -delete
	$(CTEST) --test-dir build/coverage -L unit -E '^(layers|docs|python|coverage)'
	$(CTEST) --test-dir build/coverage -R '^e2e.(guardian|adapter)$$'
	gcovr --root . --object-directory build/coverage --exclude-throw-branches --gcov-ignore-parse-errors --filter 'src/' \
	  --json-summary build/coverage/summary.json
	tools/coverage build/coverage/summary.json

bench: setup
	@tools/setup compare
	cmake --preset release -Wno-dev >/dev/null
	cmake --build $(BUILD) -j$(JOBS)
	cmake --build $(BUILD) -j$(JOBS) --target benches
	bench/run

# A folder and a tarball that run elsewhere (docs/bundle.md). TRAINER=1: with tandem-trainer and libtorch.
bundle: build
	cmake --build $(BUILD) -j$(JOBS) --target tandem-bag
	tools/bundle --build $(BUILD) $(if $(TRAINER),--trainer)

# The Python package with the program inside: pip install build/wheel/*.whl (docs/python.md).
wheel: build
	tools/wheel --build $(BUILD)

install: build
	cmake --install $(BUILD) --strip --prefix $(PREFIX)

format:
	@tools/setup develop
	git ls-files '*.cpp' '*.h' | xargs clang-format -i

tidy:
	@tools/setup develop
	cmake --preset dev -Wno-dev >/dev/null
	git ls-files 'src/*.cpp' | grep -v src/trainer | xargs clang-tidy -p build/dev --quiet

clean:
	rm -rf build
