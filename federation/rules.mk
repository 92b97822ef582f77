# Federation: the state store that clusters share, and the policies over them. MariaDB's client library is
# loaded late (federation/store/mysql-library.c): programs are not linked to it.
FED_PKGS := jansson sqlite3
CFLAGS_federation := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(FED_PKGS))
FED_A := $(BUILD)/libselvedge-federation.a
# Folders in layer order, which tests/tools/check-includes and check-cycles check.
$(FED_A): $(call objects,federation/store federation/policy)
LIBS += $(FED_A)
FED_DEPS = $(FED_A) $(WIRE_A) $(COMMON_A)
FED_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(FED_PKGS))

UNIT_LINK_federation = $(FED_DEPS)
UNIT_LDLIBS_federation = $(FED_LDLIBS)
# Cases for every back end: tests/lib/store-cases.h.
STORE_CASES_OBJ := $(BUILD)/tests/lib/store-cases.o
$(BUILD)/tests/unit/federation/store/test-store: $(STORE_CASES_OBJ)
