# Unit tests: a room's rules.mk adds NAME to UNIT_TESTS and says what NAME links in
# NAME_DEPS (objects, archives) and NAME_LDLIBS. The source is tests/unit/NAME.c (cmocka).
CFLAGS_tests := $(CFLAGS_common)
define unit_test_rule
$(BUILD)/tests/unit/$(1): $(BUILD)/tests/unit/$(1).o $$($(1)_DEPS)
	$$(call link,$$($(1)_LDLIBS) -lcmocka)
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call unit_test_rule,$(t))))

# Programs that the integration and interop lanes run inside containers or beside them: a room adds
# its binary here, `make check-integration` builds it first.
TEST_PROGRAMS +=

# Fuzz targets: a room adds NAME to FUZZ_TARGETS, NAME_DEPS and NAME_LDLIBS as above. The source is
# tests/fuzz/NAME.c, its seeds are in tests/fuzz/corpus/<NAME without fuzz->. For fuzzing everything
# is built a second time, by clang with libFuzzer's coverage and sanitizers, into build-fuzz. In
# every other build the target is linked to a main that runs the seeds once, in the unit lane.
FUZZ_SECONDS ?= 60
ifneq ($(FUZZ),)
CFLAGS += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FUZZ_MAIN := -fsanitize=fuzzer
else
FUZZ_REPLAY := $(BUILD)/tests/fuzz/replay.o
FUZZ_MAIN := $(COMMON_LDLIBS)
endif
define fuzz_rule
$(BUILD)/tests/fuzz/$(1): $(BUILD)/tests/fuzz/$(1).o $(FUZZ_REPLAY) $$($(1)_DEPS) $(COMMON_A)
	$$(call link,$$($(1)_LDLIBS) $(FUZZ_MAIN))
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_rule,$(t))))
fuzz-targets: $(addprefix $(BUILD)/tests/fuzz/,$(FUZZ_TARGETS))
fuzz:
	$(Q)$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang FUZZ=1 fuzz-targets
	$(Q)tests/tools/run-fuzz build-fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS:%=build-fuzz/tests/fuzz/%)

# Lanes. Each ends with one plain line "N passed, N failed, N skipped".
UNIT_SCRIPTS := tests/tools/check-includes tests/tools/check-style tests/tools/check-format "tests/tools/hardening-table --check" "tests/bench/flame --check" tests/tools/check-wire-doc tests/tools/check-lanes tests/tools/check-modes tests/tools/check-selinux \
	"tests/tools/print-states $(BUILD)/selvedge-nodemanager --check docs/nodemanager-states.md" \
	$(foreach t,$(FUZZ_TARGETS),"$(BUILD)/tests/fuzz/$(t) tests/fuzz/corpus/$(t:fuzz-%=%)")
unit-tests: $(addprefix $(BUILD)/tests/unit/,$(UNIT_TESTS)) fuzz-targets
check-unit: programs unit-tests
	$(Q)tests/tools/run-unit $(BUILD) $(UNIT_TESTS:%=$(BUILD)/tests/unit/%) -- $(UNIT_SCRIPTS)
# T="name …" picks test programs of the lane.
check-integration check-interop: check-%: programs $$(TEST_PROGRAMS)
	$(Q)SANITIZE=$(SANITIZE) tests/tools/run-lane $* $(BUILD) $(T)
# What takes too long for every check: each system call of the helper, set-user-id and started by root, fails once, is
# where it is killed once, a launch loses its daemon at 200 random points, and a thousand containers are started by root's. docs/hardening-tests.md has the figures.
check-full: programs $$(TEST_PROGRAMS)
	$(Q)SELVEDGE_TEST_FULL=1 ROUNDS=200 tests/tools/run-lane integration $(BUILD) helper launch-life many
# Mutation tests of the setuid helper (docs/hardening-tests.md). Half an hour; MUTANTS=--list prints them.
check-mutants: mutation-test
mutation-test: lane-programs
	$(Q)BUILD=$(abspath $(BUILD)) tests/mutants/run $(MUTANTS)
# What of the privileged code no test reaches: a summary, and each line in build/coverage.txt. Some minutes.
coverage: lane-programs
	$(Q)BUILD=$(abspath $(BUILD)) tests/coverage/run -o $(BUILD)/coverage.txt
# Programs that are late at random, each by itself: what is assumed of the order of two shows. Minutes.
DELAYS_BUILD := build-delays
DELAYS := CC=$(CURDIR)/tests/delays/cc DELAYS_HOOK=$(CURDIR)/$(DELAYS_BUILD)/hook.o
DELAYS_T := launch-life activation nodemanager recovery job localizer rm
check-delays:
	$(Q)mkdir -p $(DELAYS_BUILD)
	$(Q)gcc -O2 -Wall -Wextra -fPIC -fno-stack-protector -c -o $(DELAYS_BUILD)/hook.o tests/delays/hook.c
	$(Q)$(DELAYS) $(MAKE) --no-print-directory BUILD=$(DELAYS_BUILD) programs integration-programs
	$(Q)$(DELAYS) tests/tools/run-lane integration $(DELAYS_BUILD) $(or $(T),$(DELAYS_T))
# A worker node in QEMU, with the controllers that enforce limits. T="name …" picks lines of
# tests/vm/list.
check-vm: deps deps-vm
	$(Q)$(MAKE) --no-print-directory vm-lane
vm-lane: programs $$(TEST_PROGRAMS)
	$(Q)MAKE="$(MAKE)" tests/tools/run-vm $(BUILD) $(T)
# What those lanes share, for tests/tools/run-check.
lane-programs: programs unit-tests $$(TEST_PROGRAMS)
integration-programs: $$(TEST_PROGRAMS)

# Everything. deps may have to come first, and what it installs decides the flags of the build:
# the lanes run in makes of their own.
check: deps deps-vm
	$(Q)MAKE="$(MAKE)" tests/tools/run-check

# The programs of bench-launch and of the integration lane's test-benches and test-many.
$(BUILD)/tests/bench/launch: $(BUILD)/tests/bench/launch.o $(EXECUTOR_A) $(CGROUPS_A) $(COMMON_A)
	$(call link,$(EXECUTOR_LDLIBS))
$(BUILD)/tests/bench/spawn: $(BUILD)/tests/bench/spawn.o
	$(call link,)
$(addprefix $(BUILD)/tests/bench/,floor payload): $(BUILD)/tests/bench/%: tests/bench/%.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(WARN) -O2 -D_GNU_SOURCE -I. -static -o $@ $<
TEST_PROGRAMS += $(addprefix $(BUILD)/tests/bench/,launch payload spawn floor)

# In the place of programs that the helper executes; nothing of the host is needed.
$(BUILD)/tests/integration/witness: tests/integration/witness.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(WARN) -O1 -D_GNU_SOURCE -static -o $@ $<
TEST_PROGRAMS += $(BUILD)/tests/integration/witness

# Benches: tests/bench/bench-NAME prints a table and writes $(BUILD)/bench/NAME.json.
BENCHES := $(patsubst tests/bench/bench-%,%,$(wildcard tests/bench/bench-*))
bench: $(BENCHES:%=bench-%)
bench-%: programs $$(TEST_PROGRAMS)
	$(Q)test -x tests/bench/bench-$* || { echo "There is no bench $*; there are: $(BENCHES)"; exit 1; }
	@mkdir -p $(BUILD)/bench
	$(Q)BUILD=$(abspath $(BUILD)) tests/bench/bench-$*

.PHONY: check-delays integration-programs check-mutants mutation-test coverage unit-tests fuzz fuzz-targets check check-full check-unit check-integration check-interop check-vm vm-lane lane-programs bench
# Formats every C source in place (.clang-format); the unit suite checks it.
format:
	$(Q)tests/tools/check-format --fix
.PHONY: format
