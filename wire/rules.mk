# Messages: $(BUILD)/gen/proto/NAME.pb-c.{h,c} from wire/proto/NAME.proto.
WIRE_PROTOS := rpc security common_admin yarn yarn_service yarn_server yarn_token yarn_admin \
	yarn_recovery yarn_federation
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
CFLAGS_wire := $(CFLAGS_common)

# Objects of this component, by group.
WIRE_OBJS += $(BUILD)/wire/ids.o $(BUILD)/wire/depth.o $(BUILD)/wire/enums.o

WIRE_OBJS += $(addprefix $(BUILD)/wire/,frame.o qop.o digest.o sasl.o sasl-layer.o ipc-server.o method-list.o ipc-address.o ipc-conn.o ipc-auth.o ipc-serve.o \
	ipc-call.o ipc-retry.o ipc-conf.o auth-conf.o node-secret.o \
	ipc-client.o ipc-client-conn.o ipc-client-sasl.o ipc-client-layer.o resolve.o backoff.o retry.o proxy.o proxy-conf.o)
# Tokens.
WIRE_OBJS += $(addprefix $(BUILD)/wire/,token.o token-ids.o token-users.o token-old.o token-text.o \
	credentials.o writable.o)

$(WIRE_A): $$(WIRE_OBJS)
LIBS += $(WIRE_A)

# Unit tests: one list, all linked with the library.
WIRE_TESTS := auth-conf node-secret ids depth enums golden-rpc token credentials backoff retry proxy sasl sasl-layer
WIRE_TESTS += ipc-server ipc-server-bounds ipc-address ipc-auth ipc-conn ipc-serve ipc-retry
WIRE_TESTS += ipc-client ipc-client-conn ipc-client-sasl
WIRE_TESTS := $(addprefix wire/test-,$(WIRE_TESTS))
UNIT_TESTS += $(WIRE_TESTS)
$(foreach t,$(WIRE_TESTS),$(eval $(t)_DEPS = $$(WIRE_A) $$(COMMON_A)))
$(foreach t,$(WIRE_TESTS),$(eval $(t)_LDLIBS = $$(WIRE_LDLIBS)))
# An independent DIGEST-MD5 for its test.
wire/test-sasl_LDLIBS += $(shell $(PKGCONFIG) --libs libgsasl)

FUZZ_TARGETS += fuzz-depth
fuzz-depth_DEPS = $(WIRE_A) $(COMMON_A)
fuzz-depth_LDLIBS = $(WIRE_LDLIBS)

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

WIRE_FUZZ := fuzz-frame fuzz-ipc-client fuzz-headers fuzz-sasl fuzz-token fuzz-credentials fuzz-methods
FUZZ_TARGETS += $(WIRE_FUZZ)
$(foreach t,$(WIRE_FUZZ),$(eval $(t)_DEPS = $$(WIRE_HDFS_A) $$(WIRE_A) $$(COMMON_A)))
$(foreach t,$(WIRE_FUZZ),$(eval $(t)_LDLIBS = $$(WIRE_LDLIBS)))

# The proxy against Hadoop's ResourceManagers: tests/interop/test-rm-clients.
TEST_PROGRAMS += $(BUILD)/tests/interop/rm-client
$(BUILD)/tests/interop/rm-client: $(BUILD)/tests/interop/rm-client.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

# Server and load generator, also for Hadoop's server: tests/bench/bench-ipc and tests/integration/bench/test-benches.
TEST_PROGRAMS += $(BUILD)/tests/bench/ipc-serve $(BUILD)/tests/bench/ipc-load
BENCH_IPC := $(BUILD)/tests/bench/ipc-serve $(BUILD)/tests/bench/ipc-load
$(BENCH_IPC): %: %.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

# A ResourceManager's nodes, clients and masters: tests/interop/scenarios.py.
TEST_PROGRAMS += $(BUILD)/tests/interop/scheduler-driver
$(BUILD)/tests/interop/scheduler-driver: $(BUILD)/tests/interop/scheduler-driver.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
