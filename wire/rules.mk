# Messages: $(BUILD)/gen/proto/NAME.pb-c.{h,c} from wire/proto/NAME.proto.
WIRE_PROTOS := rpc security common_admin yarn yarn_service yarn_server yarn_token yarn_admin \
	yarn_recovery yarn_federation yarn_service_am
# Few programs need HDFS's messages: a separate archive.
WIRE_HDFS_PROTOS := hdfs hdfs_namenode hdfs_datanode
WIRE_GEN_C := $(WIRE_PROTOS:%=$(BUILD)/gen/proto/%.pb-c.c)
WIRE_HDFS_GEN_C := $(WIRE_HDFS_PROTOS:%=$(BUILD)/gen/proto/%.pb-c.c)
WIRE_GEN_H := $(WIRE_GEN_C:.c=.h) $(WIRE_HDFS_GEN_C:.c=.h)
GENERATED += $(WIRE_GEN_H)

# One file a run: values of different enums of hadoop.yarn have the same names, which matters only
# to files that are compiled together. They import each other, hence the shared prerequisites.
$(WIRE_HDFS_GEN_C): $(WIRE_HDFS_PROTOS:%=wire/proto/%.proto)
$(WIRE_GEN_C) $(WIRE_HDFS_GEN_C): $(BUILD)/gen/proto/%.pb-c.c: wire/proto/%.proto $(WIRE_PROTOS:%=wire/proto/%.proto)
	$(call say,PROTO,$<)
	@mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=wire --c_out=$(BUILD)/gen $(<:wire/%=%)
$(WIRE_GEN_H): %.h: %.c ;

WIRE_A := $(BUILD)/libselvedge-wire.a
WIRE_OBJS := $(WIRE_GEN_C:.c=.o)
WIRE_HDFS_A := $(BUILD)/libselvedge-wire-hdfs.a
$(WIRE_HDFS_A): $(WIRE_HDFS_GEN_C:.c=.o)
WIRE_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs libcrypto) -pthread
# Kerberos: headers alone, the library is loaded late (wire/sasl/gss-library.c).
CFLAGS_wire := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags krb5-gssapi)

WIRE_OBJS += $(call objects,wire wire/ipc wire/sasl wire/token)
$(WIRE_A): $$(WIRE_OBJS)
LIBS += $(WIRE_A)

UNIT_LINK_wire = $(WIRE_A) $(COMMON_A)
UNIT_LDLIBS_wire = $(WIRE_LDLIBS)
wire/ipc/test-ipc-conn_WRAP := send
# Functions of libgssapi_krb5 that do what a test wants.
wire/ipc/test-ticket_WRAP := ipc_gss_ticket_library
# A security context in the place of libgssapi_krb5's: tests/unit/wire/fake-kerberos.h.
KRB_WRAP := $(addprefix ipc_gss_context_,import free limit size wrap unwrap)
wire/ipc/test-ipc-auth-kerberos_WRAP := $(KRB_WRAP)
wire/ipc/test-ipc-context_WRAP := $(KRB_WRAP)
wire/ipc/test-ipc-kerberos_WRAP := $(KRB_WRAP)
# An independent DIGEST-MD5 for its test.
wire/sasl/test-digest-exchange_LDLIBS := $(shell $(PKGCONFIG) --libs libgsasl)

# Wire protocol against a real Hadoop: tests/interop/test-wire.
# Every method, both ways: tests/interop/test-methods.
WIRE_PEERS := $(addprefix $(BUILD)/tests/interop/,wire-peer echo-server echo-client)
TEST_PROGRAMS += $(WIRE_PEERS)
$(WIRE_PEERS): %: %.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

# Tokens and credentials against Hadoop's classes: tests/interop/test-tokens.
TEST_PROGRAMS += $(BUILD)/tests/interop/token-peer
$(BUILD)/tests/interop/token-peer: $(BUILD)/tests/interop/token-peer.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

# The largest request of each method, for the programs test-largest-requests of both daemons.
LARGEST_OBJ := $(BUILD)/tests/lib/largest-request.o
# Nodes, clients and masters, played against a ResourceManager.
RM_PEER_OBJS := $(BUILD)/tests/lib/rm-peer.o $(BUILD)/tests/lib/rm-peer-node.o

# The proxy against Hadoop's ResourceManagers: tests/interop/test-rm-clients.
TEST_PROGRAMS += $(BUILD)/tests/interop/rm-client
$(BUILD)/tests/interop/rm-client: $(BUILD)/tests/interop/rm-client.o $(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

# Server and load generator, also for Hadoop's server: tests/bench/bench-ipc and tests/integration/bench/test-benches.
TEST_PROGRAMS += $(BUILD)/tests/bench/ipc-serve $(BUILD)/tests/bench/ipc-load
BENCH_IPC := $(BUILD)/tests/bench/ipc-serve $(BUILD)/tests/bench/ipc-load
$(BENCH_IPC): %: %.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

# A ResourceManager's nodes, clients and masters: tests/interop/scenarios.py.
TEST_PROGRAMS += $(BUILD)/tests/interop/scheduler-driver
$(BUILD)/tests/interop/scheduler-driver: $(addprefix $(BUILD)/tests/interop/,scheduler-driver.o scheduler-driver-masters.o) \
	$(RM_PEER_OBJS) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
