# selvedge-nodemanager: the daemon. Everything but main is an archive, so that tests link it too.
NODEMANAGER_PKGS := sqlite3 jansson
CFLAGS_nodemanager := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(NODEMANAGER_PKGS)) \
	-DLIBEXECDIR='"$(LIBEXECDIR)"'
NODEMANAGER_A := $(BUILD)/libselvedge-nodemanager.a
NODEMANAGER_OBJS := $(addprefix $(BUILD)/nodemanager/, application.o assignments.o audit-logger.o conf.o \
	container.o container-diagnostics.o container-env.o container-launch.o container-manager.o \
	container-start.o container-update.o containers-monitor.o deletion-service.o elastic-memory.o finished-containers.o gpu-discovery.o \
	local-dirs.o localization.o localization-records.o log-handler.o mcs.o mount-watch.o nm.o nm-web.o \
	nm-web-logs.o node-status-updater.o numa.o recently-stopped.o recovery.o resource-limits.o state-store.o state-store-schema.o \
	token-secret-managers.o)
NODEMANAGER_LDLIBS = $(shell $(PKGCONFIG) --libs $(NODEMANAGER_PKGS))
$(NODEMANAGER_A): $(NODEMANAGER_OBJS)
LIBS += $(NODEMANAGER_A)

# The localizer's archive knows no parser of archives: those stay in container-localizer.
$(BUILD)/selvedge-nodemanager: $(BUILD)/nodemanager/main.o $(NODEMANAGER_A) $(LOCALIZER_A) \
		$(EXECUTOR_A) $(CGROUPS_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(NODEMANAGER_LDLIBS) $(WIRE_LDLIBS) $(CGROUPS_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-nodemanager

# Plays the ResourceManager and ApplicationMasters around a NodeManager, for tests and the bench.
$(BUILD)/tests/integration/nodemanager/nm-driver: $(addprefix $(BUILD)/tests/integration/nodemanager/,nm-driver.o nm-driver-rm.o \
		nm-driver-am.o nm-hostile.o) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson))
TEST_PROGRAMS += $(BUILD)/tests/integration/nodemanager/nm-driver

NODEMANAGER_TESTS := nodemanager/test-conf nodemanager/test-local-dirs nodemanager/test-state-store nodemanager/test-token-secret-managers nodemanager/test-state-machines nodemanager/test-memory nodemanager/test-assignments nodemanager/test-mcs nodemanager/test-mount-watch nodemanager/test-deletion-service
UNIT_TESTS += $(NODEMANAGER_TESTS)
$(foreach t,$(NODEMANAGER_TESTS),$(eval $(t)_DEPS := $(NODEMANAGER_A) $(WIRE_A) $(COMMON_A))\
	$(eval $(t)_LDLIBS = $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS)))
nodemanager/test-memory_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(WIRE_A) $(COMMON_A)
nodemanager/test-memory_LDLIBS = $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)
nodemanager/test-mcs_DEPS := $(NODEMANAGER_A) $(EXECUTOR_A) $(WIRE_A) $(COMMON_A)
nodemanager/test-deletion-service_DEPS := $(BUILD)/nodemanager/deletion-service.o $(WIRE_A) $(COMMON_A)
