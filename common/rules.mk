COMMON_PKGS := libsystemd libxml-2.0 libmicrohttpd libprotobuf-c openssl libcap
CFLAGS_common := $(shell $(PKGCONFIG) --cflags $(COMMON_PKGS))
COMMON_LDLIBS := $(shell $(PKGCONFIG) --libs $(COMMON_PKGS))
COMMON_A := $(BUILD)/libselvedge-common.a
COMMON_OBJS := $(addprefix $(BUILD)/common/, error.o log.o caps.o landlock.o arena.o buf.o str.o fd.o clock.o loop-guard.o \
	fsm.o oom.o dispatcher.o conf.o conf-xml.o conf-dump.o conf-hidden.o http.o http-framed.o http-stream.o http-events.o acl.o user-groups.o \
	auth-cookie.o edit-distance.o exit-meaning.o html.o html-parts.o html-script.o html-style.o html-text.o web-auth.o web-user.o address.o listen-fds.o)
# These need jansson: whoever links them links it.
COMMON_JSON_OBJS := $(BUILD)/common/jmx.o $(BUILD)/common/json-text.o $(BUILD)/common/json-xml.o
$(COMMON_A): $(COMMON_OBJS) $(COMMON_JSON_OBJS)
LIBS += $(COMMON_A)
COMMON_TESTS := common/test-error common/test-log common/test-listen-fds common/test-caps common/test-arena common/test-buf common/test-str common/test-fd common/test-clock common/test-loop-guard common/test-fsm common/test-dispatcher common/test-conf common/test-html common/test-http common/test-acl common/test-user-groups common/test-auth-cookie common/test-edit-distance common/test-conf-dump common/test-http-stream common/test-http-events common/test-address common/test-json-xml common/test-jmx
UNIT_TESTS += $(COMMON_TESTS)
$(foreach t,$(COMMON_TESTS),$(eval $(t)_DEPS := $(COMMON_A))$(eval $(t)_LDLIBS := $(COMMON_LDLIBS)))
common/test-json-xml_LDLIBS := $(COMMON_LDLIBS) $(shell $(PKGCONFIG) --libs jansson)
common/test-jmx_LDLIBS := $(common/test-json-xml_LDLIBS) -lm

FUZZ_TARGETS += fuzz-html fuzz-conf fuzz-auth-cookie
fuzz-html_DEPS := $(COMMON_A)
fuzz-html_LDLIBS := $(COMMON_LDLIBS)
fuzz-conf_DEPS := $(COMMON_A)
fuzz-conf_LDLIBS := $(COMMON_LDLIBS)
fuzz-auth-cookie_DEPS := $(COMMON_A)
fuzz-auth-cookie_LDLIBS := $(COMMON_LDLIBS)
