# selvedge-nodemanager, the daemon. All objects but main.o are in an archive, which tests link too.
NODEMANAGER_PKGS := sqlite3 jansson
CFLAGS_nodemanager := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(NODEMANAGER_PKGS)) \
	-DLIBEXECDIR='"$(LIBEXECDIR)"'
NODEMANAGER_A := $(BUILD)/libselvedge-nodemanager.a
# Folders in layer order, which tests/tools/check-includes checks.
NODEMANAGER_FOLDERS := $(addprefix nodemanager/, conf store health labels core resources services logs aux-services launch rm amrmproxy federation fsm am exec web dbus)
$(BUILD)/nodemanager/conf/conf-unit.o $(BUILD)/nodemanager/conf/conf-sandbox.o: CPPFLAGS += -DUNIT_ENVIRONMENT='"$(SYSCONFDIR)/default/selvedge-nodemanager"'
$(BUILD)/nodemanager/conf/conf-shown.o: CPPFLAGS += -DEXECUTOR_CONF='"$(EXECUTOR_CONF)"'
NODEMANAGER_OBJS := $(filter-out %/main.o,$(call objects,$(NODEMANAGER_FOLDERS) nodemanager))
NODEMANAGER_LDLIBS = $(shell $(PKGCONFIG) --libs $(NODEMANAGER_PKGS))
$(NODEMANAGER_A): $(NODEMANAGER_OBJS)
LIBS += $(NODEMANAGER_A)

# The archive parsers of the localizer are linked into container-localizer alone.
NODEMANAGER_DEPS = $(NODEMANAGER_A) $(FED_A) $(LOGS_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(FS_A) $(HDFS_A) $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
NODEMANAGER_ALL_LDLIBS = $(NODEMANAGER_LDLIBS) $(WIRE_LDLIBS) $(CGROUPS_LDLIBS)
$(BUILD)/selvedge-nodemanager: $(BUILD)/nodemanager/main.o $(NODEMANAGER_DEPS)
	$(call link,$(NODEMANAGER_ALL_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-nodemanager

# Runs auxiliary services that are classes of Java; built where there is a compiler of it.
ifneq ($(shell command -v javac),)
BRIDGE_SOURCES := $(addprefix nodemanager/aux-services/bridge/,JavaService.java Json.java KnownApplications.java)
# The same bytes each time, where this jar knows how (since 17).
JAR_DATE = $(shell jar --help 2>&1 | grep -q -e '--date=' && echo --date=2000-01-01T00:00:00Z)
$(BUILD)/selvedge-java-service.jar: $(BRIDGE_SOURCES)
	@echo "  JAVAC  $@"
	$(Q)rm -rf $@.classes && mkdir -p $@.classes && javac --release 8 -Xlint:-options -d $@.classes $(BRIDGE_SOURCES) && \
		(cd $@.classes && find . -name '*.class' | LC_ALL=C sort) > $@.list && cd $@.classes && \
		jar --create --file $(abspath $@) $(JAR_DATE) @$(abspath $@).list
PROGRAMS += $(BUILD)/selvedge-java-service.jar
endif

# Fake ResourceManager and ApplicationMasters around a NodeManager, for tests and the benchmark.
$(BUILD)/tests/integration/nodemanager/nm-driver: $(addprefix $(BUILD)/tests/integration/nodemanager/,nm-driver.o nm-driver-rm.o \
		nm-driver-am.o nm-driver-bench.o nm-driver-labels.o nm-driver-largest.o nm-hostile.o) $(LARGEST_OBJ) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson))
TEST_PROGRAMS += $(BUILD)/tests/integration/nodemanager/nm-driver

# An unmanaged master at a ResourceManager with Kerberos, for tests/integration/rm-lite/test-kerberos-rm.
$(BUILD)/tests/integration/nodemanager/uam-kerberos: $(BUILD)/tests/integration/nodemanager/uam-kerberos.o $(NODEMANAGER_DEPS)
	$(call link,$(NODEMANAGER_ALL_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/nodemanager/uam-kerberos

# A caller on the bus that floods, lies and leaves.
$(BUILD)/tests/integration/nodemanager/bus-client: $(BUILD)/tests/integration/nodemanager/bus-client.o
	$(call link,$(shell $(PKGCONFIG) --libs libsystemd))
TEST_PROGRAMS += $(BUILD)/tests/integration/nodemanager/bus-client

UNIT_LINK_nodemanager = $(NODEMANAGER_DEPS)
UNIT_LDLIBS_nodemanager = $(NODEMANAGER_ALL_LDLIBS)
# Functions that a test has in the place of the product's.
nodemanager/dbus/test-bus-list_WRAP := cg_demanded
nodemanager/dbus/test-bus-signals_WRAP := cg_demanded nm_health_report nm_updater_registered
nodemanager/resources/test-set-limit_WRAP := cg_root_policy cg_root_controllers cg_leaf_set_limits cg_leaf_usage exe_container_cgroup
nodemanager/aux-services/test-aux-service_WRAP := sd_event_source_set_time_relative
nodemanager/logs/test-log-aggregation_WRAP := exe_localizer_start exe_localizer_free nm_dirs_log_usable nm_deletion_app_logs
nodemanager/logs/test-log-credentials_WRAP := $(nodemanager/logs/test-log-aggregation_WRAP)
nodemanager/web/test-nm-web-logs_WRAP := readdir sv_open_beneath pread sd_event_add_time_relative
nodemanager/core/test-container-diagnostics_WRAP := readdir
nodemanager/core/test-log-size_WRAP := readdir sv_open_beneath
nodemanager/resources/test-virtual-memory_WRAP := exe_container_cgroup cg_leaf_dir nm_container_kill nm_process_sizes
nodemanager/resources/test-log-monitor_WRAP := nm_container_kill nm_log_size_turn
nodemanager/health/test-log-disks_WRAP := sd_event_add_time_relative
nodemanager/test-reload_WRAP := getpwnam getpwuid_r getaddrinfo
nodemanager/resources/test-container-scheduler_WRAP := nm_container_post nm_container_kill sv_loop_spent_ms
nodemanager/resources/test-container-pauses_WRAP := nm_container_post nm_container_kill sv_loop_spent_ms
nodemanager/rm/test-rm-login_WRAP := sgss_daemon_state sd_notifyf
nodemanager/launch/test-share-wait_WRAP := nm_store_after_commit
nodemanager/services/test-localization-credentials_WRAP := nm_hdfs_tokens_new nm_hdfs_tokens_get nm_hdfs_tokens_refused sgss_service_init \
	nm_container_find nm_credentials_of
