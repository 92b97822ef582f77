# The privileged side. One program, static-PIE: libc and libcap, no loader, no NSS. Its configuration
# and helper paths are compiled in; a change of them rebuilds only these objects.
HELPER_DIR ?= $(BUILD)/setuid-helper
HELPER ?= $(BUILD)/container-executor
HELPER_OBJS := $(addprefix $(HELPER_DIR)/, main.o hygiene.o config.o accounts.o path.o cgroup.o \
	sandbox.o init.o launch.o monitor.o operations.o remove.o request.o)
HELPER_CFLAGS := $(CSTD) $(WARN) -O2 -g -fPIE -fstack-protector-strong -fcf-protection \
	-fstack-clash-protection -ftrivial-auto-var-init=zero -U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=$(if $(findstring clang,$(CC)),2,3) \
	$(if $(SANITIZE),-fsanitize=undefined -fsanitize-trap=undefined)
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
