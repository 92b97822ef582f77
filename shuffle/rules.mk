# selvedge-shuffle: MapReduce's shuffle, an auxiliary service of the NodeManager. All objects but main.o are in an
# archive, which the tests link too.
SHUFFLE_PKGS := libseccomp jansson zlib libssl libcrypto
CFLAGS_shuffle := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(SHUFFLE_PKGS))
SHUFFLE_A := $(BUILD)/libselvedge-shuffle.a
SHUFFLE_OBJS := $(filter-out %/main.o,$(call objects,shuffle))
$(SHUFFLE_A): $(SHUFFLE_OBJS)
LIBS += $(SHUFFLE_A)
SHUFFLE_DEPS = $(SHUFFLE_A) $(WIRE_A) $(COMMON_A)
SHUFFLE_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(SHUFFLE_PKGS)) -pthread

$(BUILD)/selvedge-shuffle: $(BUILD)/shuffle/main.o $(SHUFFLE_DEPS)
	$(call link,$(SHUFFLE_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-shuffle

UNIT_LINK_shuffle = $(SHUFFLE_DEPS)
UNIT_LDLIBS_shuffle = $(SHUFFLE_LDLIBS)
