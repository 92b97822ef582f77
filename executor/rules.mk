# The unprivileged side of a container, and the system call filters that the helper loads.
EXECUTOR_A := $(BUILD)/libselvedge-executor.a
EXECUTOR_OBJS := $(addprefix $(BUILD)/executor/, request.o helper-protocol.o script.o marks.o failure.o helper-spawn.o helper-socket.o helper-client.o exe.o first-check.o container.o door.o exe-session.o operations.o policy-check.o localizer-process.o network-plan.o)
$(EXECUTOR_A): $(EXECUTOR_OBJS)
LIBS += $(EXECUTOR_A)
CFLAGS_executor := $(CFLAGS_common)

SECCOMP_LDLIBS := $(shell $(PKGCONFIG) --libs libseccomp)
FILTERS_A := $(BUILD)/libselvedge-filters.a
$(FILTERS_A): $(addprefix $(BUILD)/executor/seccomp/, tree.o prove.o)
$(BUILD)/executor/seccomp/compile: $(BUILD)/executor/seccomp/compile.o $(FILTERS_A)
	$(call link,$(SECCOMP_LDLIBS))
# A cross build takes the compiler of a native one, and names the architecture.
SECCOMP_COMPILE ?= $(BUILD)/executor/seccomp/compile
SECCOMP_ARCH ?=
SECCOMP_FILTERS := $(addprefix $(BUILD)/seccomp/, strict.bpf hadoop.bpf localizer.bpf monitor.bpf)
$(BUILD)/seccomp/strict.bpf $(BUILD)/seccomp/hadoop.bpf: executor/seccomp/common.policy
$(BUILD)/seccomp/%.bpf: executor/seccomp/%.policy $(SECCOMP_COMPILE)
	$(call say,POLICY,$<)
	@mkdir -p $(@D)
	$(Q)$(SECCOMP_COMPILE) $< $@ $(SECCOMP_ARCH)
PROGRAMS += $(SECCOMP_FILTERS)

# Executed by the helper as the user: static like it, so that it starts at once.
$(BUILD)/container-delete $(BUILD)/container-signal $(BUILD)/container-link: $(BUILD)/%: $(BUILD)/executor/%.o $(BUILD)/executor/job-user.o $(BUILD)/executor/request.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(if $(LDSAN),$(LDFLAGS),-static-pie $(filter-out -pie,$(LDFLAGS))) -o $@ $^
PROGRAMS += $(BUILD)/container-delete $(BUILD)/container-signal $(BUILD)/container-link
$(BUILD)/tests/unit/executor/test-container-delete: $(BUILD)/executor/job-user.o

EXECUTOR_LDLIBS = $(CGROUPS_LDLIBS) $(COMMON_LDLIBS)
UNIT_LINK_executor = $(FILTERS_A) $(EXECUTOR_A) $(CGROUPS_A) $(COMMON_A)
UNIT_LDLIBS_executor = $(EXECUTOR_LDLIBS)

# In the container, as the job's user: its first program, and what a launch script executes where that leaves the script to
# bash. Static and with the helper's libc, whose start is cheap. The variables are those of setuid-helper/rules.mk.
START_OBJS := $(addprefix $(BUILD)/executor/, container-start.o start-script.o start-command.o debug-info.o)
$(START_OBJS) $(BUILD)/executor/container-debug-info.o: CPPFLAGS = -D_GNU_SOURCE -I. $(HELPER_LIBC)
$(START_OBJS) $(BUILD)/executor/container-debug-info.o: CFLAGS = $(HELPER_CFLAGS)
$(BUILD)/container-start: $(START_OBJS)
$(BUILD)/container-debug-info: $(BUILD)/executor/container-debug-info.o $(BUILD)/executor/debug-info.o
$(BUILD)/container-start $(BUILD)/container-debug-info:
	$(call say,LD,$@)
	$(Q)$(CC) $(HELPER_CFLAGS) $(HELPER_LDFLAGS) -o $@ $^ $(HELPER_LDLIBS)
PROGRAMS += $(BUILD)/container-start $(BUILD)/container-debug-info
# They run the programs.
$(BUILD)/tests/unit/executor/test-script: $(BUILD)/container-debug-info
$(BUILD)/tests/unit/executor/test-container-start: $(BUILD)/container-start $(BUILD)/container-debug-info

# Private networks, started by the helper (executor/network.h).
NETWORK_OBJS := $(addprefix $(BUILD)/executor/, network-main.o network-plan.o network-link.o network-shape.o network-share.o)
NETWORK_CFLAGS := $(shell $(PKGCONFIG) --cflags libnl-3.0 libnl-route-3.0)
$(NETWORK_OBJS): CFLAGS += $(NETWORK_CFLAGS)
$(BUILD)/container-network: $(NETWORK_OBJS)
	$(call link,$(shell $(PKGCONFIG) --libs libnl-3.0 libnl-route-3.0 libcap))
PROGRAMS += $(BUILD)/container-network
$(BUILD)/tests/integration/executor/launch-life: $(BUILD)/tests/integration/executor/launch-life.o $(EXECUTOR_A) $(CGROUPS_A) $(COMMON_A)
	$(call link,$(EXECUTOR_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/executor/launch-life
