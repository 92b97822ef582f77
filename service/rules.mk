# Long-running services. Folders in layer order, which tests/tools/check-includes and check-cycles check.
CFLAGS_service := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags libcurl jansson)
SERVICE_A := $(BUILD)/libselvedge-service.a
$(SERVICE_A): $(call objects,service/definition service/engine)
LIBS += $(SERVICE_A)
SERVICE_DEPS = $(SERVICE_A) $(CLIENT_A) $(WIRE_A) $(COMMON_A)

UNIT_LINK_service = $(SERVICE_DEPS)
UNIT_LDLIBS_service = $(CLIENT_LDLIBS)
service/engine/test-engine-random_WRAP := sv_fsm_run
