/* rm/rm-login.c: what keeps a node from the ResourceManager without being its absence; what is told
 * of that, and when the node goes on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "nodemanager/core/context.h"
#include "nodemanager/rm/rm-session.h"

static struct sgss_daemon_state login; /* what the daemon's Kerberos says */
static char status[4096];

struct sgss_daemon_state __wrap_sgss_daemon_state(const struct sgss_daemon *d);
struct sgss_daemon_state __wrap_sgss_daemon_state(const struct sgss_daemon *d)
{
    assert_non_null(d);
    return login;
}

int __wrap_sd_notifyf(int unset, const char *format, ...) _printf_(2, 3);
int __wrap_sd_notifyf(int unset, const char *format, ...)
{
    va_list ap;

    (void)unset;
    va_start(ap, format);
    vsnprintf(status, sizeof(status), format, ap);
    va_end(ap);
    return 0;
}

static void hindrances(void **state)
{
    static const struct {
        bool has_ticket, refused;
        int status;
        enum nm_rm_hindrance is;
    } cases[] = {
        { true, false, -ECONNREFUSED, NM_RM_UNHINDERED },
        { true, false, -ETIMEDOUT, NM_RM_UNHINDERED },
        { true, false, -EREMOTEIO, NM_RM_UNHINDERED },
        { true, false, 0, NM_RM_UNHINDERED },
        { true, false, -EAGAIN, NM_RM_NO_TICKET }, /* no KDC for the service's ticket */
        { true, false, -EIO, NM_RM_NO_TICKET },
        { true, false, -ESTALE, NM_RM_NO_TICKET }, /* another helper */
        { false, false, -ECONNREFUSED, NM_RM_NO_TICKET },
        { false, false, 0, NM_RM_NO_TICKET },
        { true, true, -EACCES, NM_RM_REFUSED },
        { true, true, -EREMOTEIO, NM_RM_REFUSED },
        { false, true, -EACCES, NM_RM_REFUSED },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        assert_int_equal(nm_rm_hindrance_of(cases[i].has_ticket, cases[i].status, cases[i].refused),
                         cases[i].is);
}

/* ---- A session ---- */

static struct nm_conf conf;
static struct nm_context ctx;
static struct nm_updater u;

static void session_of(int n_servers, const char *pattern)
{
    struct ipc_proxy_config cfg = { .client = { .protocol = "P", .version = 1 },
                                    .servers = { { .host = "Rm1", .port = 8031 },
                                                 { .host = "Rm2", .port = 8031 } },
                                    .n_servers = (size_t)n_servers };
    struct sv_error err = { 0 };

    conf = (struct nm_conf){
        .kerberos = { .own = { .on = true, .principal = "nm/here@R", .own_host = "here" },
                      .rm_principal = "rm/_HOST@R",
                      .rm_pattern = pattern }
    };
    ctx = (struct nm_context){ .conf = &conf,
                               .kerberos = (void *)&login, /* never looked into */
                               .node_id_text = "here:8041" };
    u = (struct nm_updater){ .ctx = &ctx };
    assert_true(sd_event_new(&ctx.event) >= 0);
    login = (struct sgss_daemon_state){ .words = "no KDC answers" };
    status[0] = 0;
    if (ipc_proxy_new(ctx.event, &cfg, &u.rm, &err) < 0)
        fail_msg("%s", err.text);
}

static void session(const char *pattern)
{
    session_of(1, pattern);
}

static void end(void)
{
    ipc_proxy_free(u.rm);
    sd_event_unref(ctx.event);
}

/* The first request waits for the ticket, and nothing counts against the ResourceManager. */
static void no_ticket(void **state)
{
    (void)state;
    session(NULL);
    login.pending = true; /* nothing to complain of yet */
    assert_true(nm_rm_login_missing(&u));
    assert_string_equal(status, "STATUS=waiting for a Kerberos ticket");
    login.pending = false;
    assert_false(nm_rm_login_came(&u));
    assert_non_null(strstr(status, "STATUS=ResourceManager Rm1:8031: Kerberos keeps this node"));
    assert_non_null(strstr(status, "no KDC answers"));
    assert_true(nm_rm_login_waits(&u));
    assert_false(nm_rm_login_came(&u));
    status[0] = 0; /* told once */
    u.away_since_ms = 5;
    assert_true(nm_rm_login_hinders(&u, -ECONNREFUSED, false, "refused"));
    assert_int_equal(u.away_since_ms, 0);
    assert_string_equal(status, "");
    login.words = "clock skew";
    assert_true(nm_rm_login_hinders(&u, -EAGAIN, false, "no ticket"));
    assert_non_null(strstr(status, "clock skew"));
    login = (struct sgss_daemon_state){ .until = 9, .words = "" };
    assert_true(nm_rm_login_came(&u));
    assert_false(nm_rm_login_came(&u)); /* once */
    assert_false(nm_rm_login_waits(&u));
    assert_false(nm_rm_login_missing(&u));
    nm_rm_login_recovered(&u);
    assert_string_equal(status, "STATUS=registered as here:8041");
    status[0] = 0;
    nm_rm_login_recovered(&u);
    assert_string_equal(status, "");
    end();
}

/* With a ticket the failure's own words count, and a ResourceManager that is away is away. */
static void failures(void **state)
{
    (void)state;
    session(NULL);
    login = (struct sgss_daemon_state){ .until = 9, .words = "" };
    assert_false(nm_rm_login_missing(&u));
    u.away_since_ms = 5;
    assert_false(nm_rm_login_hinders(&u, -ECONNREFUSED, false, "refused"));
    assert_int_equal(u.away_since_ms, 5);
    assert_string_equal(status, "");
    assert_true(nm_rm_login_hinders(&u, -EAGAIN, false, "Cannot contact any KDC"));
    assert_non_null(strstr(status, "Cannot contact any KDC"));
    assert_false(nm_rm_login_waits(&u)); /* it is sent again */
    end();
}

/* Both names and the remedy; what a peer says is shown as text. */
static void refused(void **state)
{
    (void)state;
    session(NULL);
    login = (struct sgss_daemon_state){ .until = 9, .words = "" };
    u.away_since_ms = 5;
    assert_true(nm_rm_login_hinders(&u, -EACCES, true, "not\ntrusted"));
    assert_int_equal(u.away_since_ms, 0);
    assert_non_null(strstr(status, "nm/here@R, by yarn.nodemanager.principal"));
    assert_non_null(strstr(status, "rm/rm1@R, by yarn.resourcemanager.principal:"));
    assert_non_null(strstr(status, "hadoop-policy.xml"));
    assert_null(strstr(status, "not\n"));
    end();
    session("rm/*@R");
    assert_true(nm_rm_login_hinders(&u, -EACCES, true, "x"));
    assert_non_null(strstr(status, "rm/*@R, by yarn.resourcemanager.principal.pattern:"));
    end();
}

/* The other one of a pair is asked next; each is told once, until one of them answers. */
static void refused_by_one(void **state)
{
    (void)state;
    session_of(2, NULL);
    login = (struct sgss_daemon_state){ .until = 9, .words = "" };
    for (int i = 0; i < 4; i++) {
        status[0] = 0;
        assert_int_equal(ipc_proxy_position(u.rm), i % 2);
        assert_true(nm_rm_login_hinders(&u, -EACCES, true, "not trusted"));
        if (i < 2)
            assert_non_null(strstr(status, i ? "rm/rm2@R, by" : "rm/rm1@R, by"));
        else
            assert_string_equal(status, "");
    }
    assert_true(nm_rm_login_hinders(&u, -EAGAIN, false, "no KDC")); /* nor would the other know */
    assert_int_equal(ipc_proxy_position(u.rm), 0);
    ipc_proxy_fail_over(u.rm);
    nm_rm_login_recovered(&u);
    assert_string_equal(status, "STATUS=registered as here:8041");
    ipc_proxy_fail_over(u.rm);
    assert_true(nm_rm_login_hinders(&u, -EACCES, true, "not trusted"));
    assert_non_null(strstr(status, "rm/rm1@R, by"));
    end();
}

/* Without Kerberos nothing of this exists. */
static void simple(void **state)
{
    (void)state;
    session(NULL);
    conf.kerberos.own.on = false;
    ctx.kerberos = NULL;
    assert_false(nm_rm_login_missing(&u));
    assert_false(nm_rm_login_waits(&u));
    assert_false(nm_rm_login_hinders(&u, -EACCES, true, "x"));
    assert_string_equal(status, "");
    end();
}

/* A name that cannot be told, and a login that was configured and is not there. */
static void opening(void **state)
{
    struct ipc_proxy_config cfg = { .client = { .protocol = "P", .version = 1 },
                                    .servers = { { .host = "10.0.0.1", .port = 8031 } },
                                    .n_servers = 1 };
    struct sv_error err = { 0 };

    (void)state;
    session(NULL);
    u.rm = ipc_proxy_free(u.rm);
    assert_int_equal(nm_rm_login_open(&u, &cfg, &err), -EINVAL);
    assert_non_null(strstr(err.text, "yarn.resourcemanager.principal: "));
    assert_non_null(strstr(err.text, "10.0.0.1"));
    ctx.kerberos = NULL;
    assert_int_equal(nm_rm_login_open(&u, &cfg, &err), -EINVAL);
    assert_non_null(strstr(err.text, "Kerberos login"));
    assert_null(u.rm);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hindrances), cmocka_unit_test(no_ticket),      cmocka_unit_test(failures),
        cmocka_unit_test(refused),    cmocka_unit_test(refused_by_one), cmocka_unit_test(simple),
        cmocka_unit_test(opening)
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
