# The unprivileged side of a container, and the system call filters that the helper loads.
EXECUTOR_A := $(BUILD)/libselvedge-executor.a
EXECUTOR_OBJS := $(addprefix $(BUILD)/executor/, request.o script.o marks.o failure.o call.o exe.o container.o operations.o)
$(EXECUTOR_A): $(EXECUTOR_OBJS)
LIBS += $(EXECUTOR_A)
CFLAGS_executor := $(CFLAGS_common)

SECCOMP_LDLIBS := $(shell $(PKGCONFIG) --libs libseccomp)
$(BUILD)/executor/seccomp/compile: $(BUILD)/executor/seccomp/compile.o
	$(call link,$(SECCOMP_LDLIBS))
SECCOMP_FILTERS := $(addprefix $(BUILD)/seccomp/, strict.bpf localizer.bpf monitor.bpf)
$(BUILD)/seccomp/%.bpf: executor/seccomp/%.policy $(BUILD)/executor/seccomp/compile
	$(call say,POLICY,$<)
	@mkdir -p $(@D)
	$(Q)$(BUILD)/executor/seccomp/compile $< $@
PROGRAMS += $(SECCOMP_FILTERS)

EXECUTOR_LDLIBS = $(CGROUPS_LDLIBS) $(COMMON_LDLIBS)
UNIT_TESTS += test-request test-script test-cgroup
test-request_DEPS := $(BUILD)/executor/request.o
test-script_DEPS := $(EXECUTOR_A) $(COMMON_A)
test-script_LDLIBS := $(COMMON_LDLIBS)
test-cgroup_DEPS := $(CGROUPS_A) $(COMMON_A)
test-cgroup_LDLIBS := $(CGROUPS_LDLIBS) $(COMMON_LDLIBS)
FUZZ_TARGETS += fuzz-request
fuzz-request_DEPS := $(BUILD)/executor/request.o
$(BUILD)/tests/bench/launch: $(BUILD)/tests/bench/launch.o $(EXECUTOR_A) $(CGROUPS_A) $(COMMON_A)
	$(call link,$(EXECUTOR_LDLIBS))
