# selvedge-nodemanager, the daemon. All objects but main.o are in an archive, which tests link too.
NODEMANAGER_PKGS := sqlite3 jansson
CFLAGS_nodemanager := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(NODEMANAGER_PKGS)) \
	-DLIBEXECDIR='"$(LIBEXECDIR)"'
NODEMANAGER_A := $(BUILD)/libselvedge-nodemanager.a
# Folders in layer order, which tests/tools/check-includes checks.
NODEMANAGER_CONF_OBJS := $(addprefix $(BUILD)/nodemanager/, conf.o conf-address.o conf-aux-services.o conf-directories.o conf-hadoop-keys.o conf-isolation.o conf-launch.o \
	conf-limits.o conf-localizer.o conf-node.o conf-s3.o conf-refused.o conf-logs.o conf-unit.o conf-unread.o)
$(BUILD)/nodemanager/conf-unit.o: CPPFLAGS += -DUNIT_ENVIRONMENT='"$(SYSCONFDIR)/default/selvedge-nodemanager"'
NODEMANAGER_OBJS := $(NODEMANAGER_CONF_OBJS) $(addprefix $(BUILD)/nodemanager/, \
	$(addprefix store/, state-store.o state-store-open.o state-store-read.o state-store-schema.o \
		state-store-statements.o state-store-write.o localization-records.o) \
	$(addprefix health/, dir-probe.o launch-failures.o local-dirs.o mount-watch.o node-health.o) \
	$(addprefix core/, application.o audit-logger.o container.o container-diagnostics.o container-paths.o system-credentials.o \
		container-status.o context.o recently-stopped.o token-secret-managers.o) \
	$(addprefix resources/, assignments.o container-resize.o containers-monitor.o elastic-memory.o gpu-discovery.o \
		mcs.o numa.o resource-limits.o set-limit.o) \
	$(addprefix services/, deletion-service.o deletion-own-dirs.o finished-containers.o localization.o \
		localization-request.o localization-process.o localization-source.o localization-store.o log-handler.o) \
	$(addprefix logs/, log-aggregation.o log-failures.o log-policy.o log-process.o log-remote.o log-reports.o log-rolling.o log-uploads.o) \
	$(addprefix aux-services/, aux-conf.o aux-connect.o aux-data.o aux-events.o aux-frame.o aux-log.o aux-outbox.o aux-process.o \
		aux-service.o aux-services.o) \
	$(addprefix launch/, container-cleanup.o container-env.o container-launch.o) \
	$(addprefix rm/, heartbeat.o node-status.o node-status-updater.o registration.o rm-session.o) \
	$(addprefix fsm/, application-fsm.o container-fsm.o) \
	$(addprefix am/, cm-reply.o container-manager.o start-containers.o update-container.o) \
	$(addprefix dbus/, bus.o bus-application.o bus-auth.o bus-call.o bus-caller.o bus-container.o bus-container-methods.o bus-introspect.o bus-list.o bus-node.o bus-node-methods.o \
		bus-object.o bus-path.o bus-signals.o bus-values.o) \
	$(addprefix web/, live.o localization-json.o nm-metrics.o nm-web.o nm-web-logs.o log-frame.o log-server.o page-apps.o page-container.o page-frame.o page-logs.o page-node.o page-route.o uploads-json.o web-access.o web-reply.o) \
	recovery.o reload.o nm.o) $(BUILD)/logs/upload-request.o $(BUILD)/logs/web-url.o
NODEMANAGER_LDLIBS = $(shell $(PKGCONFIG) --libs $(NODEMANAGER_PKGS))
$(NODEMANAGER_A): $(NODEMANAGER_OBJS)
LIBS += $(NODEMANAGER_A)

# The archive parsers of the localizer are linked into container-localizer alone.
$(BUILD)/selvedge-nodemanager: $(BUILD)/nodemanager/main.o $(NODEMANAGER_A) $(LOCALIZER_A) \
		$(EXECUTOR_A) $(CGROUPS_A) $(HDFS_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(NODEMANAGER_LDLIBS) $(WIRE_LDLIBS) $(CGROUPS_LDLIBS))
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
		nm-driver-am.o nm-hostile.o) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson))
TEST_PROGRAMS += $(BUILD)/tests/integration/nodemanager/nm-driver

# A caller on the bus that floods, lies and leaves.
$(BUILD)/tests/integration/nodemanager/bus-client: $(BUILD)/tests/integration/nodemanager/bus-client.o
	$(call link,$(shell $(PKGCONFIG) --libs libsystemd))
TEST_PROGRAMS += $(BUILD)/tests/integration/nodemanager/bus-client

NODEMANAGER_TESTS := $(addprefix nodemanager/, aux-services/test-aux-conf aux-services/test-aux-frame aux-services/test-aux-data aux-services/test-aux-outbox aux-services/test-aux-service \
	test-conf test-conf-unit test-reload store/test-state-store health/test-local-dirs \
	health/test-launch-failures health/test-mount-watch health/test-node-health core/test-container core/test-context core/test-system-credentials core/test-token-secret-managers \
	dbus/test-bus-list dbus/test-bus-signals \
	resources/test-assignments resources/test-elastic-memory resources/test-mcs resources/test-numa resources/test-set-limit \
	logs/test-log-aggregation logs/test-log-policy services/test-deletion-service services/test-localization-source launch/test-container-cleanup launch/test-container-env fsm/test-state-machines \
	web/test-nm-web-logs web/test-log-frame web/test-log-server)
UNIT_TESTS += $(NODEMANAGER_TESTS)
$(foreach t,$(NODEMANAGER_TESTS),$(eval $(t)_DEPS := $(NODEMANAGER_A) $(HDFS_A) $(WIRE_A) $(COMMON_A))\
	$(eval $(t)_LDLIBS = $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS)))
$(foreach t,resources/test-elastic-memory resources/test-numa launch/test-container-env,\
	$(eval nodemanager/$(t)_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) \
	$(EXECUTOR_A) $(CGROUPS_A) $(HDFS_A) $(WIRE_A) $(COMMON_A))\
	$(eval nodemanager/$(t)_LDLIBS = $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)))
nodemanager/dbus/test-bus-list_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(HDFS_A) $(WIRE_A) $(COMMON_A)
nodemanager/dbus/test-bus-list_LDLIBS = -Wl,--wrap=cg_demanded $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)
nodemanager/dbus/test-bus-signals_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(HDFS_A) $(WIRE_A) $(COMMON_A)
nodemanager/dbus/test-bus-signals_LDLIBS = -Wl,--wrap=cg_demanded,--wrap=nm_health_report,--wrap=nm_updater_registered $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)
nodemanager/resources/test-set-limit_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(HDFS_A) $(WIRE_A) $(COMMON_A)
nodemanager/resources/test-set-limit_LDLIBS = -Wl,--wrap=cg_root_policy,--wrap=cg_root_controllers,--wrap=cg_leaf_set_limits \
	-Wl,--wrap=cg_leaf_usage,--wrap=exe_container_cgroup $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)
nodemanager/resources/test-mcs_DEPS := $(NODEMANAGER_A) $(EXECUTOR_A) $(HDFS_A) $(WIRE_A) $(COMMON_A)
nodemanager/services/test-localization-source_DEPS := $(addprefix $(BUILD)/nodemanager/,services/localization-source.o conf-s3.o) $(HDFS_A) $(LOCALIZER_A) $(WIRE_A) $(COMMON_A)
nodemanager/core/test-system-credentials_DEPS := $(BUILD)/nodemanager/core/system-credentials.o $(WIRE_A) $(COMMON_A)
nodemanager/services/test-deletion-service_DEPS := $(BUILD)/nodemanager/services/deletion-service.o $(BUILD)/nodemanager/services/deletion-own-dirs.o $(WIRE_A) $(COMMON_A)
nodemanager/aux-services/test-aux-service_LDLIBS = -Wl,--wrap=sd_event_source_set_time_relative $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS)
nodemanager/logs/test-log-aggregation_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(HDFS_A) $(WIRE_A) $(COMMON_A)
nodemanager/logs/test-log-aggregation_LDLIBS = -Wl,--wrap=exe_localizer_start,--wrap=exe_localizer_free,--wrap=nm_dirs_log_usable \
	-Wl,--wrap=nm_deletion_app_logs $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)
nodemanager/web/test-nm-web-logs_DEPS := $(NODEMANAGER_A) $(LOCALIZER_A) $(EXECUTOR_A) $(CGROUPS_A) $(HDFS_A) $(WIRE_A) $(COMMON_A)
nodemanager/web/test-nm-web-logs_LDLIBS = -Wl,--wrap=readdir $(WIRE_LDLIBS) $(NODEMANAGER_LDLIBS) $(CGROUPS_LDLIBS)
FUZZ_TARGETS += fuzz-aux-frame
fuzz-aux-frame_DEPS := $(NODEMANAGER_A) $(COMMON_A)
fuzz-aux-frame_LDLIBS = $(NODEMANAGER_LDLIBS) $(COMMON_LDLIBS)
