# Long-running services. Folders in layer order, which tests/tools/check-includes and check-cycles check.
CFLAGS_service := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags libcurl jansson sqlite3)
CFLAGS_service += -DSELVEDGE_LIBEXECDIR='"$(LIBEXECDIR)"'
# Exit codes of frameworks are in a file of YAML.
SERVICE_A := $(BUILD)/libselvedge-service.a
$(SERVICE_A): $(call objects,service/definition service/framework service/engine) $(BUILD)/client/run/yaml-tree.o
LIBS += $(SERVICE_A)
SERVICE_DEPS = $(SERVICE_A) $(CLIENT_A) $(WIRE_A) $(COMMON_A)

# The services API and its server.
SERVICE_API_A := $(BUILD)/libselvedge-service-api.a
$(SERVICE_API_A): $(filter-out %/main.o,$(call objects,$(addprefix service/,store api cluster launcher ha server)))
LIBS += $(SERVICE_API_A)
SERVICE_API_DEPS = $(SERVICE_API_A) $(SERVICE_A) $(CLIENT_A) $(GSS_CLIENT_A) $(FS_DEPS)
SERVICE_API_LDLIBS = $(CLIENT_LDLIBS) $(FS_LDLIBS) $(YAML_LDLIBS) $(shell $(PKGCONFIG) --libs sqlite3)
PROGRAMS += $(BUILD)/selvedge-services
$(BUILD)/selvedge-services: $(BUILD)/service/server/main.o $(SERVICE_API_DEPS)
	$(call link,$(SERVICE_API_LDLIBS))

# The ApplicationMaster of a service. Without libcurl and ZooKeeper's client, which the first request that needs them loads.
SERVICE_AM_A := $(BUILD)/libselvedge-service-am.a
$(SERVICE_AM_A): $(filter-out %/main.o,$(call objects,$(addprefix service/am/,facts launch check view serve framework) service/am))
LIBS += $(SERVICE_AM_A)
SERVICE_AM_DEPS = $(SERVICE_AM_A) $(SERVICE_A) $(CLIENT_A) $(REGISTRY_DEPS)
SERVICE_AM_LDLIBS = $(REGISTRY_LDLIBS) $(CLIENT_LDLIBS) $(YAML_LDLIBS)
PROGRAMS += $(BUILD)/selvedge-service-am
$(BUILD)/selvedge-service-am: $(BUILD)/service/am/main.o $$(SERVICE_AM_DEPS)
	$(call link,$(SERVICE_AM_LDLIBS))

UNIT_LINK_service = $(SERVICE_AM_A) $(SERVICE_API_A) $(GSS_CLIENT_A) $(SERVICE_AM_DEPS)
UNIT_LDLIBS_service = $(SERVICE_AM_LDLIBS) $(FS_LDLIBS) $(SERVICE_API_LDLIBS)
# A request without a connection.
service/am/serve/test-web-caller_WRAP := sv_http_header sv_http_query sv_http_peer
service/am/test-registering_WRAP := cli_am_attempt
service/engine/test-engine-random_WRAP := sv_fsm_run
# Neither a worker nor YARN.
service/am/test-launching_WRAP := svc_work_launch svc_work_replace cli_am_start cli_am_attempt
# A master without YARN and files: tests/unit/service/master-fixture.h.
service/am/test-events_WRAP := $(addprefix cli_am_,ask schedule cancel release start stop blacklist progress finish status attempt) \
	svc_work_launch svc_work_replace
service/am/test-operations_WRAP := $(service/am/test-events_WRAP)
service/am/test-localized_WRAP := $(service/am/test-events_WRAP) cli_am_localized
service/am/test-resuming_WRAP := $(service/am/test-events_WRAP) svc_files_read svc_files_version cli_am_reinitialize
# ZooKeeper is the test's.
service/ha/test-ha_WRAP := $(addprefix sv_zk_,new end breathe connected session_ms create set get children remove multi)
service/ha/test-store_WRAP := $(service/ha/test-ha_WRAP)
# Ends at commits, and a full disk.
service/launcher/test-recovery_WRAP := sqlite3_step
# Neither selvedge-gss nor a NameNode.
service/cluster/test-login_WRAP := $(addprefix sgss_,daemon_new daemon_state daemon_free service_init) $(addprefix ipc_proxy_,new call free)
service/am/test-master_WRAP := $(addprefix cli_am_,new attempt serve server_port register)
# The launcher is the test.
service/am/framework/test-link_WRAP := $(addprefix svc_post_,new set_url send cancel free)
service/am/framework/test-master_WRAP := cli_am_new cli_am_attempt cli_am_tokens svc_post_new svc_post_free
# Neither YARN nor a worker either.
service/am/framework/test-operate_WRAP := $(service/am/framework/test-link_WRAP) svc_work_any svc_work_replace cli_rm_new cli_rm_nodes cli_rm_containers cli_rm_free cli_am_attempt \
	$(addprefix cli_am_,ask cancel release start stop blacklist progress finish register tokens)
service/am/framework/test-cluster_WRAP := $(service/am/framework/test-operate_WRAP)

# Calls of ClientAMProtocol: tests/integration/service/test-service-am.
TEST_PROGRAMS += $(BUILD)/tests/integration/service/service-call
$(BUILD)/tests/integration/service/service-call: $(BUILD)/tests/integration/service/service-call.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

# The launcher's store in ZooKeeper: tests/interop/test-framework-servers.
TEST_PROGRAMS += $(BUILD)/tests/integration/service/launcher-store
$(BUILD)/tests/integration/service/launcher-store: $(BUILD)/tests/integration/service/launcher-store.o $(SERVICE_API_DEPS)
	$(call link,$(SERVICE_API_LDLIBS) -lcmocka)
