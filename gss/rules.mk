# Kerberos: selvedge-gss, the one program that opens a keytab and talks to a KDC, and the daemon's side of it. The program
# is linked to MIT's libraries, the daemon is not: protocol.o, client*.o and daemon*.o alone are the daemon's.
GSS_PKGS := krb5-gssapi krb5 libseccomp
CFLAGS_gss := $(CFLAGS_common) $(shell $(PKGCONFIG) --cflags $(GSS_PKGS))
GSS_CLIENT_A := $(BUILD)/libselvedge-gss-client.a
GSS_CLIENT_OBJS := $(addprefix $(BUILD)/gss/,protocol.o client.o client-process.o client-requests.o client-web.o daemon.o daemon-acceptor.o daemon-conf.o daemon-log.o daemon-series.o daemon-start.o daemon-web-conf.o)
$(GSS_CLIENT_A): $(GSS_CLIENT_OBJS)
GSS_HELPER_A := $(BUILD)/libselvedge-gss.a
$(GSS_HELPER_A): $(filter-out %/main.o $(GSS_CLIENT_OBJS),$(call objects,gss))
LIBS += $(GSS_CLIENT_A) $(GSS_HELPER_A)
GSS_DEPS = $(GSS_HELPER_A) $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
GSS_LDLIBS = $(WIRE_LDLIBS) $(shell $(PKGCONFIG) --libs $(GSS_PKGS)) -pthread

$(BUILD)/selvedge-gss: $(BUILD)/gss/main.o $(GSS_DEPS)
	$(call link,$(GSS_LDLIBS))
PROGRAMS += $(BUILD)/selvedge-gss

UNIT_LINK_gss = $(GSS_DEPS)
UNIT_LDLIBS_gss = $(GSS_LDLIBS)
# Two helpers and a KDC: tests/integration/gss/test-gss.
TEST_PROGRAMS += $(BUILD)/tests/integration/gss/gss-driver
$(BUILD)/tests/integration/gss/gss-driver: $(BUILD)/tests/integration/gss/gss-driver.o $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
# A web server whose clients come with tickets: tests/integration/gss/test-spnego.
TEST_PROGRAMS += $(BUILD)/tests/integration/gss/web-driver
$(BUILD)/tests/integration/gss/web-driver: $(BUILD)/tests/integration/gss/web-driver.o $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
# Our IPC client at a secure ResourceManager of Hadoop's, and Hadoop's client at our server: tests/interop/test-kerberos.
TEST_PROGRAMS += $(BUILD)/tests/interop/kerberos-client
$(BUILD)/tests/interop/kerberos-client: $(BUILD)/tests/interop/kerberos-client.o $$(RM_PEER_OBJS) $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
TEST_PROGRAMS += $(BUILD)/tests/interop/kerberos-server
$(BUILD)/tests/interop/kerberos-server: $(BUILD)/tests/interop/kerberos-server.o $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
# A KDC with a wrong clock: tests/integration/gss/test-check.
TEST_PROGRAMS += $(BUILD)/tests/lib/clock-shift.so
$(BUILD)/tests/lib/clock-shift.so: tests/lib/clock-shift.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -O2 -Wall -Wextra -Werror -fPIC -shared -o $@ $<
# The same client under load, beside Java's: tests/bench/bench-krb.
TEST_PROGRAMS += $(BUILD)/tests/bench/krb-load
$(BUILD)/tests/bench/krb-load: $(BUILD)/tests/bench/krb-load.o $(GSS_CLIENT_A) $(WIRE_A) $(COMMON_A)
	$(call link,$(WIRE_LDLIBS))
