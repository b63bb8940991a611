# SPDX-License-Identifier: Apache-2.0
# A thin front to CMake. Targets: all demo test test-full bench cross lint format clean.
#   make [BUILD=build] [JOBS=n] [CXX=...] [CC=...]
BUILD ?= build
JOBS ?= $(shell nproc)
TEST_JOBS ?= $(shell expr 2 \* $(JOBS)) # most tests wait more than they compute
NINJA := $(shell command -v ninja 2>/dev/null)
ifneq ($(NINJA),)
export CMAKE_GENERATOR ?= Ninja
endif
CCACHE := $(shell command -v ccache 2>/dev/null)
ifneq ($(CCACHE),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
export CMAKE_C_COMPILER_LAUNCHER ?= ccache
export CCACHE_NOHASHDIR ?= 1 # as in tests/install/run.sh, whose builds in other folders find these objects
endif
PEERS = OFF
# PEERS=ON: the programs of bench that run on other runtimes, or on none, too, as in test-full.
configure = cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DWEFT_QUICK_TESTS=ON -DWEFT_MODEL_SECONDS=30 -DWEFT_BENCH_PEERS=$(PEERS)
compile = cmake --build $(BUILD) --parallel $(JOBS)
ctest = ctest --output-on-failure --no-tests=error --parallel $(TEST_JOBS)

.PHONY: all configure demo test test-prepared test-asan conformance-short conformance-std conformance-libgomp conformance-tsan conformance-llvm conformance-openuh conformance-programs conformance-tbb conformance-tbb-short conformance-tbb-versions conformance-tbb-programs conformance-pools conformance-python docs bench wheel packages test-packages dist static-archive clean format lint
all: configure
	$(compile) --target weft_programs

configure:
	@tools/check/prerequisites build
	$(configure)

demo:
	@tools/check/prerequisites demo
	$(configure)
	$(compile) --target cholesky
	$(BUILD)/bin/cholesky

# In two steps, so that the second finds the compiler cache and Ninja where the first has just installed them.
test:
	@tools/check/prepare test
	@$(MAKE) --no-print-directory test-prepared
test-prepared:
	$(configure)
	$(compile)
	@(cd $(BUILD) && $(ctest) -LE stress); status=$$?; tools/check/skipped $(BUILD); tools/check/failed $(BUILD); exit $$status
	@$(MAKE) --no-print-directory test-asan conformance-short
	@tools/check/prerequisites --left-out test

# AddressSanitizer, with leaks, over what takes memory and gives it back; `make full-asan` runs all suites.
asan_suites = weft_unit_api weft_unit_deps weft_unit_mem weft_stress_loops
test-asan:
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS) --target $(asan_suites)
	ctest --preset asan --parallel $(JOBS) --tests-regex '^weft_(unit_(api|deps|mem)|loops_short)$$'

# Of GCC's suite the C programs of constructs and of what waits, once; in test-full and by hand all of it, and LLVM's.
conformance-short: configure
	$(compile) --target weft-omp
	@if tools/check/prerequisites conformance >/dev/null; then $(conformance)/libgomp $(BUILD)/lib/weft-omp --jobs $(JOBS) --lang c --only $(short_form); fi
short_form = 'libgomp.c/(barrier|cancel|critical|doacross|for|lib|lock|loop|nestedfn|omp-|ordered|parallel|reduction|sections|single|task|depend)'

# OpenMP on Weft: GCC 12's own libgomp suite, the tests of LLVM 19's runtime, programs as they are distributed. What is fetched and compiled is kept in
# ~/.cache/weft; results go to docs/user/openmp.md. THREADS=1,3,8,32 repeats the first with each of these numbers; RUN passes further options on.
conformance = layers/omp/conformance
conformance-libgomp: configure
	$(compile) --target weft-omp
	$(conformance)/libgomp $(BUILD)/lib/weft-omp --jobs $(JOBS) $(if $(THREADS),--threads $(THREADS)) --page docs/user/openmp.md $(RUN)

# GCC's tests of the parallel algorithms on Weft's backend, and of threads, locks and futures over Weft's names; Boost.Thread's of futures.
conformance-std: configure
	$(compile) --target weft
	tests/std/conformance pstl $(BUILD)/lib --jobs $(JOBS) --page docs/user/pstl.md $(RUN)
	tests/std/conformance threads $(BUILD)/lib --jobs $(JOBS) --page docs/user/synchronization.md $(RUN)
	tests/std/conformance boost $(BUILD)/lib --jobs $(JOBS) --page docs/user/futures.md $(RUN)

# libgomp's programs compiled with ThreadSanitizer, on the preset's build.
conformance-tsan:
	cmake --preset tsan
	cmake --build --preset tsan --parallel $(JOBS) --target weft-omp
	$(conformance)/libgomp build/tsan/lib/weft-omp --tsan --jobs $(JOBS) $(if $(THREADS),--threads $(THREADS)) --page docs/user/openmp.md $(RUN)

conformance-llvm: configure
	$(compile) --target weft-omp
	$(conformance)/llvm $(BUILD)/lib/weft-omp --jobs $(JOBS) --page docs/user/openmp.md $(RUN)

# OpenUH's validation suite, which no package has: SUITE is a folder with it.
conformance-openuh: configure
	$(compile) --target weft-omp
	$(conformance)/openuh $(SUITE) $(BUILD)/lib/weft-omp --jobs $(JOBS) --page docs/user/openmp.md $(RUN)

conformance-programs: configure
	$(compile) --target weft-omp
	$(conformance)/programs $(BUILD)/lib/weft-omp --page docs/user/openmp.md $(RUN)
	$(if $(RUN),,@$(MAKE) --no-print-directory conformance-tbb-programs conformance-pools)

# TBB on Weft: oneTBB's own tests, from the distribution's source package, on TBB's own threads and on Weft's; results go to docs/user/tbb.md. The short form
# has some twenty programs, and writes no page. Programs as wheels bring them are a part of conformance-programs.
conformance_tbb = layers/tbb/conformance/onetbb $(BUILD)/lib/weft-tbb/libirml.so.1 --openmp $(BUILD)/lib/weft-omp --jobs $(JOBS)
conformance-tbb: configure
	$(compile) --target weft-tbb weft-omp
	$(conformance_tbb) --workers 1,3,8 --page docs/user/tbb.md $(RUN)
conformance-tbb-short: configure
	$(compile) --target weft-tbb weft-omp
	$(conformance_tbb) --workers 3 --only $(short_form_tbb) $(RUN) $(or_skipped)
conformance-tbb-versions: configure
	$(compile) --target weft-tbb weft_tbb_algorithms weft_tbb_graphs weft_tbb_threads
	layers/tbb/conformance/versions $(BUILD) $(RUN)
conformance-tbb-programs: configure
	$(compile) --target weft-tool weft-tbb
	layers/tbb/conformance/programs $(BUILD)/bin/weft --page docs/user/tbb.md $(RUN)
# Python packages with pools of their own, on their own threads and by `weft run`: the same results; seconds of both.
conformance-pools: configure
	$(compile) --target weft-tool weft-pools weft-omp
	layers/pools/conformance/wheels $(BUILD)/bin/weft $(RUN)
short_form_tbb = '^(conformance_(task_group|parallel_.*|global_control|resumable_tasks|task_arena|graph|combinable|enumerable.*|task_scheduler_observer)|test_(tbb_fork|openmp|task|eh_thread|arena_priorities|global_control))$$'

# The suites of Python packages, from their wheels, on their own threads and by `weft run`, and without RUN a fit in the child of a fork, and training in PyTorch; results go to docs/user/python.md.
conformance-python:
	@tools/check/prerequisites python
	$(configure)
	$(compile) --target weft-tool weft-omp weft-tbb weft-tcm weft-pools weft-blas-loads weft-python-tasks
	python/conformance/suites $(BUILD)/bin/weft --page docs/user/python.md $(RUN)
	$(if $(RUN),,python/conformance/forks $(BUILD)/bin/weft --page docs/user/python.md || [ $$? = 77 ])
	$(if $(RUN),,python/conformance/torch $(BUILD)/bin/weft --all --page docs/user/python.md || [ $$? = 77 ])

# The documents as a site, pages and interface: build/docs/site/index.html. A broken link or an undocumented public name fails.
docs:
	tools/docs/build $(BUILD)/docs

# The wheel of the Python package weftrt, in build/wheel (docs/user/python.md).
wheel:
	python/wheel $(BUILD)/wheel

# Debian's packages, in build/packages/deb; the archive of the sources, in build/dist, and one of headers and the static library
# (docs/user/packages.md).
packages:
	@tools/check/prerequisites packages
	packaging/deb $(BUILD)/packages
dist:
	packaging/dist $(BUILD)/dist
static-archive:
	packaging/static $(BUILD)/dist
# The packages on a bare system, lintian, the interface against its dumps, the archives, Conan's recipe, the wheel with three versions of Python. A part that
# says `skipped`, as those that ask for root do, ends with 77 and fails nothing.
or_skipped = || [ $$? = 77 ]
test-packages: packages wheel
	tests/packages/run $(BUILD)/packages/deb . $(or_skipped)
	abi/compare $(BUILD)/packages/lib $(or_skipped)
	tests/packages/dist . $(or $(CXX),c++) $(or_skipped)
	$(MAKE) --no-print-directory static-archive
	tests/packages/static $(BUILD)/dist . $(or $(CXX),c++)
	tests/packages/conan . $(or $(CXX),c++) $(or_skipped)
	tests/packages/wheel $(BUILD)/wheel/weft_runtime-*.whl . $(or_skipped)

bench: PEERS = ON
bench: configure
	$(compile) --target weft_programs
	bench/peers/install $(BUILD)/peers
	$(BUILD)/bin/weft-bench

# Everything, in build/<preset>; warnings are errors there. The sanitizers watch the library, not the model checker. Each part is built, then tested
# (full-gcc does both); test-full builds one while it tests another, and one after the other of each. What a part adds: CONTRIBUTING.md; what it takes: docs/benchmarks/test_time.md.
parts = gcc clang static boost tsan asan mutants debug aarch64
oldest = gcc-11 clang-14 tsan-clang-16 asan-clang-16
.PHONY: test-full test-tbb test-glt-massivethreads cross full-fuzz $(foreach part,$(parts) $(oldest),full-$(part) full-build-$(part) full-run-$(part))
test-full:
	@tools/check/prerequisites full
	@$(MAKE) --no-print-directory -j WHOLE=yes $(foreach part,$(parts) $(oldest),full-build-$(part)) $(foreach part,$(parts) $(oldest),full-run-$(part)) full-fuzz
	@$(MAKE) --no-print-directory test-tbb
	@if tools/check/prerequisites packages >/dev/null; then $(MAKE) --no-print-directory test-packages; else echo "test-full: the packages are left out: $$(tools/check/prerequisites packages)"; fi
	@layers/glt/tests/massivethreads >/dev/null && $(MAKE) --no-print-directory test-glt-massivethreads || \
	  { [ $$? = 77 ] && echo "test-full: GLT over MassiveThreads is left out"; }
	@echo "test-full: all parts passed"

# The short form of oneTBB's own tests, on what full-gcc has built.
test-tbb: full-build-gcc
	$(subst $(BUILD)/lib,build/gcc/lib,$(conformance_tbb)) --workers 3 --only $(short_form_tbb) $(or_skipped)

# GLT's tests over MassiveThreads, which is built from the source of Debian trixie.
test-glt-massivethreads: full-build-gcc
	cmake -S . -B build/gcc -DCMAKE_PREFIX_PATH=$$(layers/glt/tests/massivethreads) >/dev/null
	cmake --build build/gcc --parallel $(JOBS) --target weft_glt_over_massivethreads
	ctest --test-dir build/gcc -R '^weft_glt_over_massivethreads_' --no-tests=error --output-on-failure

ifdef WHOLE
before :=
$(foreach part,$(parts) $(oldest),$(eval full-build-$(part): | $(before))$(eval before := full-build-$(part)))
# One build at a time by that, one part's tests by the lock, whatever -j says. Builds give way.
nice = nice -n 10
alone = flock build/.tests
endif

full_build = mkdir -p build && cmake --preset $* && $(nice) cmake --build --preset $* --parallel $(JOBS)
full_run = $(alone) ctest --preset $* --parallel $(JOBS)
$(foreach part,$(parts) $(oldest),full-$(part)): full-%: full-run-%
$(parts:%=full-build-%): full-build-%:
	@tools/check/prerequisites full
	$(full_build)
$(parts:%=full-run-%): full-run-%: full-build-%
	$(full_run)

# Where they are installed.
$(oldest:%=full-build-%): full-build-%:
	@if line=$$(tools/check/prerequisites $*); then $(full_build); else echo "test-full: $* is left out: $$line"; fi
$(oldest:%=full-run-%): full-run-%: full-build-%
	@if tools/check/prerequisites $* >/dev/null; then $(full_run); fi

# For AArch64; examples and unit tests run under qemu, but for what it cannot do (tests/emulation.cmake).
cross: full-aarch64

# Random programs: ten minutes over policies, systems of dependencies, workers and builds; in test-full beside the tests, as the builds are.
FUZZ_SECONDS ?= 600
full-fuzz: full-build-gcc full-build-tsan full-build-asan
	WEFT_WATCH_HANG=abort $(nice) build/gcc/tests/weft_stress_fuzz --seconds $$(($(FUZZ_SECONDS) * 9 / 10)) \
	  --build tsan=build/tsan/tests/weft_stress_fuzz --build asan=build/asan/tests/weft_stress_fuzz
	! [ -e build/gcc/lib/weft-oss/weft-oss-19.so ] || $(nice) layers/oss/tests/fuzz build/gcc/oss-fuzz build/gcc/bin/weft-cc build/gcc/bin/weft-c++ \
	  clang++-19 --seconds $$(($(FUZZ_SECONDS) / 10))

sources = git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.c' '*.h'
CLANG_FORMAT ?= $(shell command -v clang-format-19 || echo clang-format)
format:
	$(sources) | xargs $(CLANG_FORMAT) -i

lint:
	tools/check/lint
	tools/check/homes
	tools/check/hpx_names
	tools/check/prose
	tools/check/words
	tools/check/parameters
	tools/check/commits
	tools/check/snippets
	tools/check/readme
	tools/check/messages
	tools/check/c_calls
	tools/check/guarantees
	$(sources) | xargs $(CLANG_FORMAT) --dry-run --Werror

clean:
	rm -rf $(BUILD)
