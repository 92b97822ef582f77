# selvedge-nodemanager: the daemon. Everything but main is an archive, so that tests link it too.
NODEMANAGER_PKGS := sqlite3 jansson
CFLAGS_nodemanager := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(NODEMANAGER_PKGS)) \
	-DLIBEXECDIR='"$(LIBEXECDIR)"'
NODEMANAGER_A := $(BUILD)/libselvedge-nodemanager.a
NODEMANAGER_OBJS := $(addprefix $(BUILD)/nodemanager/, application.o assignments.o audit_logger.o conf.o \
	container.o container_diagnostics.o container_env.o container_launch.o container_manager.o \
	container_start.o container_update.o containers_monitor.o deletion_service.o elastic_memory.o finished_containers.o gpu_discovery.o \
	local_dirs.o localization.o localization_records.o log_handler.o mcs.o mount_watch.o nm.o nm_web.o \
	nm_web_logs.o node_status_updater.o numa.o recently_stopped.o recovery.o resource_limits.o state_store.o state_store_schema.o \
	token_secret_managers.o)
NODEMANAGER_LDLIBS = $(shell $(PKGCONFIG) --libs $(NODEMANAGER_PKGS))
$(NODEMANAGER_A): $(NODEMANAGER_OBJS)
LIBS += $(NODEMANAGER_A)

# The localizer's archive knows no parser of archives: those stay in container-localizer.
$(BUILD)/selvedge-nodemanager: $(BUILD)/nodemanager/main.o $(NODEMANAGER_A) $(LOCALIZER_A) \
		$(EXECUTOR_A) $(CGROUPS_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(NODEMANAGER_LDLIBS) $(WIRE_LDLIBS) $(CGROUPS_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-nodemanager

# Plays the ResourceManager and ApplicationMasters around a NodeManager, for tests and the bench.
$(BUILD)/tests/integration/nm-driver: $(addprefix $(BUILD)/tests/integration/,nm-driver.o nm-driver-rm.o \
		nm-driver-am.o nm-hostile.o) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson))
TEST_PROGRAMS += $(BUILD)/tests/integration/nm-driver

NODEMANAGER_TESTS := test-nm-conf test-nm-dirs test-nm-store test-nm-secrets test-nm-machines test-nm-memory test-nm-assign test-nm-mcs test-nm-mounts test-nm-deletion
UNIT_TESTS += $(NODEMANAGER_TESTS)
$(foreach t,$(NODEMANAGER_TESTS),$(eval $(t)_DEPS := $(NODEMANAGER_A) $(WIRE_A) $(COMMON_A))\
	$(eval $(t)_LDLIBS = $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS)))
test-nm-memory_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(WIRE_A) $(COMMON_A)
test-nm-memory_LDLIBS = $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)
test-nm-mcs_DEPS := $(NODEMANAGER_A) $(EXECUTOR_A) $(WIRE_A) $(COMMON_A)
test-nm-deletion_DEPS := $(BUILD)/nodemanager/deletion_service.o $(WIRE_A) $(COMMON_A)
