/* The helper's life and its answers; see client.h. Hostile: its packets. */
#include "gss/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/loop-guard.h"
#include "gss/client-internal.h"
#include "gss/protocol.h"

#define REST_FIRST_MS 1000
#define REST_MAX_MS 60000
#define CALM_MS 60000     /* a helper that lived that long has not failed at its start */
#define PACKETS_A_TURN 32 /* an import each, 0.2 ms */

static int start(struct sgss_client *c, struct sv_error *err);

static void tell(const struct sgss_client *c, const char *text)
{
    if (c->cfg.told)
        c->cfg.told(text, c->cfg.userdata);
}

void sgss_client_arm(struct sgss_client *c, int64_t at_ms)
{
    c->timer_ms = at_ms;
    (void)sd_event_source_set_time(c->timer, (uint64_t)SV_MAX(at_ms, 0) * 1000);
    (void)sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT); /* cannot fail, ignoring */
}

/* ---- Requests end ---- */

/* Detaches and answers one. */
static void end_request(struct sgss_client *c, struct sgss_client_request *q,
                        const struct gssapi_outcome *o, uint64_t until)
{
    HASH_DELETE(hh, c->requests, q);
    if (q->handshake)
        q->handshake->waiting = NULL;
    if (q->done)
        q->done(until, until ? NULL : o->text, q->userdata);
    else if (q->handshake)
        q->told(o, q->userdata); /* may free the handshake */
    free(q);
}

static void fail_all(struct sgss_client *c, const char *why)
{
    struct sgss_client_request *q, *next, *dead = c->requests;
    const struct gssapi_outcome o = { .status = -EIO, .text = why };

    /* None that the callbacks begin is among these: the state forbids it. */
    HASH_ITER (hh, dead, q, next)
        end_request(c, q, &o, 0);
}

static void drop_packets(struct sgss_client *c)
{
    struct sgss_client_packet *p, *next;

    DL_FOREACH_SAFE (c->unsent, p, next) {
        DL_DELETE(c->unsent, p);
        sv_buf_free(&p->b);
        free(p);
    }
    c->n_unsent = c->unsent_bytes = 0;
}

/* ---- The process ends ---- */

/* 75 to 125 %: nodes that a KDC has failed do not come back together. */
static int64_t jitter(int64_t ms)
{
    uint32_t random = 512;

    (void)!getrandom(&random, sizeof(random), 0); /* without it in the middle, ignoring */
    return ms * 3 / 4 + ms / 2 * (random % 1024) / 1024;
}

static void rest(struct sgss_client *c)
{
    int64_t first = c->cfg.rest_ms ? c->cfg.rest_ms : REST_FIRST_MS;

    if (c->rest_ms == 0 || sv_now_ms() - c->started_ms > CALM_MS)
        c->rest_ms = first;
    else
        c->rest_ms = SV_MIN(2 * c->rest_ms, (int64_t)REST_MAX_MS);
    c->state = SGSS_RESTS;
    sgss_client_arm(c, sv_now_ms() + jitter(c->rest_ms));
}

/* Kills the helper and fails what waits for it. */
static void broken(struct sgss_client *c, const char *why)
{
    if (c->state != SGSS_RUNS)
        return;
    snprintf(c->why, sizeof(c->why), "the Kerberos helper selvedge-gss %s; it is started again",
             why);
    c->io = sd_event_source_disable_unref(c->io);
    sgss_process_kill(&c->process);
    drop_packets(c);
    if (c->process.child.pid > 0) {
        c->state = SGSS_DYING;
        (void)sd_event_source_set_enabled(c->timer, SD_EVENT_OFF); /* cannot fail, ignoring */
    } else {
        rest(c);
    }
    tell(c, c->why);
    fail_all(c, c->why);
}

/* Its status says more than the end of the connection did. */
static int on_ended(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sgss_client *c = userdata;
    char text[64], why[96];

    (void)source, (void)fd, (void)events;
    c->ended = sd_event_source_disable_unref(c->ended);
    snprintf(why, sizeof(why), "%s", sgss_process_reap(&c->process, text, sizeof(text)));
    if (c->state == SGSS_RUNS) {
        broken(c, why); /* without a child any more: it rests */
    } else {
        snprintf(c->why, sizeof(c->why), "the Kerberos helper selvedge-gss %s; it is started again",
                 why);
        rest(c);
    }
    return 0;
}

/* ---- Answers ---- */

/* Those of another kind than the request's break the protocol. */
static bool fits(const struct sgss_client_request *q, const struct sgss_answer *a)
{
    if (a->status >= SGSS_REFUSED)
        return true;
    if (q->kind == SGSS_LOGIN)
        return a->status == SGSS_OK && !a->name[0] && a->until > 0;
    if (q->kind == SGSS_WEB)
        return a->status == SGSS_MORE || (a->context_len == 0 && a->name[0]);
    return a->status == SGSS_MORE || a->context_len > 0;
}

/* Tells the operator of a keytab, ticket or KDC that fails, which is no peer's to know: once, until
 * something else fails, or nothing does. */
static void tell_inability(struct sgss_client *c, const struct sgss_answer *a)
{
    if (a->status < SGSS_REFUSED)
        c->said[0] = 0;
    if (a->status != SGSS_NOT_ABLE || strcmp(c->said, a->words) == 0)
        return;
    snprintf(c->said, sizeof(c->said), "%s", a->words);
    tell(c, a->words);
}

static void deliver(struct sgss_client *c, struct sgss_client_request *q,
                    const struct sgss_answer *a)
{
    const struct gssapi_outcome o = {
        .status = a->status < SGSS_REFUSED    ? 0
                  : a->status == SGSS_REFUSED ? -EACCES
                                              : -EIO,
        .text = a->words,
        .token = a->token,
        .token_len = a->token_len,
        .context = a->context_len > 0 ? a->context : NULL,
        .context_len = a->context_len,
        .name = a->name,
        .mutual = a->flags & SGSS_MUTUAL,
        .integrity = a->flags & SGSS_INTEGRITY,
        .privacy = a->flags & SGSS_PRIVACY,
        .ordered = a->flags & SGSS_ORDERED,
    };

    if (q->handshake && a->status != SGSS_MORE)
        q->handshake->life = 0; /* the helper has dropped it */
    c->answers++;
    tell_inability(c, a);
    end_request(c, q, &o, a->status == SGSS_OK ? a->until : 0);
}

/* One packet. 0: none is there. */
static int receive(struct sgss_client *c)
{
    static uint8_t frame[SGSS_FRAME_MAX]; /* of the loop's only thread */
    struct sgss_answer a;
    struct sgss_client_request *q;
    ssize_t n = sv_recv(c->process.fd, frame, sizeof(frame), MSG_DONTWAIT | MSG_TRUNC);

    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0) {
        broken(c, "has closed its connection");
        return 0;
    }
    if (sgss_answer_get(frame, (size_t)n, &a) < 0) {
        broken(c, "has sent what is no answer");
        return 0;
    }
    HASH_FIND(hh, c->requests, &a.id, sizeof(a.id), q);
    if (!q || !fits(q, &a)) {
        broken(c, "has sent an answer to no request");
        return 0;
    }
    deliver(c, q, &a);
    return 1;
}

/* False: more may be there. */
static bool receive_some(struct sgss_client *c)
{
    for (int i = 0; i < PACKETS_A_TURN; i++)
        if (c->state != SGSS_RUNS || receive(c) == 0)
            return true;
    return false;
}

void sgss_client_flush(struct sgss_client *c)
{
    while (c->unsent) {
        struct sgss_client_packet *p = c->unsent;

        /* Other errors: the connection's end is seen by its event. */
        if (send(c->process.fd, p->b.data, p->b.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            break;
        DL_DELETE(c->unsent, p);
        c->n_unsent--;
        c->unsent_bytes -= p->b.cap;
        sv_buf_free(&p->b);
        free(p);
    }
    /* cannot fail, ignoring */
    (void)sd_event_source_set_io_events(c->io, EPOLLIN | (c->unsent ? (uint32_t)EPOLLOUT : 0));
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sgss_client *c = userdata;

    (void)source, (void)fd;
    (void)receive_some(c);
    if (c->state == SGSS_RUNS && events & EPOLLOUT)
        sgss_client_flush(c);
    return 0;
}

/* ---- Time ---- */

/* The next deadline; INT64_MAX: none. A late request ends the helper. */
static int64_t check_deadlines(struct sgss_client *c)
{
    int64_t now = sv_now_ms(), next = INT64_MAX;
    struct sgss_client_request *q, *tmp;

    HASH_ITER (hh, c->requests, q, tmp) {
        if (q->deadline_ms <= now) {
            broken(c, q->kind == SGSS_ACCEPT || q->kind == SGSS_WEB
                          ? "does not answer; it hangs"
                          : "does not answer; it hangs, or no KDC answers it");
            return INT64_MAX;
        }
        next = SV_MIN(next, q->deadline_ms);
    }
    return next;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sgss_client *c = userdata;
    struct sv_error err = { 0 };
    int64_t next;

    (void)source, (void)usec;
    if (c->state == SGSS_RUNS) {
        /* Answers that came while this process was stopped, or busy, are in time. */
        next = receive_some(c) ? check_deadlines(c) : sv_now_ms();
        if (c->state == SGSS_RUNS && next < INT64_MAX)
            sgss_client_arm(c, next);
    } else if (c->state == SGSS_RESTS) {
        if (start(c, &err) == 0) {
            tell(c, "the Kerberos helper selvedge-gss runs again");
        } else {
            snprintf(c->why, sizeof(c->why), "the Kerberos helper selvedge-gss: %.900s", err.text);
            rest(c);
        }
    }
    return 0;
}

/* ---- Start and end ---- */

static int watch(struct sgss_client *c)
{
    int r = sd_event_add_io(c->cfg.event, &c->io, c->process.fd, EPOLLIN, on_io, c);

    if (r >= 0 && c->process.child.pid > 0)
        r = sd_event_add_io(c->cfg.event, &c->ended, c->process.child.pidfd, EPOLLIN, on_ended, c);
    return r;
}

static int start(struct sgss_client *c, struct sv_error *err)
{
    int r = sgss_process_start(c->cfg.socket, c->cfg.argv, &c->process, err);

    if (r < 0)
        return r;
    c->state = SGSS_RUNS;
    c->starts++;
    c->started_ms = sv_now_ms();
    r = watch(c);
    if (r < 0) {
        c->io = sd_event_source_disable_unref(c->io);
        sgss_process_kill(&c->process);
        (void)sgss_process_reap(&c->process, (char[1]){ 0 }, 1); /* the pidfd closes, ignoring */
        c->state = SGSS_RESTS;
        return sv_error_errno(err, r, "event source");
    }
    return 0;
}

int sgss_client_new(const struct sgss_client_config *cfg, struct sgss_client **ret,
                    struct sv_error *err)
{
    _cleanup_(sgss_client_freep) struct sgss_client *c = calloc(1, sizeof(*c));
    int r;

    if (!c)
        return sv_error_set(err, -ENOMEM, "out of memory");
    c->cfg = *cfg;
    c->process = SGSS_NO_PROCESS;
    c->state = SGSS_RESTS;
    r = sd_event_add_time(cfg->event, &c->timer, CLOCK_BOOTTIME, 0, 0, on_timer, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
    if (r < 0)
        return sv_error_errno(err, r, "timer");
    r = start(c, err);
    if (r < 0)
        return r;
    *ret = SV_TAKE(c);
    return 0;
}

struct sgss_client *sgss_client_free(struct sgss_client *c)
{
    struct sgss_client_request *q, *next;
    struct sgss_client_handshake *h;

    if (!c)
        return NULL;
    HASH_ITER (hh, c->requests, q, next) {
        HASH_DELETE(hh, c->requests, q);
        if (q->handshake)
            q->handshake->waiting = NULL;
        free(q);
    }
    DL_FOREACH (c->handshakes, h)
        h->client = NULL;
    drop_packets(c);
    sd_event_source_disable_unref(c->io);
    sd_event_source_disable_unref(c->ended);
    sd_event_source_disable_unref(c->timer);
    sgss_process_kill(&c->process);
    sv_close(c->process.child.pidfd);
    free(c);
    return NULL;
}

struct sgss_client_state sgss_client_state(const struct sgss_client *c)
{
    return (struct sgss_client_state){ .runs = c->state == SGSS_RUNS,
                                       .starts = c->starts,
                                       .answers = c->answers,
                                       .unanswered = HASH_COUNT(c->requests) };
}
