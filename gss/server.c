/* See server.h. Hostile: the daemon, which parses what containers and clients send.
 *
 * ACCEPT has workers of its own: it needs no KDC, and a daemon that connects to itself answers with
 * one while the other half of the handshake holds a worker of INIT. WEB has another: a flood at the
 * web port delays no RPC. */
#include "gss/server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/fd.h"
#include "gss/handshake.h"
#include "gss/pool.h"
#include "gss/protocol.h"
#include "gss/ticket.h"
#include "gss/web-step.h"

#define WORKERS 4     /* a pool: half a millisecond each, or as long as a KDC takes */
#define WEB_WORKERS 1 /* so that the replay cache sees one token after the other */
#define QUEUE_MAX 512 /* requests that wait, a pool */
#define PRUNE_MS 10000

struct sgss_server {
    int fd;
    const struct sgss_keytabs *keytabs;
    struct sgss_handshakes *handshakes;
    struct sgss_tickets *tickets;
    struct sgss_pool *acceptors, *initiators, *web;
    int64_t pruned_ms;
    uint8_t frame[SGSS_FRAME_MAX];
};

struct job {
    struct sgss_server *s;
    int64_t deadline_ms; /* sv_now_ms() */
    struct sgss_request m;
    size_t n;
    uint8_t frame[]; /* that m points into */
};

/* A packet is sent whole or not at all, so the threads need no lock. One that cannot be sent has no
 * reader any more. */
static void send_answer(struct sgss_server *s, struct sgss_answer *m, const char *words)
{
    char text[SGSS_WORDS_MAX + 1];
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SGSS_FRAME_MAX);

    sgss_words(text, words);
    m->words = text;
    if (sgss_answer_put(&b, m) < 0) { /* such as a name with blanks */
        struct sgss_answer other = { .id = m->id,
                                     .status = SGSS_REFUSED,
                                     .words = "the peer's name or context cannot be passed on" };

        sv_buf_free(&b);
        if (sgss_answer_put(&b, &other) < 0)
            return; /* out of memory: the daemon's deadline passes */
    }
    (void)!send(s->fd, b.data, b.len, MSG_NOSIGNAL); /* see above, ignoring */
}

static void refuse(struct sgss_server *s, uint64_t id, enum sgss_status status, const char *words)
{
    struct sgss_answer m = { .id = id, .status = status };

    send_answer(s, &m, words);
}

/* ---- In the workers ---- */

static void login(struct sgss_server *s, const struct sgss_request *m, int64_t wait_ms)
{
    struct sgss_answer a = { .id = m->id, .status = SGSS_OK };
    struct sgss_ticket *t = NULL;
    struct sv_error err = { 0 };
    int r = sgss_ticket_take(s->tickets, m->principal, wait_ms, &t, &err);

    if (r < 0)
        a.status = r == -ETIMEDOUT ? SGSS_LATE : SGSS_NOT_ABLE;
    else
        a.until = (uint64_t)sgss_ticket_until(t);
    sgss_ticket_release(t);
    send_answer(s, &a, err.text);
}

static void step(struct sgss_server *s, const struct sgss_request *m, int64_t wait_ms)
{
    struct sgss_answer a = { 0 };
    struct sgss_made made = { 0 };
    struct sgss_handshake *h;
    struct sv_error err = { 0 };
    int r = sgss_handshake_take(s->handshakes, m, &h);

    if (r < 0) {
        refuse(s, m->id, SGSS_BUSY,
               r == -EINVAL ? "the handshake is another's" : "too many handshakes are under way");
        return;
    }
    sgss_handshake_step(h, m, wait_ms, &made, &a, &err);
    sgss_handshake_give(s->handshakes, h, a.status != SGSS_MORE);
    a.id = m->id;
    send_answer(s, &a, err.text);
    sgss_made_free(&made);
}

static void web(struct sgss_server *s, const struct sgss_request *m)
{
    struct sgss_answer a = { 0 };
    struct sgss_made made = { 0 };
    struct sv_error err = { 0 };

    sgss_web_step(s->keytabs, m, &made, &a, &err);
    a.id = m->id;
    send_answer(s, &a, err.text);
    sgss_made_free(&made);
}

static void run(void *data)
{
    struct job *j = data;
    int64_t left = j->deadline_ms - sv_now_ms();

    if (left <= 0)
        refuse(j->s, j->m.id, SGSS_LATE, "the request waited for too long behind others");
    else if (j->m.kind == SGSS_LOGIN)
        login(j->s, &j->m, left);
    else if (j->m.kind == SGSS_WEB)
        web(j->s, &j->m);
    else
        step(j->s, &j->m, left);
    free(j);
}

/* ---- The loop ---- */

int sgss_server_new(int fd, const struct sgss_keytabs *k, struct sgss_server **ret)
{
    struct sgss_server *s = calloc(1, sizeof(*s));
    int r = s ? 0 : -ENOMEM;

    if (r < 0)
        return r;
    s->fd = fd;
    s->keytabs = k;
    sgss_socket_prepare(fd);
    r = sgss_web_prepare();
    if (r == 0)
        r = sgss_tickets_new(k, &s->tickets);
    if (r == 0)
        r = sgss_handshakes_new(k, s->tickets, &s->handshakes);
    if (r == 0)
        r = sgss_pool_new(WORKERS, QUEUE_MAX, run, &s->acceptors);
    if (r == 0)
        r = sgss_pool_new(WORKERS, QUEUE_MAX, run, &s->initiators);
    if (r == 0)
        r = sgss_pool_new(WEB_WORKERS, QUEUE_MAX, run, &s->web);
    if (r == 0)
        *ret = s; /* else the program ends */
    return r;
}

static struct sgss_pool *pool_of(const struct sgss_server *s, enum sgss_kind kind)
{
    return kind == SGSS_ACCEPT ? s->acceptors : kind == SGSS_WEB ? s->web : s->initiators;
}

static int pass_on(struct sgss_server *s, const struct sgss_request *m, size_t n)
{
    struct job *j = malloc(sizeof(*j) + n);
    int r = -ENOMEM;

    if (j) {
        j->s = s;
        j->deadline_ms = sv_now_ms() + m->deadline_ms;
        j->n = n;
        memcpy(j->frame, s->frame, n);
        r = sgss_request_get(j->frame, n, &j->m); /* points into the copy */
    }
    if (r == 0)
        r = sgss_pool_put(pool_of(s, m->kind), j);
    if (r < 0) {
        free(j);
        refuse(s, m->id, SGSS_BUSY, "too many requests wait");
    }
    return 0;
}

static int on_packet(struct sgss_server *s, size_t n, struct sv_error *err)
{
    struct sgss_request m;

    if (sgss_request_get(s->frame, n, &m) < 0)
        return sv_error_set(err, -EBADMSG,
                            "descriptor 3: a packet of %zu bytes is no request; the daemon is of "
                            "another version, or was taken over",
                            n);
    if (m.kind != SGSS_FORGET)
        return pass_on(s, &m, n);
    sgss_handshake_forget(s->handshakes, m.handshake);
    return 0;
}

int sgss_server_run(struct sgss_server *s, struct sv_error *err)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };

    for (;;) {
        /* No wake-up of its own: handshakes that stopped halfway are dropped with later requests.
         */
        int r = poll(&p, 1, -1);
        ssize_t n;

        if (r < 0 && errno != EINTR)
            return sv_error_errno(err, -errno, "descriptor 3: poll");
        if (r <= 0)
            continue;
        n = sv_recv(s->fd, s->frame, sizeof(s->frame), MSG_TRUNC | MSG_DONTWAIT);
        if (n == 0)
            return 0;
        if (n < 0 && errno == EAGAIN)
            continue;
        if (n < 0)
            return sv_error_errno(err, -errno, "descriptor 3");
        r = on_packet(s, (size_t)n, err);
        if (r < 0)
            return r;
        if (sv_now_ms() >= s->pruned_ms + PRUNE_MS) {
            sgss_handshakes_prune(s->handshakes);
            s->pruned_ms = sv_now_ms();
        }
    }
}
