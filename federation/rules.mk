# Federation: the state store that clusters share, and the policies over them. SQLite and MariaDB's client
# library are loaded late (common/late-library.h): programs are not linked to them for it.
FED_PKGS := jansson sqlite3 libmariadb
CFLAGS_federation := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(FED_PKGS))
FED_A := $(BUILD)/libselvedge-federation.a
# Folders in layer order, which tests/tools/check-includes and check-cycles check.
$(FED_A): $(call objects,federation/store federation federation/policy federation/amrm)
LIBS += $(FED_A)
FED_DEPS = $(FED_A) $(WIRE_A) $(COMMON_A)
FED_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)

UNIT_LINK_federation = $(FED_DEPS)
UNIT_LDLIBS_federation = $(FED_LDLIBS)
federation/store/test-store_LDLIBS := $(shell $(PKGCONFIG) --libs sqlite3)
# A store that answers when the test says so.
federation/test-cache_WRAP := fed_store_call fed_store_cancel
# Cases for every back end: tests/lib/store-cases.h.
STORE_CASES_OBJ := $(BUILD)/tests/lib/store-cases.o
$(BUILD)/tests/unit/federation/store/test-store: $(STORE_CASES_OBJ)
STORE_DRIVER := $(BUILD)/tests/integration/federation/store-driver
$(STORE_DRIVER): $(STORE_DRIVER).o $(STORE_CASES_OBJ) $(FED_DEPS)
	$(call link,$(FED_LDLIBS) -lcmocka)
TEST_PROGRAMS += $(STORE_DRIVER)

# The store beside Hadoop's: tests/interop/test-federation-store.
STORE_PEER := $(BUILD)/tests/interop/store-peer
$(STORE_PEER): $(STORE_PEER).o $(STORE_CASES_OBJ) $(FED_DEPS)
	$(call link,$(FED_LDLIBS) -lcmocka)
TEST_PROGRAMS += $(STORE_PEER)
