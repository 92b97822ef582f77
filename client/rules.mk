# Without libcurl, which curl-late.c loads.
CLIENT_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
CFLAGS_client := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags libcurl jansson) \
	-DSELVEDGE_LIBEXECDIR='"$(LIBEXECDIR)"'

# The static library.
CLIENT_LIB_OBJS := $(addprefix $(BUILD)/client/,rm.o rm-lists.o rm-apps.o rm-admin.o launch.o am.o am-allocate.o nodes.o)
CLIENT_A := $(BUILD)/libselvedge-client.a
$(CLIENT_A): $(CLIENT_LIB_OBJS)
LIBS += $(CLIENT_A)

# The same with its dependencies, position-independent; only its interface is exported.
CLIENT_SO := $(BUILD)/libselvedge-client.so
LIBRARY_OBJS := $(addprefix $(BUILD)/client/,library.o library-rm.o library-am.o)
CLIENT_SO_OBJS = $(patsubst $(BUILD)/%,$(BUILD)/pic/%,$(LIBRARY_OBJS) $(CLIENT_LIB_OBJS) $(WIRE_OBJS) \
	$(filter-out %/http.o %/http-framed.o %/http-stream.o %/http-events.o %/html.o %/html-parts.o %/html-script.o %/html-style.o %/html-text.o \
	%/conf-dump.o %/conf-hidden.o %/web-auth.o %/web-user.o,$(COMMON_OBJS)))
$(BUILD)/pic/gen/%.o: $(BUILD)/gen/%.c $$(FLAGS_STAMP) | $$(GENERATED)
	$(call say,PIC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -W% -fPIE,$(CFLAGS)) -fPIC -MMD -MP -c -o $@ $<
$(BUILD)/pic/%.o: %.c $$(FLAGS_STAMP) | $$(GENERATED)
	$(call say,PIC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fPIE,$(CFLAGS)) $(CFLAGS_$(firstword $(subst /, ,$*))) -fPIC \
		-MMD -MP -c -o $@ $<
$(CLIENT_SO): $$(CLIENT_SO_OBJS) client/libselvedge-client.map client/rules.mk
	$(call say,LD,$@)
	$(Q)$(CC) $(filter-out -fPIE,$(CFLAGS)) $(filter-out -pie,$(LDFLAGS)) -shared -Wl,-z,defs \
		-Wl,-soname,libselvedge-client.so.1 -Wl,--version-script=client/libselvedge-client.map \
		-o $@ $(filter %.o,$^) $(WIRE_LDLIBS)
ifeq ($(SANITIZE),)
LIBS += $(CLIENT_SO)
endif

# The command line.
SELVEDGE_OBJS := $(addprefix $(BUILD)/client/,selvedge.o session.o options.o command-table.o output.o objects.o table.o status.o \
	diagnostics.o fetch.o plain-get.o http-answer.o curl-late.o node-url.o rows.o ended.o job.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,run.o run-submit.o run-interrupt.o run-usage.o run-last.o run-options.o run-user.o run-progress.o progress.o preflight.o cluster-maximum.o sweep.o stage.o follow.o streams.o follow-app.o wait.o stop.o kill.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,ps.o app-status.o app-move.o app-priority.o app-attempts.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,inspect.o inspect-parts.o inspect-app.o inspect-node.o top.o attach.o config.o config-keys.o config-queues.o version.o usage.o screen.o peer-answer.o rm-rest.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,logs.o logs-select.o logs-live.o logs-follow.o logs-aggregated.o log-places.o log-walk.o log-tail.o log-time.o log-unframe.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,node-list.o node-status.o node-decommission.o hosts-file.o queue.o queue-refresh.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,local-bus.o local-json.o local-list.o local-node.o local-rows.o local-top.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,complete.o manual.o reference.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,localize.o localize-node.o localize-cache.o localizing.o run-localizing.o)
SELVEDGE_OBJS += $(addprefix $(BUILD)/client/,doctor.o doctor-report.o doctor-probe.o doctor-node.o doctor-connect.o doctor-helper.o \
	doctor-kernel.o doctor-modules.o doctor-network.o doctor-services.o doctor-uploads.o)
PROGRAMS += $(BUILD)/selvedge
# doctor and localize read the configuration with the NodeManager's code and use container-executor; --local
# has the paths of the daemon's objects on the bus.
$(BUILD)/selvedge: $(SELVEDGE_OBJS) $$(NODEMANAGER_CONF_OBJS) \
		$(addprefix $(BUILD)/nodemanager/, services/localization-source.o dbus/bus-path.o) $(addprefix $(BUILD)/rm-lite/, rm-conf.o conf-unread.o conf-hadoop-keys.o scheduler-keys.o queue-key-table.o) $$(CLIENT_A) \
		$(LOGS_REMOTE_OBJS) $$(LOGS_A) $$(LOCALIZER_A) $$(EXECUTOR_A) $$(CGROUPS_A) $$(HDFS_DEPS)
	$(call link,$(CLIENT_LDLIBS) $(CGROUPS_LDLIBS) $(HDFS_LDLIBS))

# Its man page; a cross build names a native program.
SELVEDGE_MANUAL ?= $(BUILD)/selvedge
PROGRAMS += $(BUILD)/selvedge.1
$(BUILD)/selvedge.1: $(SELVEDGE_MANUAL)
	$(call say,MAN,$@)
	$(Q)$< manual >$@.new && mv $@.new $@

# The ApplicationMaster of `selvedge run`.
SELVEDGE_AM_OBJS := $(addprefix $(BUILD)/client/,selvedge-am.o tasks.o job.o diagnostics.o)
PROGRAMS += $(BUILD)/selvedge-am
$(BUILD)/selvedge-am: $(SELVEDGE_AM_OBJS) $$(CLIENT_A) $$(WIRE_A) $$(COMMON_A)
	$(call link,$(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson))

UNIT_TESTS += client/test-library client/test-http-answer client/test-plain-get client/test-follow client/test-status client/test-peer-answer client/test-usage client/test-tasks client/test-job client/test-nodes client/test-output client/test-localizing client/test-diagnostics client/test-hosts-file client/test-local-rows client/test-session \
	client/test-log-places client/test-log-tail client/test-log-time client/test-config-queues client/test-curl-late client/test-cluster-maximum client/test-progress
client/test-cluster-maximum_DEPS = $(addprefix $(BUILD)/client/, cluster-maximum.o rm-rest.o node-url.o curl-late.o fetch.o plain-get.o http-answer.o) $(WIRE_A) $(COMMON_A)
client/test-cluster-maximum_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-progress_DEPS = $(BUILD)/client/progress.o $(COMMON_A)
client/test-progress_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-session_DEPS = $(COMMON_A)
client/test-session_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-curl-late_DEPS = $(addprefix $(BUILD)/client/, curl-late.o fetch.o plain-get.o http-answer.o) $(WIRE_A) $(COMMON_A)
client/test-curl-late_LDLIBS = $(WIRE_LDLIBS)
client/test-config-queues_DEPS = $(BUILD)/client/config-queues.o $(addprefix $(BUILD)/rm-lite/, queue-key-table.o scheduler-keys.o) $(COMMON_A)
client/test-config-queues_LDLIBS = $(COMMON_LDLIBS)
client/test-peer-answer_DEPS = $(BUILD)/client/peer-answer.o $(COMMON_A)
client/test-peer-answer_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-http-answer_DEPS = $(BUILD)/client/http-answer.o $(COMMON_A)
client/test-http-answer_LDLIBS = $(COMMON_LDLIBS)
client/test-plain-get_DEPS = $(addprefix $(BUILD)/client/, plain-get.o http-answer.o) $(WIRE_A) $(COMMON_A)
client/test-plain-get_LDLIBS = $(WIRE_LDLIBS)
client/test-follow_DEPS = $(addprefix $(BUILD)/client/, follow.o progress.o log-unframe.o log-tail.o node-url.o curl-late.o fetch.o plain-get.o http-answer.o) $(WIRE_A) $(COMMON_A)
client/test-follow_LDLIBS = $(WIRE_LDLIBS)
client/test-status_DEPS = $(addprefix $(BUILD)/client/, status.o output.o table.o localizing.o diagnostics.o) $(WIRE_A) $(COMMON_A)
client/test-status_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-usage_DEPS = $(BUILD)/client/usage.o $(WIRE_A) $(COMMON_A)
client/test-usage_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-local-rows_DEPS = $(addprefix $(BUILD)/client/, local-rows.o local-json.o) $(COMMON_A)
client/test-local-rows_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-hosts-file_DEPS = $(BUILD)/client/hosts-file.o $(COMMON_A)
client/test-hosts-file_LDLIBS = $(COMMON_LDLIBS)
client/test-diagnostics_DEPS = $(BUILD)/client/diagnostics.o $(COMMON_A)
client/test-diagnostics_LDLIBS = $(COMMON_LDLIBS)
client/test-localizing_DEPS = $(addprefix $(BUILD)/client/, localizing.o output.o table.o) $(COMMON_A)
client/test-localizing_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-output_DEPS = $(addprefix $(BUILD)/client/, output.o table.o) $(COMMON_A)
client/test-output_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
client/test-log-places_DEPS = $(addprefix $(BUILD)/, client/log-places.o) $(LOGS_REMOTE_OBJS) \
	$(LOGS_A) $(LOCALIZER_A) $(HDFS_DEPS)
client/test-log-places_LDLIBS = $(HDFS_LDLIBS) $(LOGS_LDLIBS) $(shell $(PKGCONFIG) --libs libcurl jansson)
client/test-log-tail_DEPS = $(BUILD)/client/log-tail.o $(COMMON_A)
client/test-log-tail_LDLIBS = $(COMMON_LDLIBS)
client/test-log-time_DEPS = $(BUILD)/client/log-time.o $(COMMON_A)
client/test-log-time_LDLIBS = $(COMMON_LDLIBS)
client/test-library_DEPS = $(LIBRARY_OBJS) $(CLIENT_A) $(WIRE_A) $(COMMON_A)
client/test-library_LDLIBS = $(WIRE_LDLIBS)
client/test-nodes_DEPS = $(addprefix $(BUILD)/client/, nodes.o launch.o) $(WIRE_A) $(COMMON_A)
client/test-nodes_LDLIBS = $(WIRE_LDLIBS)
client/test-tasks_DEPS = $(BUILD)/client/tasks.o $(BUILD)/client/diagnostics.o $(WIRE_A) $(COMMON_A)
client/test-tasks_LDLIBS = $(WIRE_LDLIBS)
client/test-job_DEPS = $(BUILD)/client/job.o $(COMMON_A)
client/test-job_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)

FUZZ_TARGETS += fuzz-client-answers
fuzz-client-answers_DEPS = $(addprefix $(BUILD)/client/, http-answer.o log-unframe.o peer-answer.o usage.o status.o output.o table.o localizing.o diagnostics.o) $(WIRE_A) $(COMMON_A)
fuzz-client-answers_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)

# One real job, end to end. The flags depend on packages that deps installs: build in a second make. Its node
# has a helper of its own.
demo: deps
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) programs $(filter $(BUILD)/helpers/node1/%,$(TEST_HELPERS))
	$(Q)BUILD='$(BUILD)' tests/demo/demo
# Ends a cluster of KEEP=1, and removes what is left of a run that was killed.
demo-end:
	$(Q)BUILD='$(BUILD)' tests/demo/demo end
# docs/tour.md, of a real run.
tour: programs test-programs
	$(Q)BUILD='$(BUILD)' tests/demo/tour
# The daemons' pages in Chromium, checked, and for a person to look at.
screenshots: programs test-programs deps-full
	$(Q)BUILD='$(abspath $(BUILD))' tests/integration/client/test-screenshots
.PHONY: demo demo-end tour screenshots
