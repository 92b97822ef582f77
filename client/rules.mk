# Without libcurl, which the first HTTP request loads (common/web/curl.h).
CLIENT_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
CFLAGS_client := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags libcurl jansson) \
	-DSELVEDGE_LIBEXECDIR='"$(LIBEXECDIR)"'

# The static library, and what of HTTP its logs need.
CLIENT_LIB_OBJS := $(call objects,client/lib)
CLIENT_LIB_HTTP_OBJS := $(addprefix $(BUILD)/client/http/,fetch.o node-url.o log-unframe.o plain-answer.o plain-get.o)
CLIENT_A := $(BUILD)/libselvedge-client.a
$(CLIENT_A): $(CLIENT_LIB_OBJS) $(CLIENT_LIB_HTTP_OBJS)
LIBS += $(CLIENT_A)

# The same with its dependencies, position-independent; only its interface is exported.
CLIENT_SO := $(BUILD)/libselvedge-client.so
CLIENT_SO_OBJS = $(patsubst $(BUILD)/%,$(BUILD)/pic/%,$(CLIENT_LIB_OBJS) $(CLIENT_LIB_HTTP_OBJS) $(WIRE_OBJS) \
	$(addprefix $(BUILD)/common/,$(addprefix identity/,glob.o java-dialect.o java-regex.o principal.o principal-server.o) web/curl-load.o web/curl-loop.o) \
	$(addprefix $(BUILD)/hdfs/,conf.o namenode-proxy.o servers.o) $(addprefix $(BUILD)/fs/,resolve.o tokens.o url.o) \
	$(filter-out $(BUILD)/common/identity/% $(BUILD)/common/tls/% $(BUILD)/common/web/% %/conf-hidden.o %/pattern.o %/worker-sandbox.o,$(COMMON_OBJS)))
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
# Folders in layer order, which tests/tools/check-includes and check-cycles check; client/http stands before client/lib.
CLIENT_FOLDERS := $(addprefix client/, job http ui core views logs run exec inspect local localize doctor config federation service framework commands)
CLI_A := $(BUILD)/libselvedge-cli.a
$(CLI_A): $(BUILD)/client/command-table.o $(call objects,$(CLIENT_FOLDERS))
LIBS += $(CLI_A)
PROGRAMS += $(BUILD)/selvedge
# doctor and localize read the configuration with the NodeManager's code and use container-executor; --local
# has the paths of the daemon's objects on the bus; service checks definitions as the services API does.
CLI_DEPS = $(CLI_A) $(SERVICE_A) $(CLIENT_A) $(NODEMANAGER_A) $(RM_A) $(RM_SCHEDULER_A) $(FED_A) $(LOGS_REMOTE_OBJS) $(LOGS_A) $(LOCALIZER_A) \
	$(EXECUTOR_A) $(CGROUPS_A) $(GSS_CLIENT_A) $(FS_DEPS)
# libyaml is linked, not loaded late: it costs less than a start varies (ADR 73).
YAML_LDLIBS := $(shell $(PKGCONFIG) --libs yaml-0.1)
CLI_LDLIBS = $(CLIENT_LDLIBS) $(CGROUPS_LDLIBS) $(HDFS_LDLIBS) $(YAML_LDLIBS)
$(BUILD)/selvedge: $(BUILD)/client/selvedge.o $$(CLI_DEPS)
	$(call link,$(CLI_LDLIBS))

# Its man page; a cross build names a native program.
SELVEDGE_MANUAL ?= $(BUILD)/selvedge
PROGRAMS += $(BUILD)/selvedge.1
$(BUILD)/selvedge.1: $(SELVEDGE_MANUAL)
	$(call say,MAN,$@)
	$(Q)$< manual >$@.new && mv $@.new $@

# The ApplicationMaster of `selvedge run`.
SELVEDGE_AM_OBJS := $(call objects,client/am client/job)
PROGRAMS += $(BUILD)/selvedge-am
$(BUILD)/selvedge-am: $(SELVEDGE_AM_OBJS) $$(CLIENT_A) $$(WIRE_A) $$(COMMON_A)
	$(call link,$(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson))

UNIT_LINK_client = $(filter-out %/selvedge-am.o,$(call objects,client/am)) $(CLI_DEPS)
UNIT_LDLIBS_client = $(CLI_LDLIBS)
client/http/test-plain-get_WRAP := ipc_resolve_numeric sd_event_add_time_relative
# The user has the tickets that a test wants.
client/lib/test-login_WRAP := ipc_ticket_new ipc_ticket_principal
client/lib/test-tokens_WRAP := hdfs_proxy_new ipc_proxy_new ipc_proxy_call ipc_proxy_free ipc_ticket_new ipc_ticket_principal

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
