/* gss/daemon.c with a helper that does what a test wants: this program once more. The login is
 * repeated until there is a ticket, looked after when it should have been renewed, and made anew
 * with each helper; who a service may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "gss/daemon.h"
#include "gss/protocol.h"

#define NM "nm/host@R"

/* ---- The helper ---- */

/* The script is the first keytab's name: a letter for each login, the last one for all others.
 *
 *   t  a ticket of an hour   s  one of three seconds   o  one that has ended
 *   n  not able              m  not able, in other words
 *   x  the helper exits      r  refused
 *
 * Its place in the script is the size of the file that the second keytab names, so that a helper
 * that is started again goes on. */
static char next_letter(const char *script, const char *state)
{
    _cleanup_close_ int fd = open(state, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    const off_t at = lseek(fd, 0, SEEK_END);

    if (fd < 0 || at < 0 || write(fd, ".", 1) != 1)
        _exit(9);
    return script[SV_MIN((size_t)at, strlen(script) - 1)];
}

static void reply(const struct sgss_answer *a)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

    if (sgss_answer_put(&b, a) < 0 || send(3, b.data, b.len, 0) < 0)
        _exit(9);
}

static void log_in(uint64_t id, char letter)
{
    struct sgss_answer a = { .id = id };

    if (letter == 'x')
        _exit(7);
    if (letter == 't' || letter == 's' || letter == 'o')
        a.until = (uint64_t)time(NULL) + (letter == 't' ? 3600 : letter == 's' ? 3 : 0);
    else
        a.status = letter == 'r' ? SGSS_REFUSED : SGSS_NOT_ABLE;
    a.words = letter == 'n' ? "no KDC answers" : letter == 'm' ? "no key" : "refused";
    if (a.until)
        a.words = NULL;
    if (letter == 'o')
        a.until -= 10;
    reply(&a);
}

static int helper(const char *script, const char *state)
{
    static uint8_t frame[SGSS_FRAME_MAX];
    ssize_t n;

    while ((n = recv(3, frame, sizeof(frame), 0)) > 0) {
        struct sgss_request m;

        if (sgss_request_get(frame, (size_t)n, &m) < 0)
            return 8;
        if (m.kind == SGSS_LOGIN && sv_streq(m.principal, NM))
            log_in(m.id, next_letter(script, state));
        else if (m.kind == SGSS_INIT)
            reply(&(struct sgss_answer){ .id = m.id,
                                         .status = SGSS_MORE,
                                         .token = (const uint8_t *)m.target,
                                         .token_len = strlen(m.target) });
    }
    return 0;
}

/* ---- The daemon ---- */

static sd_event *event;
static struct sgss_daemon *d;
static char state_path[64], told_text[SV_ERROR_TEXT_MAX];
static int changes, tolds;

static void on_changed(void *userdata)
{
    assert_ptr_equal(userdata, &d);
    changes++;
}

static void on_told(const char *text, void *userdata)
{
    assert_ptr_equal(userdata, &d);
    snprintf(told_text, sizeof(told_text), "%s", text);
    tolds++;
}

static void begin(const char *script)
{
    const char *const keytabs[] = { script, state_path, NULL };
    const struct sgss_daemon_config cfg = { .event = event,
                                            .principal = NM,
                                            .helper = "/proc/self/exe",
                                            .keytabs = keytabs,
                                            .changed = on_changed,
                                            .told = on_told,
                                            .userdata = &d,
                                            .rest_ms = 1 };
    struct sv_error err = { 0 };

    (void)unlink(state_path);
    changes = tolds = 0;
    if (sgss_daemon_new(&cfg, &d, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(sgss_daemon_state(d).until, 0);
    assert_non_null(strstr(sgss_daemon_state(d).words, "under way"));
    assert_true(sgss_daemon_state(d).pending);
    assert_string_equal(sgss_daemon_principal(d), NM);
}

static void end(void)
{
    d = sgss_daemon_free(d);
    (void)unlink(state_path);
}

static off_t logins(void)
{
    _cleanup_close_ int fd = open(state_path, O_RDONLY | O_CLOEXEC);

    return fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
}

static void turn(void)
{
    assert_true(sd_event_run(event, 30000000) > 0);
}

static void run_until_ticket(void)
{
    while (!sgss_daemon_state(d).until)
        turn();
}

static void test_ticket(void **state)
{
    (void)state;
    begin("t");
    run_until_ticket();
    assert_int_equal(changes, 1);
    assert_int_equal(tolds, 0);
    assert_string_equal(sgss_daemon_state(d).words, "");
    assert_true(sgss_daemon_state(d).helper.runs);
    assert_true(sgss_daemon_state(d).until > (uint64_t)time(NULL) + 3000);
    end();
}

/* Until it works, whatever the reason; each reason is told once. */
static void test_repeated(void **state)
{
    (void)state;
    begin("nnmrot");
    run_until_ticket();
    assert_int_equal(logins(), 6);
    assert_int_equal(tolds, 4); /* no KDC, no key, refused, ended */
    assert_int_equal(changes, 5);
    assert_string_equal(sgss_daemon_state(d).words, "");
    end();
}

/* The reason is kept as the state. */
static void test_words(void **state)
{
    (void)state;
    begin("n");
    while (tolds < 1 || changes < 1)
        turn();
    assert_int_equal(sgss_daemon_state(d).until, 0);
    assert_string_equal(sgss_daemon_state(d).words, "no KDC answers");
    assert_false(sgss_daemon_state(d).pending);
    assert_string_equal(told_text, "no KDC answers");
    while (logins() < 4)
        turn();
    assert_int_equal(tolds, 1);
    assert_int_equal(changes, 1);
    end();
}

/* A ticket that is not renewed is looked at again, told of, and ends by itself. */
static void test_not_renewed(void **state)
{
    (void)state;
    uint64_t until;

    begin("s"); /* a helper that renews: each look finds another one */
    run_until_ticket();
    until = sgss_daemon_state(d).until;
    while (sgss_daemon_state(d).until == until)
        turn();
    assert_string_equal(sgss_daemon_state(d).words, "");
    assert_true(sgss_daemon_state(d).until > until);
    end();
    begin("sn");
    run_until_ticket();
    while (tolds < 1)
        turn();
    assert_int_equal(sgss_daemon_state(d).until, 0);
    assert_string_equal(sgss_daemon_state(d).words, "no KDC answers");
    end();
}

/* Its tickets are gone with a helper; the next one is asked at once. */
static void test_helper_ends(void **state)
{
    (void)state;
    begin("sxt");
    run_until_ticket();
    while (sgss_daemon_state(d).helper.starts < 2) {
        turn();
        if (!sgss_daemon_state(d).helper.runs) {
            assert_int_equal(sgss_daemon_state(d).until, 0);
            assert_non_null(strstr(sgss_daemon_state(d).words, "started again"));
        }
    }
    run_until_ticket();
    assert_int_equal(logins(), 3);
    assert_string_equal(sgss_daemon_state(d).words, "");
    end();
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const one[] = { "/k", NULL };
    static const char *const many[] = { "1", "2", "3", "4", "5", NULL };
    static const char *const none[] = { NULL };
    const char *dirs[66];
    struct sgss_daemon_config cfg = {
        .event = event, .principal = NM, .helper = "/proc/self/exe", .keytabs = many
    };
    struct sgss_daemon *x;
    struct sv_error err = { 0 };

    assert_int_equal(sgss_daemon_new(&cfg, &x, &err), -EINVAL);
    assert_non_null(strstr(err.text, "5 keytabs"));
    cfg.keytabs = none;
    assert_int_equal(sgss_daemon_new(&cfg, &x, &err), -EINVAL);
    cfg.keytabs = one;
    for (size_t i = 0; i < 65; i++)
        dirs[i] = "/d";
    dirs[65] = NULL;
    cfg.local_dirs = dirs;
    assert_int_equal(sgss_daemon_new(&cfg, &x, &err), -E2BIG);
    assert_non_null(strstr(err.text, "65 directories"));
    cfg.local_dirs = NULL;
    cfg.helper = "/nowhere/selvedge-gss";
    assert_int_equal(sgss_daemon_new(&cfg, &x, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nowhere/selvedge-gss"));
    cfg.helper = "/proc/self/exe";
    cfg.principal = "a b@R";
    assert_int_equal(sgss_daemon_new(&cfg, &x, &err), -EINVAL);
    cfg.principal = NM;
    cfg.socket = "/nowhere/socket";
    assert_int_equal(sgss_daemon_new(&cfg, &x, &err), -ENOENT);
    assert_non_null(strstr(err.text, "selvedge-gss.socket"));
    assert_null(sgss_daemon_free(NULL));
}

/* ---- Services ---- */

static void on_outcome(const struct gssapi_outcome *o, void *userdata)
{
    snprintf(userdata, 256, "%.*s", (int)o->token_len, (const char *)o->token);
}

/* The ticket that is asked for is that of the server which was recognized. */
static void asks_for(struct gssapi_handshake *h, const char *server)
{
    char target[256] = "";
    struct sv_error err = { 0 };

    assert_int_equal(h->f->step(h, NULL, 0, on_outcome, target, &err), 0);
    while (!*target)
        turn();
    assert_string_equal(target, server);
    ipc_gssapi_handshake_free(h);
}

static void test_services(void **state)
{
    (void)state;
    static const struct {
        const char *configured, *pattern, *host, *offered;
        const char *server; /* NULL: refused, with the words */
        const char *words;
    } cases[] = {
        { "rm/_HOST@R", NULL, "Rm1.Example", "rm/rm1.example", "rm/rm1.example@R", NULL },
        { "rm/_HOST@OTHER", NULL, "h", "rm/h", "rm/h@OTHER", NULL },
        { "rm/fixed@R", NULL, "h", "rm/fixed", "rm/fixed@R", NULL },
        { "rm/_HOST@R", NULL, "h", "rm/g", NULL, "expected was rm/h@R by the.key" },
        { "rm/_HOST@R", NULL, "h", "nn/h", NULL, "it is not trusted" },
        { "rm/_HOST@R", NULL, "h", "rm/h@R", NULL, "second @" },
        { "rm/_HOST@R", NULL, "h", "", NULL, "empty component" },
        { "rm/_HOST@R", NULL, "10.0.0.1", "rm/h", NULL, "by its host name" },
        { "rm/_HOST@R", NULL, "0.0.0.0", "rm/own", "rm/own@R", NULL },
        { NULL, "rm/*@R", "h", "rm/anybody", "rm/anybody@R", NULL },
        { NULL, "rm/*@OTHER", "h", "rm/anybody", NULL, "not among the.key.pattern" },
        { "rm/x@OTHER", "*/*@OTHER", "h", "rm/y", "rm/y@OTHER", NULL },
        { "rm/_HOST@R", "nn/*@R", "h", "rm/h", NULL, "not among the.key.pattern" },
        { NULL, NULL, "h", "rm/h", NULL, "the.key is not set" },
    };

    begin("t");
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sgss_service s;
        struct gssapi_handshake *h;
        char server[IPC_PRINCIPAL_MAX] = "", same[IPC_PRINCIPAL_MAX] = "";
        struct sv_error err = { 0 };
        int r;

        sgss_service_init(&s, d, "the.key", cases[i].configured, cases[i].pattern, "own");
        assert_string_equal(s.ipc.principal, NM);
        r = s.ipc.recognize(&s.ipc, cases[i].host, cases[i].offered, server, &h, &err);
        if ((r < 0) != !cases[i].server ||
            (r < 0 ? !strstr(err.text, cases[i].words) : !sv_streq(server, cases[i].server)))
            fail_msg("case %zu: %d, %s, %s", i, r, server, err.text);
        if (r < 0)
            continue;
        asks_for(h, cases[i].server);
        if (cases[i].pattern)
            continue;
        assert_int_equal(s.ipc.handshake(&s.ipc, cases[i].host, same, &h), 0);
        assert_string_equal(same, server);
        ipc_gssapi_handshake_free(h);
    }
    end();
}

/* A name that is longer than a connection keeps is refused, not cut. */
static void test_long_name(void **state)
{
    (void)state;
    char host[700], offered[720], server[IPC_PRINCIPAL_MAX];
    struct gssapi_handshake *h;
    struct sgss_service s;

    begin("t");
    sgss_service_init(&s, d, "the.key", NULL, "*", "own");
    for (size_t n = 240; n < sizeof(host); n += 7) {
        struct sv_error err = { 0 };
        int r;

        memset(host, 'h', n);
        host[n] = 0;
        snprintf(offered, sizeof(offered), "rm/%s", host);
        r = s.ipc.recognize(&s.ipc, "h", offered, server, &h, &err);
        assert_true((r == 0) == (n + strlen("rm/@R") < IPC_PRINCIPAL_MAX));
        if (r == 0)
            ipc_gssapi_handshake_free(h);
        else
            assert_true(*err.text);
    }
    end();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticket),      cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_not_renewed),
        cmocka_unit_test(test_helper_ends), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_services),    cmocka_unit_test(test_long_name),
    };

    if (argc > 1) /* the helper; with one keytab it is not asked anything */
        return argc == 5 ? helper(argv[2], argv[4]) : 0;
    snprintf(state_path, sizeof(state_path), "/tmp/test-gss-daemon-%d", getpid());
    if (sd_event_new(&event) < 0)
        return 1;
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    sd_event_unref(event);
    return r;
}
