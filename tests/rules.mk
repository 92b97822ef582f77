# Unit tests: each tests/unit/COMPONENT/…/test-FILE.c is a program of cmocka, linked with the archives of its component and
# of those below it: UNIT_LINK_COMPONENT and UNIT_LDLIBS_COMPONENT of the component's rules.mk. NAME_WRAP lists functions of
# the product that the test COMPONENT/…/test-FILE replaces (ld --wrap), NAME_LDLIBS its own libraries.
CFLAGS_tests := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags krb5-gssapi)
COMPONENTS := common wire gss cgroups executor setuid-helper hdfs fs registry localizer logs shuffle federation router nodemanager rm-lite client service
UNIT_SOURCES := $(wildcard $(addprefix tests/unit/,*/test-*.c */*/test-*.c */*/*/test-*.c))
UNIT_TESTS := $(foreach c,$(COMPONENTS),$(patsubst tests/unit/%.c,%,$(filter tests/unit/$(c)/%,$(UNIT_SOURCES))))
ifneq ($(SANITIZE),)
ifeq ($(SELVEDGE_CHECK),brief)
# make check: with ASan the components that parse hostile bytes; make check-full: all.
UNIT_TESTS := $(filter $(addsuffix /%,common wire hdfs fs registry logs localizer shuffle federation),$(UNIT_TESTS))
endif
endif
unit_component = $(firstword $(subst /, ,$(1)))
define unit_test_rule
$(BUILD)/tests/unit/$(1): $(BUILD)/tests/unit/$(1).o $$(UNIT_LINK_$(call unit_component,$(1)))
	$$(call link,$$($(1)_WRAP:%=-Wl,--wrap=%) $$(UNIT_LDLIBS_$(call unit_component,$(1))) $$($(1)_LDLIBS) -lcmocka)
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call unit_test_rule,$(t))))

# Programs that the integration and interop suites run inside containers or beside them: a component adds
# its binary here, `make check-integration` builds it first.
TEST_PROGRAMS +=

# Fuzz targets: tests/fuzz/NAME.c, linked with all archives; its seeds are in tests/fuzz/corpus/<NAME without fuzz->. For
# fuzzing everything is built a second time, by clang with libFuzzer's coverage and sanitizers, into build-fuzz. In
# every other build the target is linked to a main that runs the seeds once, in the unit suite.
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz-*.c))
FUZZ_LINK = $(SERVICE_AM_A) $(SERVICE_API_A) $(SERVICE_A) $(CLI_A) $(CLIENT_A) $(NODEMANAGER_A) $(RM_A) $(ROUTER_A) $(FED_A) $(RM_SCHEDULER_A) $(SHUFFLE_A) $(LOG_UPLOADER_A) $(LOGS_A) $(LOCALIZER_PROGRAM_A) \
	$(LOCALIZER_A) $(HELPER_TEST_A) $(EXECUTOR_A) $(CGROUPS_A) $(GSS_CLIENT_A) $(REGISTRY_DEPS)
FUZZ_LDLIBS = $(YAML_LDLIBS) $(RM_LDLIBS) $(SHUFFLE_LDLIBS) $(LOG_UPLOADER_LIBS) $(UNIT_LDLIBS_localizer) $(CGROUPS_LDLIBS)
FUZZ_SECONDS ?= 60
ifneq ($(FUZZ),)
CFLAGS += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FUZZ_MAIN := -fsanitize=fuzzer
else
FUZZ_REPLAY := $(BUILD)/tests/fuzz/replay.o
FUZZ_MAIN := $(COMMON_LDLIBS)
endif
define fuzz_rule
$(BUILD)/tests/fuzz/$(1): $(BUILD)/tests/fuzz/$(1).o $(FUZZ_REPLAY) $$(FUZZ_LINK)
	$$(call link,$$(FUZZ_LDLIBS) $(FUZZ_MAIN))
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_rule,$(t))))
fuzz-targets: $(addprefix $(BUILD)/tests/fuzz/,$(FUZZ_TARGETS))
fuzz:
	$(Q)$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang FUZZ=1 fuzz-targets
	$(Q)tests/tools/run-fuzz build-fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS:%=build-fuzz/tests/fuzz/%)
	$(Q)$(MAKE) --no-print-directory programs
	$(Q)BUILD=$(abspath $(BUILD)) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/integration/localizer/test-unpack-fuzz

# Suites. Each ends with one plain line "N passed, N failed, N skipped". What does not depend on how the C
# is compiled is checked by the plain unit suite alone.
SOURCE_CHECKS := tests/tools/check-includes "tests/tools/check-cycles $(BUILD)" tests/tools/check-style tests/tools/check-words tests/tools/check-format "tests/tools/hardening-table --check" "tests/bench/flame --check" "tests/bench/history --check" tests/tools/check-wire-doc tests/tools/check-compat tests/tools/check-runner tests/tools/check-modes tests/tools/check-commands tests/tools/check-cli tests/tools/check-selinux \
	"tests/tools/tcb-operations $(HELPER_SOURCES)" "tests/mutants/run --names"
UNIT_SCRIPTS := $(if $(SANITIZE),,$(SOURCE_CHECKS)) \
	"tests/tools/print-states $(BUILD)/selvedge-nodemanager --check docs/design/container-lifecycle.md" \
	$(foreach t,$(FUZZ_TARGETS),"$(BUILD)/tests/fuzz/$(t) tests/fuzz/corpus/$(t:fuzz-%=%)")
unit-tests: $(addprefix $(BUILD)/tests/unit/,$(UNIT_TESTS)) fuzz-targets
check-unit: programs unit-tests
	$(Q)tests/tools/run-unit $(BUILD) $(UNIT_TESTS:%=$(BUILD)/tests/unit/%) -- $(UNIT_SCRIPTS)
# T="name …" picks test programs of the suite.
check-integration check-interop: check-%: programs $$(TEST_PROGRAMS)
	$(Q)SANITIZE=$(SANITIZE) tests/tools/run-suite $(if $(SANITIZE),asan-)$* $(BUILD) $(T)
# A worker node in QEMU, with the controllers that enforce limits. T="name …" picks lines of
# tests/vm/list.
check-vm: deps deps-vm
	$(Q)$(MAKE) --no-print-directory vm-suite
vm-suite: programs $$(TEST_PROGRAMS)
	$(Q)MAKE="$(MAKE)" tests/tools/run-vm $(BUILD) $(T)
# The shared parts of all suites' builds, for tests/tools/run-check.
test-programs: programs unit-tests $$(TEST_PROGRAMS)
integration-programs: programs $$(TEST_PROGRAMS)

# The suites of tests/tools/suites for each of the three targets. deps may have to come first, and what it
# installs decides the flags of the build: the suites run in makes of their own.
check-fast:
	$(Q)MAKE="$(MAKE)" tests/tools/run-check fast
check: deps deps-vm
	$(Q)MAKE="$(MAKE)" tests/tools/run-check check
check-full: deps deps-vm deps-full
	$(Q)MAKE="$(MAKE)" tests/tools/run-check full

# Mutation tests of the setuid helper (docs/design/hardening-tests.md) and of the scheduler, and the faults that survive. Half an
# hour.
mutation-test: test-programs
	$(Q)BUILD=$(abspath $(BUILD)) tests/mutants/run $(MUTANTS)
check-mutants: mutation-test
# Line coverage of the privileged code: a summary, and each line not covered in build/coverage.txt. Some minutes.
coverage: test-programs
	$(Q)BUILD=$(abspath $(BUILD)) tests/coverage/run -o $(BUILD)/coverage.txt
# Integration tests with random delays injected at function entry: finds assumptions about the order of two
# processes. Minutes; a suite of make check-full.
DELAYS_BUILD := build-delays
DELAYS := CC=$(CURDIR)/tests/delays/cc DELAYS_HOOK=$(CURDIR)/$(DELAYS_BUILD)/hook.o
delay-injection:
	$(Q)mkdir -p $(DELAYS_BUILD)
	$(Q)gcc -O2 -Wall -Wextra -fPIC -fno-stack-protector -c -o $(DELAYS_BUILD)/hook.o tests/delays/hook.c
	$(Q)$(DELAYS) $(MAKE) --no-print-directory BUILD=$(DELAYS_BUILD) integration-programs
	$(Q)$(DELAYS) SELVEDGE_CHECK=full tests/tools/run-suite delay-injection $(DELAYS_BUILD) $(T)
check-delays: delay-injection

# The programs of bench-launch and of the integration suite's test-benches and test-many.
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
$(BUILD)/tests/integration/setuid-helper/witness: tests/integration/setuid-helper/witness.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(WARN) -O1 -D_GNU_SOURCE -static -o $@ $<
TEST_PROGRAMS += $(BUILD)/tests/integration/setuid-helper/witness

# The setuid helper with the paths of the tests' fixed directories compiled in, once for all programs: helper is that of
# tests/lib/helper_fixture.py, node1 to node3 are those of a cluster's nodes (tests/cluster). A test mounts a directory
# of its own there, in its private mount namespace. Below $(BUILD)/helpers/PLACE are objects and programs.
# $(call test_helper,PLACE,CONFIGURATION,LIBEXECDIR,STATE)
define test_helper
TEST_HELPER_OBJS_$(1) := $(HELPER_PATH_NAMES:%=$(BUILD)/helpers/$(1)/%)
$$(TEST_HELPER_OBJS_$(1)): CFLAGS := $$(HELPER_CFLAGS)
$$(TEST_HELPER_OBJS_$(1)): CPPFLAGS := -D_GNU_SOURCE -I. $$(HELPER_LIBC) -DEXECUTOR_CONF='"$(2)"' -DLIBEXECDIR='"$(3)"' \
	-DEXECUTOR_STATE='"$(4)"' -DHLP_POLICY_ID=$$(POLICY_ID)u
$$(TEST_HELPER_OBJS_$(1)): $(HELPER_DIR)/paths.stamp
$(BUILD)/helpers/$(1)/%.o: setuid-helper/%.c
	$$(call test_helper_compile)
$(BUILD)/helpers/$(1)/container-executor: $$(call test_helper_objects,$(1),$$(HELPER_OBJS))
$(BUILD)/helpers/$(1)/container-prepare: $$(call test_helper_objects,$(1),$$(PREPARE_OBJS)) | $(BUILD)/helpers/$(1)/container-executor
TEST_HELPERS += $(BUILD)/helpers/$(1)/container-executor $(BUILD)/helpers/$(1)/container-prepare
endef
# $(call test_helper_objects,PLACE,OBJECTS): these, those with a path in them from PLACE.
test_helper_objects = $(foreach o,$(2),$(if $(filter $(HELPER_PATH_NAMES),$(notdir $(o))),$(BUILD)/helpers/$(1)/$(notdir $(o)),$(o)))
define test_helper_compile
$(call say,CC,$@)
@mkdir -p $(@D)
$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
endef
TEST_HELPERS :=
HELPER_PLACE := /var/lib/selvedge-test-helper
CLUSTER_PLACE := /var/lib/selvedge-test-cluster
$(eval $(call test_helper,helper,$(HELPER_PLACE)/etc/container-executor.cfg,$(HELPER_PLACE)/libexec,$(HELPER_PLACE)/state))
$(foreach n,node1 node2 node3,$(eval $(call test_helper,$(n),$(CLUSTER_PLACE)/$(n)/prefix/etc/selvedge/container-executor.cfg,$\
	$(CLUSTER_PLACE)/$(n)/prefix/libexec/selvedge,$(CLUSTER_PLACE)/$(n)/state)))
# All its objects are beside it, for tests that read them.
$(TEST_HELPERS):
	$(call say,LD,$@)
	$(Q)ln -f $(filter-out $(@D)/%,$(filter %.o,$^)) $(@D)/
	$(Q)$(CC) $(HELPER_CFLAGS) $(HELPER_LDFLAGS) -o $@ $(filter %.o,$^) $(HELPER_LDLIBS)
TEST_PROGRAMS += $(TEST_HELPERS)

# Benches: tests/bench/bench-NAME prints a table and writes $(BUILD)/bench/NAME.json; all of them together docs/measurements.md.
BENCHES := $(patsubst tests/bench/bench-%,%,$(wildcard tests/bench/bench-*))
bench: $(BENCHES:%=bench-%)
	$(Q)BUILD=$(abspath $(BUILD)) tests/bench/measurements-page
	$(if $(HISTORY),$(Q)BUILD=$(abspath $(BUILD)) tests/bench/history add)
# Of each bench's figures by commit: docs/measurements/history.svg, from history.tsv beside it.
bench-history:
	$(Q)tests/bench/history draw
bench-%: programs $$(TEST_PROGRAMS)
	$(Q)test -x tests/bench/bench-$* || { echo "There is no bench $*; there are: $(BENCHES)"; exit 1; }
	@mkdir -p $(BUILD)/bench
	$(Q)BUILD=$(abspath $(BUILD)) tests/bench/bench-$*

.PHONY: unit-tests fuzz fuzz-targets check check-fast check-full check-unit check-integration check-interop check-vm vm-suite \
	test-programs integration-programs delay-injection check-delays mutation-test check-mutants coverage bench bench-history
# Formats every C source in place (.clang-format); the unit suite checks it.
format:
	$(Q)tests/tools/check-format --fix
.PHONY: format
