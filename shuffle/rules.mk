# selvedge-shuffle: MapReduce's shuffle, an auxiliary service of the NodeManager. All objects but main.o are in an
# archive, which the tests link too.
SHUFFLE_PKGS := libseccomp jansson zlib libssl libcrypto
CFLAGS_shuffle := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(SHUFFLE_PKGS))
SHUFFLE_A := $(BUILD)/libselvedge-shuffle.a
SHUFFLE_OBJS := $(addprefix $(BUILD)/shuffle/, request.o spill-index.o index-cache.o url-hash.o job-table.o \
	map-output.o response.o conf.o connection.o listen.o server.o sandbox.o aux-channel.o events.o tls-conf.o \
	tls-store.o tls.o stream.o)
$(SHUFFLE_A): $(SHUFFLE_OBJS)
LIBS += $(SHUFFLE_A)
SHUFFLE_DEPS = $(SHUFFLE_A) $(WIRE_A) $(COMMON_A)
SHUFFLE_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(SHUFFLE_PKGS)) -pthread

$(BUILD)/selvedge-shuffle: $(BUILD)/shuffle/main.o $(SHUFFLE_DEPS)
	$(call link,$(SHUFFLE_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-shuffle

SHUFFLE_TESTS := $(addprefix shuffle/test-, request spill-index response job-table sandbox)
UNIT_TESTS += $(SHUFFLE_TESTS)
$(foreach t,$(SHUFFLE_TESTS),$(eval $(t)_DEPS = $$(SHUFFLE_DEPS)))
$(foreach t,$(SHUFFLE_TESTS),$(eval $(t)_LDLIBS = $$(SHUFFLE_LDLIBS)))

FUZZ_TARGETS += fuzz-shuffle-request fuzz-spill-index fuzz-shuffle-header
fuzz-shuffle-header_DEPS = $(SHUFFLE_DEPS)
fuzz-shuffle-header_LDLIBS = $(SHUFFLE_LDLIBS)
fuzz-shuffle-request_DEPS = $(SHUFFLE_DEPS)
fuzz-shuffle-request_LDLIBS = $(SHUFFLE_LDLIBS)
fuzz-spill-index_DEPS = $(SHUFFLE_DEPS)
fuzz-spill-index_LDLIBS = $(SHUFFLE_LDLIBS)
