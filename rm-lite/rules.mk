RM_PKGS := jansson sqlite3 libcurl
CFLAGS_rm-lite := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(RM_PKGS)) -DLIBEXECDIR='"$(LIBEXECDIR)"'
RM_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(RM_PKGS)) -lm

# The scheduler alone: a pure library, with which tests/bench/scheduler links without the rest.
RM_SCHEDULER_A := $(BUILD)/libselvedge-scheduler.a
$(RM_SCHEDULER_A): $(call objects,rm-lite/scheduler)
# Folders in layer order, which tests/tools/check-includes and check-cycles check.
RM_FOLDERS := $(addprefix rm-lite/, conf core store security fsm federation requests am nodes client admin web/rest web/proxy web/pages web)
RM_A := $(BUILD)/libselvedge-rm.a
$(RM_A): $(filter-out %/main.o,$(call objects,$(RM_FOLDERS) rm-lite))
LIBS += $(RM_SCHEDULER_A) $(RM_A)
RM_DEPS = $(RM_A) $(RM_SCHEDULER_A) $(FED_A) $(FS_A) $(HDFS_A) $(WIRE_HDFS_A) $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)

$(BUILD)/selvedge-rm: $(BUILD)/rm-lite/main.o $(RM_DEPS)
	$(call link,$(RM_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-rm

UNIT_LINK_rm-lite = $(RM_DEPS)
UNIT_LDLIBS_rm-lite = $(RM_LDLIBS)
rm-lite/requests/test-name-filter_WRAP := strcasecmp
rm-lite/requests/test-call-list_WRAP := strcasecmp
rm-lite/web/rest/test-web-list_WRAP := strcasecmp
rm-lite/web/rest/test-web-history_WRAP := sqlite3_step

# Plays nodes, client and masters for tests/integration/rm-lite/test-rm.
RM_DRIVER_OBJS := $(addprefix $(BUILD)/tests/integration/rm-lite/,rm-driver.o rm-driver-life.o rm-driver-updates.o rm-driver-ends.o rm-driver-uam.o)
$(BUILD)/tests/integration/rm-lite/rm-driver: $(RM_DRIVER_OBJS) $(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/rm-lite/rm-driver

LATENCY_OBJ := $(BUILD)/tests/lib/latency.o
# Hostile nodes and masters, for tests/integration/rm-lite/test-rm-hostile.
$(BUILD)/tests/integration/rm-lite/rm-hostile: $(BUILD)/tests/integration/rm-lite/rm-hostile.o $(LATENCY_OBJ) $(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/rm-lite/rm-hostile

# A client with tickets, for tests/integration/rm-lite/test-kerberos-rm.
$(BUILD)/tests/integration/rm-lite/rm-kerberos: $(BUILD)/tests/integration/rm-lite/rm-kerberos.o $(RM_PEER_OBJS) $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/rm-lite/rm-kerberos

# The largest request of every method, for tests/integration/rm-lite/test-largest-requests.
$(BUILD)/tests/integration/rm-lite/rm-largest: $(BUILD)/tests/integration/rm-lite/rm-largest.o $(LARGEST_OBJ) $(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/integration/rm-lite/rm-largest

# Nodes and masters over real connections, for tests/bench/bench-load.
$(BUILD)/tests/bench/rm-load: $(BUILD)/tests/bench/rm-load.o $(LATENCY_OBJ) $(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/bench/rm-load

# Clients' calls at a Router, masters behind an AMRMProxy, for tests/bench/bench-federation.
$(BUILD)/tests/bench/router-load: $(BUILD)/tests/bench/router-load.o $(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/bench/router-load
$(BUILD)/tests/bench/am-load: $(BUILD)/tests/bench/am-load.o $(LATENCY_OBJ) $(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/bench/am-load

# The scheduler alone, for tests/bench/bench-rm.
$(BUILD)/tests/bench/scheduler: $(BUILD)/tests/bench/scheduler.o $(RM_SCHEDULER_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS) -lm)
TEST_PROGRAMS += $(BUILD)/tests/bench/scheduler
