# Messages: $(BUILD)/gen/proto/NAME.pb-c.{h,c} from wire/proto/NAME.proto.
WIRE_PROTOS := rpc security common_admin yarn yarn_service yarn_server yarn_token yarn_admin \
	yarn_recovery yarn_history yarn_federation
WIRE_GEN_C := $(WIRE_PROTOS:%=$(BUILD)/gen/proto/%.pb-c.c)
WIRE_GEN_H := $(WIRE_GEN_C:.c=.h)
GENERATED += $(WIRE_GEN_H)

# One file a run: values of different enums of hadoop.yarn have the same names, which matters only
# to files that are compiled together. They import each other, hence the shared prerequisites.
$(WIRE_GEN_C): $(BUILD)/gen/proto/%.pb-c.c: wire/proto/%.proto $(WIRE_PROTOS:%=wire/proto/%.proto)
	$(call say,PROTO,$<)
	@mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=wire --c_out=$(BUILD)/gen $(<:wire/%=%)
$(WIRE_GEN_H): %.h: %.c ;

WIRE_A := $(BUILD)/libselvedge-wire.a
WIRE_OBJS := $(WIRE_GEN_C:.c=.o)
WIRE_LDLIBS = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs libgsasl) -pthread
CFLAGS_wire := $(CFLAGS_common)

# Own objects of this room, one line a group.
WIRE_OBJS += $(BUILD)/wire/ids.o $(BUILD)/wire/depth.o

WIRE_OBJS += $(addprefix $(BUILD)/wire/,frame.o sasl.o ipc_server.o ipc_conn.o ipc_auth.o ipc_serve.o \
	ipc_call.o \
	ipc_client.o ipc_client_conn.o resolve.o token.o token_ids.o credentials.o writable.o backoff.o)

$(WIRE_A): $$(WIRE_OBJS)
LIBS += $(WIRE_A)

UNIT_TESTS += test-ids test-depth test-ipc test-ipc-hostile test-sasl test-token test-credentials test-backoff
test-ids_DEPS = $(WIRE_A) $(COMMON_A)
test-ids_LDLIBS = $(WIRE_LDLIBS)
test-depth_DEPS = $(WIRE_A)
test-depth_LDLIBS = $(WIRE_LDLIBS)

FUZZ_TARGETS += fuzz-depth
fuzz-depth_DEPS = $(WIRE_A) $(COMMON_A)
fuzz-depth_LDLIBS = $(WIRE_LDLIBS)
$(foreach t,test-ipc test-ipc-hostile test-sasl test-token test-credentials test-backoff,$(eval $(t)_DEPS = $$(WIRE_A) $$(COMMON_A)))
$(foreach t,test-ipc test-ipc-hostile test-sasl test-token test-credentials test-backoff,$(eval $(t)_LDLIBS = $$(WIRE_LDLIBS)))

# The wire facing a real Hadoop: tests/interop/test-wire.
TEST_PROGRAMS += $(BUILD)/tests/interop/wire-peer
$(BUILD)/tests/interop/wire-peer: $(BUILD)/tests/interop/wire-peer.o $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))

WIRE_FUZZ := fuzz-frame fuzz-sasl fuzz-token fuzz-credentials
FUZZ_TARGETS += $(WIRE_FUZZ)
$(foreach t,$(WIRE_FUZZ),$(eval $(t)_DEPS = $$(WIRE_A) $$(COMMON_A)))
$(foreach t,$(WIRE_FUZZ),$(eval $(t)_LDLIBS = $$(WIRE_LDLIBS)))
