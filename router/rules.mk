# The Router of a federation.
CFLAGS_router := $(CFLAGS_common) -DLIBEXECDIR='"$(LIBEXECDIR)"'
ROUTER_A := $(BUILD)/libselvedge-router.a
$(ROUTER_A): $(filter-out %/main.o,$(call objects,router))
LIBS += $(ROUTER_A)
ROUTER_DEPS = $(ROUTER_A) $(GSS_CLIENT_A) $(FED_DEPS)
ROUTER_LDLIBS = $(FED_LDLIBS)

$(BUILD)/selvedge-router: $(BUILD)/router/main.o $(ROUTER_DEPS)
	$(call link,$(ROUTER_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-router

UNIT_LINK_router = $(ROUTER_DEPS)
UNIT_LDLIBS_router = $(ROUTER_LDLIBS)
router/test-token-table_WRAP := fed_store_call
