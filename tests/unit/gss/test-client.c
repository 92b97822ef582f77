/* Tests gss/client.c and client-process.c with a helper that does what a test wants: this program
 * once more. After its fault a helper is killed, what waits fails with the reason, and the next one
 * answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "gss/client.h"
#include "gss/protocol.h"

#define NM "nm/host@R"
#define RM "rm/host@R"
#define WEB "HTTP/host@R"
#define UNTIL 4102444800u

/* ---- The helper ---- */

static void reply(const struct sgss_answer *a)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

    if (sgss_answer_put(&b, a) < 0 || send(3, b.data, b.len, 0) < 0)
        _exit(9);
}

/* Answers by the token. */
static void answer_web(const struct sgss_request *m)
{
    struct sgss_answer a = { .id = m->id, .token = (const uint8_t *)"back", .token_len = 4 };

    if (m->token_len == 4 && memcmp(m->token, "more", 4) == 0)
        a.status = SGSS_MORE;
    else if (m->token_len == 6 && memcmp(m->token, "replay", 6) == 0)
        a = (struct sgss_answer){ .id = m->id, .status = SGSS_REFUSED, .words = "a replay" };
    else
        a.name = m->principal[0] == '*' ? "any@R" : "alice@R";
    reply(&a);
}

static void answer(const struct sgss_request *m)
{
    static bool forgotten;

    if (m->kind == SGSS_FORGET)
        forgotten = true;
    else if (m->kind == SGSS_LOGIN && sv_streq(m->principal, "forgotten@R"))
        reply(&(struct sgss_answer){ .id = m->id, .until = forgotten ? 2 : 1 });
    else if (m->kind == SGSS_LOGIN && sv_streq(m->principal, NM))
        reply(&(struct sgss_answer){ .id = m->id, .until = UNTIL });
    else if (m->kind == SGSS_LOGIN)
        reply(&(struct sgss_answer){ .id = m->id, .status = SGSS_NOT_ABLE, .words = "no key" });
    else if (m->kind == SGSS_WEB)
        answer_web(m);
    else if (m->kind == SGSS_ACCEPT)
        reply(&(struct sgss_answer){ .id = m->id, .status = SGSS_REFUSED, .words = "a replay" });
    else
        reply(&(struct sgss_answer){ .id = m->id,
                                     .status = SGSS_MORE,
                                     .token = (const uint8_t *)m->target,
                                     .token_len = strlen(m->target) });
}

static void misbehave(const char *how, const struct sgss_request *m)
{
    if (sv_streq(how, "silent"))
        return;
    if (sv_streq(how, "exit"))
        _exit(7);
    if (sv_streq(how, "garbage"))
        (void)!send(3, "garbage", 7, 0);
    if (sv_streq(how, "long")) {
        static uint8_t much[SGSS_FRAME_MAX + 1];

        (void)!send(3, much, sizeof(much), 0);
    }
    if (sv_streq(how, "no-name")) /* for a web client's token */
        reply(&(struct sgss_answer){ .id = m->id, .until = UNTIL });
    if (sv_streq(how, "stranger"))
        reply(&(struct sgss_answer){ .id = m->id + 1000, .until = UNTIL });
    if (sv_streq(how, "other-kind"))
        reply(&(struct sgss_answer){
            .id = m->id, .status = SGSS_MORE, .token = (const uint8_t *)"t", .token_len = 1 });
    if (sv_streq(how, "twice")) {
        answer(m);
        answer(m);
    }
}

/* `flag`: a file that the first helper makes: those after it behave. */
static int helper(const char *how, const char *flag)
{
    bool good = sv_streq(how, "good") || access(flag, F_OK) == 0;
    static uint8_t frame[SGSS_FRAME_MAX];
    ssize_t n;

    if (!good)
        sv_close(open(flag, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    while ((n = recv(3, frame, sizeof(frame), 0)) > 0) {
        struct sgss_request m;

        if (sgss_request_get(frame, (size_t)n, &m) < 0)
            return 8;
        if (good)
            answer(&m);
        else
            misbehave(how, &m);
    }
    return 0;
}

/* ---- The daemon ---- */

static sd_event *event;
static char flag_path[64], told_text[SV_ERROR_TEXT_MAX];
static int tolds;

static void on_told(const char *text, void *userdata)
{
    (void)userdata;
    snprintf(told_text, sizeof(told_text), "%s", text);
    tolds++;
}

static struct sgss_client *client(const char *how)
{
    static char *argv[5];
    struct sgss_client *c;
    struct sv_error err = { 0 };

    snprintf(flag_path, sizeof(flag_path), "/tmp/test-gss-client-%d", getpid());
    (void)unlink(flag_path);
    argv[0] = (char *)"/proc/self/exe";
    argv[1] = (char *)"--helper";
    argv[2] = (char *)(uintptr_t)how;
    argv[3] = flag_path;
    tolds = 0;
    if (!event)
        assert_true(sd_event_new(&event) >= 0);
    assert_int_equal(
        sgss_client_new(
            &(struct sgss_client_config){ .event = event,
                                          .argv = argv,
                                          .told = on_told,
                                          .accept_ms = 300,
                                          .init_ms = sv_streq(how, "silent") ? 300 : 20000,
                                          .rest_ms = 1 },
            &c, &err),
        0);
    return c;
}

static void end(struct sgss_client *c)
{
    sgss_client_free(c);
    (void)unlink(flag_path);
}

struct login {
    int n;
    uint64_t until;
    char words[SV_ERROR_TEXT_MAX];
};

static void on_login(uint64_t until, const char *words, void *userdata)
{
    struct login *l = userdata;

    l->n++;
    l->until = until;
    snprintf(l->words, sizeof(l->words), "%s", words ? words : "");
}

static void run_until_n(const int *n, int wanted)
{
    while (*n < wanted)
        assert_true(sd_event_run(event, 30000000) > 0);
}

static struct login login(struct sgss_client *c, const char *principal)
{
    struct login l = { 0 };
    struct sv_error err = { 0 };

    assert_int_equal(sgss_client_login(c, principal, on_login, &l, &err), 0);
    assert_int_equal(l.n, 0);
    run_until_n(&l.n, 1);
    return l;
}

/* Until a new helper answers. */
static void comes_back(struct sgss_client *c)
{
    while (!sgss_client_state(c).runs)
        assert_true(sd_event_run(event, 30000000) > 0);
    assert_int_equal(login(c, NM).until, UNTIL);
    assert_int_equal(sgss_client_state(c).starts, 2);
    assert_int_equal(tolds, 2);
    assert_non_null(strstr(told_text, "runs again"));
}

static void test_login(void **state)
{
    (void)state;
    struct sgss_client *c = client("good");
    struct login l = login(c, NM);
    struct sv_error err = { 0 };
    char name[300];

    assert_int_equal(l.until, UNTIL);
    for (int i = 0; i < 3; i++)
        l = login(c, "else@R");
    assert_int_equal(l.until, 0);
    assert_string_equal(l.words, "no key");
    assert_int_equal(tolds, 1); /* once */
    assert_string_equal(told_text, "no key");
    assert_int_equal(sgss_client_login(c, "a b@R", on_login, &l, &err), -EINVAL);
    assert_int_equal(sgss_client_login(c, "", on_login, &l, &err), -EINVAL);
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = 0;
    assert_int_equal(sgss_client_login(c, name, on_login, &l, &err), -EINVAL);
    assert_int_equal(sgss_client_state(c).unanswered, 0);
    assert_int_equal(sgss_client_state(c).answers, 4);
    end(c);
}

struct outcome {
    int n, status;
    size_t token_len;
    char text[SV_ERROR_TEXT_MAX];
    struct gssapi_handshake *free_it;
};

static void on_outcome(const struct gssapi_outcome *o, void *userdata)
{
    struct outcome *u = userdata;

    u->n++;
    u->status = o->status;
    u->token_len = o->token_len;
    snprintf(u->text, sizeof(u->text), "%s", o->text ? o->text : "");
    u->free_it = ipc_gssapi_handshake_free(u->free_it);
}

static void test_handshakes(void **state)
{
    (void)state;
    struct sgss_client *c = client("good");
    struct gssapi_handshake *i, *a;
    struct outcome o = { 0 }, p = { 0 };
    struct sv_error err = { 0 };

    assert_int_equal(sgss_client_initiator(c, NM, RM, &i), 0);
    assert_int_equal(sgss_client_acceptor(c, RM, &a), 0);
    assert_int_equal(i->f->step(i, NULL, 0, on_outcome, &o, &err), 0);
    assert_int_equal(i->f->step(i, NULL, 0, on_outcome, &o, &err), -EBUSY);
    assert_int_equal(a->f->step(a, (const uint8_t *)"t", 1, on_outcome, &p, &err), 0);
    run_until_n(&o.n, 1);
    run_until_n(&p.n, 1);
    assert_int_equal(o.status, 0);
    assert_int_equal(o.token_len, strlen(RM));
    assert_int_equal(p.status, -EACCES);
    assert_string_equal(p.text, "a replay");
    /* one that goes on is forgotten by the helper, too */
    ipc_gssapi_handshake_free(i);
    assert_int_equal(login(c, "forgotten@R").until, 2);
    ipc_gssapi_handshake_free(a);
    /* freed in its callback */
    assert_int_equal(sgss_client_acceptor(c, RM, &a), 0);
    p.free_it = a;
    assert_int_equal(a->f->step(a, (const uint8_t *)"t", 1, on_outcome, &p, &err), 0);
    run_until_n(&p.n, 2);
    /* freed while the helper works: nobody is told */
    assert_int_equal(sgss_client_acceptor(c, RM, &a), 0);
    assert_int_equal(a->f->step(a, (const uint8_t *)"t", 1, on_outcome, &p, &err), 0);
    ipc_gssapi_handshake_free(a);
    assert_int_equal(login(c, NM).until, UNTIL);
    assert_int_equal(p.n, 2);
    assert_int_equal(sgss_client_state(c).unanswered, 0);
    /* the client goes first */
    assert_int_equal(sgss_client_acceptor(c, RM, &a), 0);
    assert_int_equal(a->f->step(a, (const uint8_t *)"t", 1, on_outcome, &p, &err), 0);
    end(c);
    assert_int_equal(a->f->step(a, (const uint8_t *)"t", 1, on_outcome, &p, &err), -ESHUTDOWN);
    ipc_gssapi_handshake_free(a);
    assert_int_equal(p.n, 2);
}

struct verdict {
    int n, status;
    char principal[64], text[SV_ERROR_TEXT_MAX], token[16];
    struct sv_web_question *question;
    bool drops;
};

static void on_verdict(const struct sv_web_verdict *v, void *userdata)
{
    struct verdict *u = userdata;

    u->n++;
    u->status = v->status;
    snprintf(u->principal, sizeof(u->principal), "%s", v->principal ? v->principal : "");
    snprintf(u->text, sizeof(u->text), "%s", v->text ? v->text : "");
    snprintf(u->token, sizeof(u->token), "%.*s", (int)v->token_len, (const char *)v->token);
    if (u->drops)
        u->question = sv_web_question_drop(u->question);
}

static int ask_web(struct sv_web_acceptor *a, const char *token, struct verdict *u)
{
    struct sv_error err = { 0 };

    return a->f->ask(a, (const uint8_t *)token, strlen(token), on_verdict, u, &u->question, &err);
}

static struct verdict judge(struct sv_web_acceptor *a, const char *token)
{
    struct verdict u = { 0 };

    assert_int_equal(ask_web(a, token, &u), 0);
    assert_int_equal(u.n, 0);
    run_until_n(&u.n, 1);
    sv_web_question_drop(u.question);
    return u;
}

static void test_web(void **state)
{
    (void)state;
    struct sgss_client *c = client("good");
    struct sv_web_acceptor *a, *any;
    struct verdict u, dropped = { 0 };

    assert_int_equal(sgss_client_web_acceptor(c, NM, &a), -EINVAL);
    assert_int_equal(sgss_client_web_acceptor(c, "", &a), -EINVAL);
    assert_int_equal(sgss_client_web_acceptor(c, WEB, &a), 0);
    assert_int_equal(sgss_client_web_acceptor(c, "*", &any), 0);
    u = judge(a, "ticket");
    assert_int_equal(u.status, 0);
    assert_string_equal(u.principal, "alice@R");
    assert_string_equal(u.token, "back");
    assert_string_equal(judge(any, "ticket").principal, "any@R");
    u = judge(a, "more");
    assert_int_equal(u.status, 0);
    assert_string_equal(u.principal, "");
    assert_string_equal(u.token, "back");
    u = judge(a, "replay");
    assert_int_equal(u.status, -EACCES);
    assert_string_equal(u.text, "a replay");
    /* dropped in its callback; while the helper works */
    u = (struct verdict){ .drops = true };
    assert_int_equal(ask_web(a, "ticket", &u), 0);
    run_until_n(&u.n, 1);
    assert_null(u.question);
    assert_int_equal(ask_web(a, "ticket", &dropped), 0);
    sv_web_question_drop(dropped.question);
    (void)judge(a, "ticket");
    assert_int_equal(dropped.n, 0);
    assert_int_equal(sgss_client_state(c).unanswered, 0);
    assert_int_equal(sgss_client_state(c).starts, 1);
    sv_web_acceptor_free(any);
    sv_web_acceptor_free(a);
    end(c);
}

/* A helper that answers a token without a name breaks the protocol. */
static void test_web_fault(void **state)
{
    (void)state;
    struct sgss_client *c = client("no-name");
    struct sv_web_acceptor *a;
    struct verdict u = { 0 };

    assert_int_equal(sgss_client_web_acceptor(c, WEB, &a), 0);
    assert_int_equal(ask_web(a, "ticket", &u), 0);
    run_until_n(&u.n, 1);
    assert_int_equal(u.status, -EIO);
    assert_non_null(strstr(u.text, "an answer to no request"));
    sv_web_question_drop(u.question);
    if (!sgss_client_state(c).runs)
        assert_int_equal(ask_web(a, "ticket", &u), -EAGAIN);
    comes_back(c);
    assert_string_equal(judge(a, "ticket").principal, "alice@R");
    sv_web_acceptor_free(a);
    end(c);
}

static void fault(const char *how, const char *words)
{
    struct sgss_client *c = client(how);
    struct login one = { 0 }, two = { 0 };
    struct outcome o = { 0 };
    struct gssapi_handshake *i;
    struct sv_error err = { 0 };

    assert_int_equal(sgss_client_login(c, NM, on_login, &one, &err), 0);
    assert_int_equal(sgss_client_login(c, NM, on_login, &two, &err), 0);
    assert_int_equal(sgss_client_initiator(c, NM, RM, &i), 0);
    assert_int_equal(i->f->step(i, NULL, 0, on_outcome, &o, &err), 0);
    run_until_n(&tolds, 1);
    if (!strstr(told_text, words))
        fail_msg("%s: %s", how, told_text);
    assert_non_null(strstr(told_text, "selvedge-gss"));
    assert_int_equal(one.n, 1);
    assert_int_equal(two.n, 1);
    assert_int_equal(o.n, 1);
    assert_int_equal(two.until, 0);
    assert_non_null(strstr(two.words, words));
    assert_int_equal(o.status, -EIO);
    /* meanwhile refused at once, with the reason */
    if (!sgss_client_state(c).runs) {
        assert_int_equal(sgss_client_login(c, NM, on_login, &one, &err), -EAGAIN);
        assert_non_null(strstr(err.text, "started again"));
    }
    comes_back(c);
    /* the next helper does not know the handshake */
    assert_int_equal(i->f->step(i, (const uint8_t *)"t", 1, on_outcome, &o, &err), -ESTALE);
    ipc_gssapi_handshake_free(i);
    end(c);
}

static void test_faults(void **state)
{
    (void)state;
    fault("silent", "does not answer; it hangs");
    fault("garbage", "what is no answer");
    fault("long", "what is no answer");
    fault("stranger", "an answer to no request");
    fault("other-kind", "an answer to no request");
    fault("exit", "");
}

/* The first answer counts, the second one ends the helper. */
static void test_twice(void **state)
{
    (void)state;
    struct sgss_client *c = client("twice");

    assert_int_equal(login(c, NM).until, UNTIL);
    run_until_n(&tolds, 1);
    assert_non_null(strstr(told_text, "an answer to no request"));
    comes_back(c);
    end(c);
}

/* 200 requests at once, more than the socket holds. */
static void test_many(void **state)
{
    (void)state;
    enum { N = 200 };
    struct sgss_client *c = client("good");
    struct gssapi_handshake *a[N];
    struct outcome o = { 0 };
    struct sv_error err = { 0 };
    static uint8_t token[SGSS_TOKEN_MAX];

    for (int i = 0; i < N; i++) {
        assert_int_equal(sgss_client_acceptor(c, RM, &a[i]), 0);
        assert_int_equal(a[i]->f->step(a[i], token, sizeof(token), on_outcome, &o, &err), 0);
    }
    assert_int_equal(sgss_client_state(c).unanswered, N);
    run_until_n(&o.n, N);
    for (int i = 0; i < N; i++)
        ipc_gssapi_handshake_free(a[i]);
    assert_int_equal(sgss_client_state(c).starts, 1);
    end(c);
}

/* A helper of systemd: a connection instead of a child. */
static void test_socket(void **state)
{
    (void)state;
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct sgss_client_config cfg = { .event = event, .socket = at.sun_path, .rest_ms = 1 };
    struct sgss_client *c;
    struct sv_error err = { 0 };
    struct login l = { 0 };
    int s, peer;

    snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/test-gss-socket-%d", getpid());
    (void)unlink(at.sun_path);
    assert_int_equal(sgss_client_new(&cfg, &c, &err), -ENOENT);
    assert_non_null(strstr(err.text, "selvedge-gss.socket"));
    s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s, 5), 0);
    assert_int_equal(sgss_client_new(&cfg, &c, &err), 0);
    peer = accept(s, NULL, NULL);
    assert_int_equal(sgss_client_login(c, NM, on_login, &l, &err), 0);
    sv_close(peer);
    run_until_n(&l.n, 1);
    assert_int_equal(l.until, 0);
    assert_non_null(strstr(l.words, "has closed its connection"));
    while (!sgss_client_state(c).runs)
        assert_true(sd_event_run(event, 30000000) > 0);
    assert_int_equal(sgss_client_state(c).starts, 2);
    sgss_client_free(c);
    sv_close(s);
    (void)unlink(at.sun_path);
}

/* A helper that reads nothing: what waits for it has a bound, though those who asked are gone. */
static void test_unread(void **state)
{
    (void)state;
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct sgss_client_config cfg = { .event = event, .socket = at.sun_path };
    static uint8_t token[SGSS_TOKEN_MAX];
    struct sgss_client *c;
    struct sv_error err = { 0 };
    struct outcome o = { 0 };
    int s, n = 0, r = 0;

    snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/test-gss-unread-%d", getpid());
    (void)unlink(at.sun_path);
    s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s, 5), 0);
    assert_int_equal(sgss_client_new(&cfg, &c, &err), 0);
    for (; r == 0; n++) {
        struct gssapi_handshake *h;

        assert_int_equal(sgss_client_acceptor(c, RM, &h), 0);
        r = h->f->step(h, token, sizeof(token), on_outcome, &o, &err);
        ipc_gssapi_handshake_free(h);
        assert_true(n < (int)(SGSS_UNSENT_MAX / sizeof(token)) + 10);
    }
    assert_int_equal(r, -EBUSY);
    assert_non_null(strstr(err.text, "too many"));
    sgss_client_free(c);
    sv_close(s);
    (void)unlink(at.sun_path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_login),     cmocka_unit_test(test_handshakes),
        cmocka_unit_test(test_faults),    cmocka_unit_test(test_twice),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_socket),
        cmocka_unit_test(test_unread),    cmocka_unit_test(test_web),
        cmocka_unit_test(test_web_fault),
    };

    if (argc == 4 && sv_streq(argv[1], "--helper"))
        return helper(argv[2], argv[3]);
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    sd_event_unref(event);
    return r;
}
