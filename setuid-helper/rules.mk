# The privileged side: container-executor, setuid, and container-prepare, which it runs as root where
# root's configuration has changed. Static-PIE: a libc alone, no loader, no NSS. The paths of
# configuration, state and programs are compiled in; a change of them rebuilds only these objects.
HELPER_DIR ?= $(BUILD)/setuid-helper
HELPER ?= $(BUILD)/container-executor
HELPER_OBJS := $(addprefix $(HELPER_DIR)/, main.o fail.o request-socket.o policy-load.o sanitize.o policy.o accounts.o path.o cgroup.o \
	devices.o network.o run-program.o sandbox.o account-tables.o mounts.o directories.o init.o label.o launch.o operations.o \
	request.o)
HELPER_SOURCES := $(HELPER_OBJS:$(HELPER_DIR)/%.o=setuid-helper/%.c)
HELPER_SOURCES := $(HELPER_SOURCES:setuid-helper/request.c=executor/request.c)
# What it has made for it: root's configuration, in the form that it reads.
PREPARE ?= $(dir $(HELPER))container-prepare
PREPARE_OBJS := $(addprefix $(HELPER_DIR)/, prepare.o fail.o policy-compile.o device-code.o connect-rules.o connect-code.o devices.o attached-filters.o persistent-filters.o connect-filter.o config.o policy.o \
	passwd.o path.o mounts.o root-template.o)
# Those in which a path or POLICY_ID is compiled; the tests' helpers have these of their own and share the others.
HELPER_PATH_NAMES := main.o path.o policy.o init.o sandbox.o prepare.o policy-compile.o root-template.o
# What it becomes beside a container, without privilege: executed in every launch, so small and static like it.
HANDOFF_OBJS := $(addprefix $(BUILD)/setuid-helper/handoff/, container-monitor.o container-init.o init-sessions.o request.o)
HELPER_CFLAGS := $(CSTD) $(WARN) -O2 -g -ffile-prefix-map=$(CURDIR)=. -fPIE $(HARDEN_BASE) $(FORTIFY) \
	$(if $(SANITIZE),-fsanitize=undefined $(or $(call cc_flag,-fsanitize-trap=undefined),-fsanitize-undefined-trap-on-error))
# musl, where it is installed (packaging/deps-*): a start by glibc asks the processor what it is some
# forty times, which costs half a millisecond where that traps into a hypervisor (ADR 12).
MUSL_LIB ?= $(patsubst %/rcrt1.o,%,$(firstword $(wildcard $(SYSROOT)/usr/lib/$(MACHINE)-linux-musl/rcrt1.o \
	$(SYSROOT)/usr/$(MACHINE)-linux-musl/lib*/rcrt1.o)))
MUSL_INCLUDE ?= $(firstword $(wildcard $(SYSROOT)/usr/include/$(MACHINE)-linux-musl $(SYSROOT)/usr/$(MACHINE)-linux-musl/include))
HELPER_LDFLAGS := -static-pie -Wl,-z,relro,-z,now,-z,noexecstack
ifneq ($(MUSL_LIB),)
HELPER_LIBC := -nostdinc -isystem $(MUSL_INCLUDE) -isystem $(shell $(CC) -print-file-name=include) \
	-idirafter $(SYSROOT)/usr/include -idirafter $(SYSROOT)/usr/include/$(MACHINE)-linux-gnu
HELPER_LDFLAGS += -nostdlib $(MUSL_LIB)/rcrt1.o $(MUSL_LIB)/crti.o
HELPER_LDLIBS := $(MUSL_LIB)/libc.a $(shell $(CC) -print-libgcc-file-name) $(MUSL_LIB)/crtn.o
endif
# Both programs must mean the same bytes by a policy.
POLICY_ID := $(shell cat setuid-helper/policy.h setuid-helper/lookup.h executor/network.h executor/request.h | cksum | cut -d' ' -f1)
HELPER_PATHS := -DEXECUTOR_CONF='"$(EXECUTOR_CONF)"' -DLIBEXECDIR='"$(LIBEXECDIR)"' \
	-DEXECUTOR_STATE='"$(EXECUTOR_STATE)"' -DHLP_POLICY_ID=$(POLICY_ID)u

HELPER_TEXT := $(EXECUTOR_CONF) $(LIBEXECDIR) $(EXECUTOR_STATE) $(POLICY_ID) $(HELPER_LIBC) \
	$(subst $(CURDIR),.,$(filter-out ccache,$(CC)) $(HELPER_CFLAGS))
$(HELPER_DIR)/paths.stamp: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(HELPER_TEXT)' | cmp -s - $@ || printf '%s\n' '$(HELPER_TEXT)' >$@
FORCE:
.PHONY: FORCE

$(sort $(HELPER_OBJS) $(PREPARE_OBJS)) $(HANDOFF_OBJS): CFLAGS := $(HELPER_CFLAGS)
$(sort $(HELPER_OBJS) $(PREPARE_OBJS)): CPPFLAGS := -D_GNU_SOURCE -I. $(HELPER_LIBC)
$(addprefix $(HELPER_DIR)/,$(HELPER_PATH_NAMES)): CPPFLAGS += $(HELPER_PATHS)
$(HANDOFF_OBJS): CPPFLAGS := -D_GNU_SOURCE -I. $(HELPER_LIBC)
$(sort $(HELPER_OBJS) $(PREPARE_OBJS)): $(HELPER_DIR)/paths.stamp
$(HELPER_DIR)/request.o: executor/request.c $$(FLAGS_STAMP)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(HELPER_DIR)/%.o: setuid-helper/%.c $$(FLAGS_STAMP)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(HELPER): $(HELPER_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(HELPER_CFLAGS) $(HELPER_LDFLAGS) -o $@ $(HELPER_OBJS) $(HELPER_LDLIBS)
$(PREPARE): $(PREPARE_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) $(HELPER_CFLAGS) $(HELPER_LDFLAGS) -o $@ $(PREPARE_OBJS) $(HELPER_LDLIBS)

$(BUILD)/setuid-helper/handoff/%.o: setuid-helper/%.c $$(FLAGS_STAMP)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/setuid-helper/handoff/request.o: executor/request.c $$(FLAGS_STAMP)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/container-monitor: $(BUILD)/setuid-helper/handoff/request.o
$(BUILD)/container-init: $(BUILD)/setuid-helper/handoff/init-sessions.o
$(BUILD)/container-monitor $(BUILD)/container-init: $(BUILD)/%: $(BUILD)/setuid-helper/handoff/%.o
	$(call say,LD,$@)
	$(Q)$(CC) $(HELPER_CFLAGS) $(HELPER_LDFLAGS) -o $@ $(filter %.o,$^) $(HELPER_LDLIBS)

$(BUILD)/user-lookup: $(BUILD)/setuid-helper/user-lookup.o
	$(call link,)

PROGRAMS += $(HELPER) $(PREPARE) $(BUILD)/container-monitor $(BUILD)/container-init $(BUILD)/user-lookup

# The parsers once more, with the flags of the tests (sanitizers, fuzzing).
HELPER_TEST_A := $(BUILD)/setuid-helper/test/parsers.a
$(HELPER_TEST_A): $(addprefix $(BUILD)/setuid-helper/test/, config.o policy-compile.o device-code.o connect-rules.o connect-code.o policy.o passwd.o path.o)
$(BUILD)/setuid-helper/test/%.o: setuid-helper/%.c $$(FLAGS_STAMP) | $$(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(HELPER_PATHS) -MMD -MP -c -o $@ $<
UNIT_LINK_setuid-helper = $(HELPER_TEST_A)
$(BUILD)/tests/fuzz/fuzz-executor-policy.o: CPPFLAGS += -DHLP_POLICY_ID=$(POLICY_ID)u

# Programs that the integration suite runs inside containers: static, nothing of the host is needed.
$(addprefix $(BUILD)/tests/integration/setuid-helper/,probe reach connector fake-lookup): $(BUILD)/%: \
		%.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) -Wall -Wextra -O1 -D_GNU_SOURCE -I. -static -o $@ $<
$(BUILD)/tests/integration/setuid-helper/fake-lookup: setuid-helper/lookup.h
TEST_PROGRAMS += $(addprefix $(BUILD)/tests/integration/setuid-helper/,probe reach connector fake-lookup)
