COMMON_PKGS := libsystemd expat libmicrohttpd libprotobuf-c openssl libcap libpcre2-8
CFLAGS_common := $(shell $(PKGCONFIG) --cflags $(COMMON_PKGS) libcurl)
COMMON_LDLIBS := $(shell $(PKGCONFIG) --libs $(COMMON_PKGS))
COMMON_A := $(BUILD)/libselvedge-common.a
# Files that pages load, as C string literals.
STATIC_FILES := $(patsubst %,$(BUILD)/gen/%.inc,$(wildcard common/web/*.css common/web/*.js))
GENERATED += $(STATIC_FILES)
$(STATIC_FILES): $(BUILD)/gen/%.inc: %
	$(call say,EMBED,$<)
	@mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/' $< >$@
# Those of COMMON_JSON_OBJS need jansson, curl-linked.o libcurl: whoever links them links these.
COMMON_JSON_OBJS := $(addprefix $(BUILD)/common/web/, jmx.o jmx-daemon.o json-text.o json-xml.o live-event.o rest-reply.o)
COMMON_OBJS := $(filter-out $(COMMON_JSON_OBJS),$(call objects,common common/identity common/tls common/web common/ldap common/zookeeper))
$(COMMON_A): $(COMMON_OBJS) $(COMMON_JSON_OBJS)
LIBS += $(COMMON_A)
UNIT_LINK_common = $(COMMON_A)
UNIT_LDLIBS_common = $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson libcurl) -lm
# Groups of users from a slapd: tests/integration/common/test-ldap.
TEST_PROGRAMS += $(BUILD)/tests/integration/common/ldap-driver
$(BUILD)/tests/integration/common/ldap-driver: $(BUILD)/tests/integration/common/ldap-driver.o $(COMMON_A)
	$(call link,$(COMMON_LDLIBS))
