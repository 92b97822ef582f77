# The privileged side. One program, static-PIE: libc and libcap, no loader, no NSS. Its configuration
# and helper paths are compiled in; a change of them rebuilds only these objects.
HELPER_DIR ?= $(BUILD)/setuid-helper
HELPER ?= $(BUILD)/container-executor
HELPER_OBJS := $(addprefix $(HELPER_DIR)/, main.o hygiene.o config.o passwd.o accounts.o path.o cgroup.o \
	devices.o network.o program.o sandbox.o directories.o init.o launch.o monitor.o operations.o \
	request.o)
HELPER_CFLAGS := $(CSTD) $(WARN) -O2 -g -fPIE $(HARDEN_BASE) $(FORTIFY) \
	$(if $(SANITIZE),-fsanitize=undefined $(or $(call cc_flag,-fsanitize-trap=undefined),-fsanitize-undefined-trap-on-error))
HELPER_PATHS := -DEXECUTOR_CONF='"$(EXECUTOR_CONF)"' -DLIBEXECDIR='"$(LIBEXECDIR)"'

$(HELPER_DIR)/paths.stamp: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$(EXECUTOR_CONF) $(LIBEXECDIR)" | cmp -s - $@ || \
		printf '%s\n' "$(EXECUTOR_CONF) $(LIBEXECDIR)" >$@
FORCE:
.PHONY: FORCE

$(HELPER_OBJS): CFLAGS := $(HELPER_CFLAGS)
$(HELPER_OBJS): CPPFLAGS := -D_GNU_SOURCE -I. $(HELPER_PATHS)
$(HELPER_OBJS): $(HELPER_DIR)/paths.stamp
$(HELPER_DIR)/request.o: executor/request.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(HELPER_DIR)/%.o: setuid-helper/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(HELPER): $(HELPER_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(HELPER_CFLAGS) -static-pie -Wl,-z,relro,-z,now,-z,noexecstack -o $@ \
		$(HELPER_OBJS) -lcap

$(BUILD)/user-lookup: $(BUILD)/setuid-helper/user-lookup.o
	$(call link,)

PROGRAMS += $(HELPER) $(BUILD)/user-lookup

# The parsers once more, with the flags of the tests (sanitizers, fuzzing).
HELPER_TEST_OBJS := $(addprefix $(BUILD)/setuid-helper/test/, config.o passwd.o)
$(BUILD)/setuid-helper/test/%.o: setuid-helper/%.c | $$(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(HELPER_PATHS) -MMD -MP -c -o $@ $<
UNIT_TESTS += test-helper-config
test-helper-config_DEPS := $(HELPER_TEST_OBJS)
FUZZ_TARGETS += fuzz-executor-config
fuzz-executor-config_DEPS := $(HELPER_TEST_OBJS)

# What the lane runs inside containers: no library, nothing of the host is needed.
$(addprefix $(BUILD)/tests/integration/,probe fake-lookup): $(BUILD)/tests/integration/%: \
		tests/integration/%.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) -Wall -Wextra -O1 -D_GNU_SOURCE -static -o $@ $<
TEST_PROGRAMS += $(addprefix $(BUILD)/tests/integration/,probe fake-lookup)
