/* A web server behind the gate of common/web/web-gate.h, with an acceptor that answers as the
 * ticket says, and clients: for test-web-gate.c and test-web-gate-waits.c. */
#ifndef SELVEDGE_TESTS_UNIT_COMMON_WEB_GATED_SERVER_H
#define SELVEDGE_TESTS_UNIT_COMMON_WEB_GATED_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "common/web/http-filters.h"
#include "common/web/http-stream.h"
#include "common/web/spnego.h"
#include "common/web/web-gate.h"
#include "common/web/web-user.h"

#define NOW_MS 1700000000000
#define BOB                                                                                        \
    "hadoop.auth=\"u=bob&p=bob&t=simple&e=1700000036000"                                           \
    "&s=m3XF9GQC82cJ2KCk5SCKoe/bOixm3i/shSw1pRnMt4I=\""
#define ALICE                                                                                      \
    "hadoop.auth=\"u=alice&p=alice@KRB.TEST&t=kerberos&e=1700000036000"                            \
    "&s=/Kb0/1cWOX+JTIB+2tOQF1vr4CsrZ4PoquVnuw0djdk=\""
#define NO_COOKIE "\r\nSet-Cookie: hadoop.auth=; Path=/; HttpOnly\r\n"

/* ---- The acceptor ---- */

struct question {
    struct sv_web_question base;
    char ticket[32];
    sv_web_judged judged;
    void *userdata;
    struct question *prev, *next;
};
static struct question *questions; /* not judged yet */
static unsigned asked, open_questions;

static inline int ask_acceptor(struct sv_web_acceptor *a, const uint8_t *token, size_t n,
                               sv_web_judged judged, void *userdata, struct sv_web_question **ret,
                               struct sv_error *err)
{
    struct question *q;

    asked++;
    if (n == 4 && memcmp(token, "down", 4) == 0)
        return sv_error_set(err, -EAGAIN, "the helper rests");
    q = calloc(1, sizeof(*q));
    q->base.acceptor = a;
    q->judged = judged;
    q->userdata = userdata;
    snprintf(q->ticket, sizeof(q->ticket), "%.*s", (int)SV_MIN(n, (size_t)20), (const char *)token);
    DL_APPEND(questions, q);
    open_questions++;
    *ret = &q->base;
    return 0;
}

static inline void drop_question(struct sv_web_question *base)
{
    struct question *q = (struct question *)base;

    if (q->judged)
        DL_DELETE(questions, q);
    open_questions--;
    free(q);
}

static const struct sv_web_acceptor_functions functions = { .ask = ask_acceptor,
                                                            .drop = drop_question };
static struct sv_web_acceptor acceptor = { &functions };

/* Answers all that were asked. */
static inline void judge(void)
{
    static const struct {
        const char *ticket;
        struct sv_web_verdict v;
    } verdicts[] = {
#define TOKEN .token = (const uint8_t *)"back", .token_len = 4
        { "alice", { .principal = "alice@KRB.TEST", TOKEN } },
        { "quiet", { .principal = "alice@KRB.TEST" } },
        { "host", { .principal = "nm/host@KRB.TEST", TOKEN } },
        { "stranger", { .principal = "alice@OTHER", TOKEN } },
        { "odd", { .principal = "al,ice@KRB.TEST", TOKEN } },
        { "more", { TOKEN } },
        { "replay", { .status = -EACCES, .text = "Request is a replay" } },
        { "broken", { .status = -EIO, .text = "no keytab has a key of HTTP/secret-host" } },
#undef TOKEN
    };

    while (questions) {
        struct question *q = questions;
        const struct sv_web_verdict *v = NULL;

        for (size_t i = 0; i < SV_ARRAY_LEN(verdicts); i++)
            if (sv_streq(q->ticket, verdicts[i].ticket))
                v = &verdicts[i].v;
        assert_non_null(v);
        DL_DELETE(questions, q);
        SV_TAKE(q->judged)(v, q->userdata);
    }
}

/* ---- The server ---- */

static struct sv_web_auth auth = { .secret = (char *)"secret\n", .secret_len = 7 };
static struct sv_web_login login;
static struct sv_auth_to_local *rules;
static const struct sv_web_rights *rights;
static struct sv_web_gate gate;
static sd_event *event;
static struct sv_http *http;
static unsigned calls; /* of the handler */
static int later;      /* how often it says -EAGAIN */

static inline void on_drained(void *userdata)
{
    (void)userdata;
}

static inline int handler(const struct sv_http_request *req, struct sv_http_response *ret,
                          void *userdata)
{
    static const struct sv_http_stream_events events = { on_drained, on_drained };
    char user[SV_AUTH_USER_MAX];

    (void)userdata;
    calls++;
    if (strcmp(req->path, "/fails") == 0)
        return -EIO;
    if (strcmp(req->path, "/later") == 0 && later-- > 0)
        return -EAGAIN;
    sv_web_user(&auth, req, user);
    if (strcmp(req->path, "/stream") == 0) {
        sv_http_stream_text(sv_http_stream_new(req, &events, NULL), 200, "text/plain", user);
        return SV_HTTP_LATER;
    }
    ret->status = 200;
    if (strcmp(req->path, "/who") == 0)
        return sv_asprintf(&ret->body, "<%s> <%s> <%s> %d", user,
                           req->caller->full ? req->caller->full : "",
                           req->caller->real ? req->caller->real : "", (int)req->caller->proof) < 0
                   ? -ENOMEM
                   : (ret->body_len = strlen(ret->body), 0);
    if (strcmp(req->path, "/page") == 0)
        ret->content_type = "text/html; charset=utf-8";
    if (sv_asprintf(&ret->body, "user <%s>", user) < 0)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    return 0;
}

static inline void serve(const char *type, bool with_acceptor, bool https)
{
    struct sv_error err = { 0 };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    auth.auth_type = type;
    sv_web_gate_init(&gate,
                     &(struct sv_web_gate_config){ .auth = &auth,
                                                   .login = &login,
                                                   .acceptor = with_acceptor ? &acceptor : NULL,
                                                   .rules = rules,
                                                   .https = https,
                                                   .rights = rights });
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 128), 0);
    assert_int_equal(sv_http_new_on(event, fd, &gate.http, handler, NULL, &http, &err), 0);
}

static inline int set_up(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    login = (struct sv_web_login){ .validity_ms = 36000, .anonymous = true };
    auth.proven_only = false;
    rights = NULL;
    asked = calls = 0;
    later = 0;
    sv_clock_set_test(1000, NOW_MS);
    if (sd_event_new(&event) < 0)
        return -1;
    return sv_auth_to_local_new("DEFAULT", SV_AUTH_HADOOP, "KRB.TEST", &rules, &err);
}

static inline int tear_down(void **state)
{
    (void)state;
    http = sv_http_free(http);
    event = sd_event_unref(event);
    rules = sv_auth_to_local_free(rules);
    sv_clock_reset();
    assert_int_equal(open_questions, 0);
    assert_int_equal(gate.waiting, 0);
    return 0;
}

/* ---- Clients ---- */

static inline int connect_client(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static inline void turn(uint64_t usec)
{
    assert_true(sd_event_run(event, usec) >= 0);
}

static inline void put(int fd, const char *text)
{
    size_t n = strlen(text), at = 0;

    while (at < n) {
        ssize_t sent = send(fd, text + at, n - at, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno != EAGAIN)
            break; /* it has answered before all was sent */
        at += sent > 0 ? (size_t)sent : 0;
        turn(0);
    }
}

static inline void request(int fd, const char *method, const char *path, const char *headers)
{
    _cleanup_free_ char *text = NULL;

    assert_int_equal(sv_asprintf(&text, "%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s\r\n",
                                 method, path, headers),
                     0);
    put(fd, text);
}

/* Until the server closes; tickets are judged at once. */
static inline const char *answer(int fd)
{
    static char text[1 << 17];
    size_t n = 0;

    for (;;) {
        ssize_t got = recv(fd, text + n, sizeof(text) - n - 1, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno == ECONNRESET))
            break;
        n += got > 0 ? (size_t)got : 0;
        judge();
        turn(1000);
    }
    text[n] = 0;
    sv_close(fd);
    return text;
}

static inline const char *ask(const char *method, const char *path, const char *headers)
{
    int fd = connect_client();

    request(fd, method, path, headers);
    return answer(fd);
}

static inline const char *get(const char *path, const char *headers)
{
    return ask("GET", path, headers);
}

/* "Authorization: Negotiate …" of a ticket; the last call's. */
static inline const char *with(const char *ticket)
{
    static char *line;
    _cleanup_free_ char *value = NULL;

    free(line);
    assert_int_equal(sv_spnego_challenge((const uint8_t *)ticket, strlen(ticket), &value), 0);
    assert_int_equal(sv_asprintf(&line, "Authorization: %s\r\n", value), 0);
    return line;
}

static inline void has(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("\"%s\" lacks \"%s\"", text, wanted);
}

static inline void lacks(const char *text, const char *unwanted)
{
    if (strstr(text, unwanted))
        fail_msg("\"%s\" has \"%s\"", text, unwanted);
}

#endif
