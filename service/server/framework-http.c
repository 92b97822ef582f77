/* HTTP of the launcher: calls of clients and masters, long answers, masters who wait; see
 * frameworks.h. */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/web/http-stream.h"
#include "common/web/rest-reply.h"
#include "service/framework/link.h"
#include "service/launcher/link.h"
#include "service/server/frameworks-internal.h"

#define TURN_US 2000                 /* of one answer, in one turn of the loop */
#define PIECE ((size_t)64 << 10)     /* bytes that are built at once */
#define WAKE_ONCE 8                  /* masters in one turn of the loop */
#define PIECE_MAX ((size_t)16 << 20) /* one task, request or summary more than that */

/* ---- Long answers ---- */

struct framework_stream {
    struct svc_frameworks *s;
    struct sv_http_stream *stream;
    struct svc_lr_pieces *pieces;
    struct sv_buf buf;
    bool more;
    sd_event_source *turn; /* the next one, when this one has taken its time */
    struct framework_stream *prev, *next;
};

static void stream_free(struct framework_stream *t)
{
    DL_DELETE(t->s->streams, t);
    t->turn = sd_event_source_disable_unref(t->turn);
    t->pieces = svc_lr_pieces_free(t->pieces);
    sv_buf_free(&t->buf);
    free(t);
}

static int on_turn(sd_event_source *source, void *userdata);

static int later(struct framework_stream *t)
{
    if (t->turn)
        return sd_event_source_set_enabled(t->turn, SD_EVENT_ONESHOT);
    return sd_event_add_defer(t->s->cfg.event, &t->turn, on_turn, t);
}

/* As much as the client takes now, for a turn's time. */
static void feed(struct framework_stream *t)
{
    int64_t until = sv_now_us() + TURN_US;
    int r = 0;

    while (r == 0) {
        r = t->buf.len ? sv_http_stream_flush(t->stream, &t->buf) : 0;
        if (r == -EAGAIN)
            return;
        if (r < 0 || !t->more)
            break;
        if (sv_now_us() >= until) {
            r = later(t);
            if (r >= 0)
                return;
            break;
        }
        r = svc_lr_pieces_next(t->pieces, &t->buf, PIECE);
        t->more = r > 0;
        r = SV_MIN(r, 0);
    }
    sv_http_stream_end(t->stream, r == 0);
    stream_free(t);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)source;
    feed(userdata);
    return 0;
}

static void on_drained(void *userdata)
{
    feed(userdata);
}

static void on_gone(void *userdata)
{
    stream_free(userdata);
}

static const struct sv_http_stream_events stream_events = { on_drained, on_gone };

/* Sends what was built already, then the rest. */
static int stream(struct svc_frameworks *s, const struct sv_http_request *req,
                  struct svc_lr_pieces *pieces, struct sv_buf *first)
{
    struct framework_stream *t = calloc(1, sizeof(*t));

    if (!t)
        return -ENOMEM;
    *t = (struct framework_stream){ .s = s, .more = true };
    t->stream = sv_http_stream_new(req, &stream_events, t);
    if (!t->stream || sv_http_stream_own(t->stream, SV_JSON_TYPE) < 0) {
        if (t->stream)
            sv_http_stream_end(t->stream, false);
        free(t);
        return -ENOMEM;
    }
    t->pieces = pieces;
    t->buf = *first;
    *first = (struct sv_buf){ 0 };
    DL_APPEND(s->streams, t);
    sv_http_stream_begin(t->stream, 200, -1);
    feed(t);
    return SV_HTTP_LATER;
}

static int give_pieces(struct svc_frameworks *s, const struct sv_http_request *req,
                       struct svc_lr_pieces *pieces, struct sv_http_response *ret)
{
    struct sv_buf b = SV_BUF_INIT(PIECE_MAX);
    int r = svc_lr_pieces_next(pieces, &b, PIECE);

    if (r > 0)
        r = stream(s, req, pieces, &b);
    if (r == SV_HTTP_LATER)
        return r;
    (void)svc_lr_pieces_free(pieces);
    if (r < 0) {
        sv_buf_free(&b);
        return r;
    }
    ret->status = 200;
    ret->content_type = SV_JSON_TYPE;
    ret->body = (char *)b.data;
    ret->body_len = b.len;
    return 0;
}

static int give(struct svc_frameworks *s, const struct sv_http_request *req,
                struct svc_lr_answer *a, struct sv_http_response *ret)
{
    if (a->pieces)
        return give_pieces(s, req, a->pieces, ret);
    ret->status = a->status;
    ret->content_type = a->plain ? NULL : SV_JSON_TYPE;
    ret->body = a->body;
    ret->body_len = a->len;
    ret->location = a->location;
    return 0;
}

/* ---- Those who wait ---- */

#define KEEP_MS 20000   /* for the store to keep what an answer says */
#define BEHIND_MAX 1000 /* commits on their way: nothing more is begun */

struct framework_wait { /* a master for news, or an answer for the store */
    struct svc_frameworks *s;
    struct svc_lr_told told; /* framework NULL: a client's call */
    bool held, gone;         /* the answer is there; none will be given */
    struct svc_lr_answer answer;
    uint64_t ticket; /* of the last commit that it may show */
    struct sv_http_caller *caller;
    int64_t until_ms;
    uint64_t looked; /* the round in which it was looked at for news */
    struct framework_wait *prev, *next;
};

static void drop_answer(struct framework_wait *w)
{
    (void)svc_lr_pieces_free(w->answer.pieces); /* NULL */
    free(w->answer.body);
    free(w->answer.location);
    w->answer = (struct svc_lr_answer){ 0 };
    w->held = false;
}

static void wait_free(void *data)
{
    struct framework_wait *w = data;

    DL_DELETE(w->s->waits, w);
    w->s->n_waits--;
    drop_answer(w);
    svc_lr_told_free(&w->told);
    free(w);
}

/* Each has a whole descriptor and the cluster's configuration as its answer: some in a turn. */
static int on_wake_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_frameworks *s = userdata;
    struct framework_wait *w;
    int n = 0;

    DL_FOREACH (s->waits, w) {
        if (w->looked == s->round || w->held || !w->told.framework || !s->l ||
            !svc_lr_link_has_news(s->l, &w->told)) {
            w->looked = s->round;
            continue;
        }
        if (n++ == WAKE_ONCE)
            return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        w->looked = s->round;
        sv_http_wake(w->caller);
    }
    return 0;
}

static void wake_all(struct svc_frameworks *s)
{
    int r = 0;

    s->round++;
    if (s->wake)
        r = sd_event_source_set_enabled(s->wake, SD_EVENT_ONESHOT);
    else
        r = sd_event_add_defer(s->cfg.event, &s->wake, on_wake_turn, s);
    if (r < 0)
        sv_log_debug("frameworks: masters are answered when their time is over: %s", strerror(-r));
}

void svc_frameworks_changed(void *u, const char *framework)
{
    struct svc_frameworks *s = u;
    struct framework_wait *w;

    if (!framework) {
        wake_all(s);
        return;
    }
    DL_FOREACH (s->waits, w)
        if (!w->held && w->told.framework && strcmp(w->told.framework, framework) == 0)
            sv_http_wake(w->caller);
}

void svc_frameworks_wake_late(struct svc_frameworks *s)
{
    struct framework_wait *w;

    DL_FOREACH (s->waits, w)
        if (sv_now_ms() >= w->until_ms)
            sv_http_wake(w->caller);
}

void svc_frameworks_kept(struct svc_frameworks *s)
{
    struct framework_wait *w;

    DL_FOREACH (s->waits, w)
        if (w->held && svc_lr_store_keeps(s->l->store, w->ticket))
            sv_http_wake(w->caller);
}

void svc_frameworks_drop_answers(struct svc_frameworks *s)
{
    struct framework_stream *t, *tmp;
    struct framework_wait *w;

    DL_FOREACH_SAFE (s->streams, t, tmp) {
        sv_http_stream_end(t->stream, false);
        stream_free(t);
    }
    DL_FOREACH (s->waits, w) {
        drop_answer(w);
        w->gone = true;
        sv_http_wake(w->caller);
    }
}

static struct framework_wait *new_wait(struct svc_frameworks *s, const struct sv_http_request *req,
                                       int64_t ms)
{
    struct framework_wait *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->s = s;
    w->caller = req->caller;
    w->until_ms = sv_now_ms() + ms;
    DL_APPEND(s->waits, w);
    s->n_waits++;
    if (req->kept->data)
        req->kept->free(req->kept->data); /* a body that was read */
    *req->kept = (struct sv_http_kept){ w, wait_free };
    return w;
}

static int wait_for_news(struct svc_frameworks *s, const struct sv_http_request *req,
                         struct svc_lr_told *told)
{
    struct framework_wait *w = new_wait(s, req, SVC_FW_LINK_WAIT_S * 1000);

    if (!w) {
        svc_lr_told_free(told);
        return -ENOMEM;
    }
    w->told = *told;
    return -EAGAIN;
}

static void hold(struct framework_wait *w, const struct svc_lr_answer *a)
{
    w->held = true;
    w->answer = *a;
    w->ticket = svc_lr_store_ticket(w->s->l->store);
    w->until_ms = sv_now_ms() + KEEP_MS;
}

/* Gives an answer when the store keeps what it says. */
static int give_kept(struct svc_frameworks *s, const struct sv_http_request *req,
                     struct svc_lr_answer *a, struct sv_http_response *ret)
{
    struct framework_wait *w;

    if (svc_lr_store_keeps(s->l->store, svc_lr_store_ticket(s->l->store)))
        return give(s, req, a, ret);
    w = new_wait(s, req, KEEP_MS);
    if (!w) {
        (void)svc_lr_pieces_free(a->pieces); /* NULL */
        free(a->body);
        free(a->location);
        return -ENOMEM;
    }
    hold(w, a);
    return -EAGAIN;
}

static int go_on(struct framework_wait *w, const struct sv_http_request *req,
                 struct sv_http_response *ret)
{
    struct svc_frameworks *s = w->s;
    struct svc_lr_answer a;

    if (w->gone || svc_frameworks_stands_by(s))
        return svc_frameworks_away(s, req, true, ret);
    if (!w->held) {
        if (!svc_lr_link_answer(s->l, &w->told, sv_now_ms() >= w->until_ms, false, &a))
            return -EAGAIN;
        hold(w, &a);
    }
    if (!svc_lr_store_keeps(s->l->store, w->ticket))
        return sv_now_ms() < w->until_ms ? -EAGAIN : svc_frameworks_away(s, req, false, ret);
    a = w->answer;
    w->answer = (struct svc_lr_answer){ 0 };
    w->held = false;
    return give(s, req, &a, ret);
}

/* A master has one request open: one that it sends means that it has given the others up, whose
 * connections would stay until their wait ends. */
static void end_waits(struct svc_frameworks *s, const char *framework)
{
    struct framework_wait *w;

    DL_FOREACH (s->waits, w)
        if (w->told.framework && strcmp(w->told.framework, framework) == 0) {
            w->until_ms = 0;
            sv_http_wake(w->caller);
        }
}

static int answer_master(struct svc_frameworks *s, const struct sv_http_request *req,
                         const struct svc_lr_call *c, struct sv_http_response *ret)
{
    struct svc_lr_told told = { 0 };
    struct svc_lr_answer a;
    int r = svc_lr_link_take(s->l, c, sv_http_header(req, SVC_FW_LINK_HEADER), &told, &a);

    if (r == 0)
        end_waits(s, told.framework);
    if (r == 0 && !svc_lr_link_answer(s->l, &told, false, s->n_waits >= SVC_LR_WAITERS_MAX, &a))
        return wait_for_news(s, req, &told);
    svc_lr_told_free(&told);
    return give_kept(s, req, &a, ret);
}

/* ---- Another server's turn ---- */

bool svc_frameworks_stands_by(const struct svc_frameworks *s)
{
    return s->losing || !s->l || !svc_lr_store_may_act(s->l->store);
}

int svc_frameworks_away(const struct svc_frameworks *s, const struct sv_http_request *req,
                        bool redirects, struct sv_http_response *ret)
{
    const char *other = s->ha ? svc_ha_other(s->ha) : NULL;
    char why[SVC_HA_URL_MAX + 100];
    int r;

    (void)snprintf(why, sizeof(why), "%s%s",
                   other ? "this server stands by; active is "
                         : "no server is active, or it is not known whether this one is: try "
                           "again soon",
                   other ? other : "");
    /* For clients of frameworks, and of services. */
    r = sv_asprintf(&ret->body, "{\"message\":\"%s\",\"diagnostics\":\"%s\"}", why, why);
    if (r < 0)
        return -ENOMEM;
    ret->status = other && redirects ? 307 : 503;
    ret->content_type = SV_JSON_TYPE;
    ret->body_len = strlen(ret->body);
    if (ret->status == 307 && sv_asprintf(&ret->location, "%s%s", other, req->uri) < 0)
        return -ENOMEM; /* the body goes with the response */
    return 0;
}

/* ---- Calls ---- */

/* A page of another origin can send any other type without asking a browser's permission. */
static bool is_json(const struct sv_http_request *req)
{
    const char *type = sv_http_header(req, "Content-Type");
    size_t n = strlen("application/json");

    return type && strncasecmp(type, "application/json", n) == 0 && strchr("; ", type[n]);
}

static void peer_text(const struct sv_http_request *req, char ret[NI_MAXHOST])
{
    const struct sockaddr *from = sv_http_peer(req);
    socklen_t len = from && from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                        : sizeof(struct sockaddr_in);

    if (!from || getnameinfo(from, len, ret, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) != 0)
        memcpy(ret, "UNKNOWN", sizeof("UNKNOWN"));
}

bool svc_frameworks_takes(const char *uri)
{
    return svc_lr_takes(uri);
}

bool svc_frameworks_is_link(const char *uri)
{
    return svc_lr_link_takes(uri);
}

int svc_frameworks_answer(struct svc_frameworks *s, const struct sv_http_request *req,
                          const char *user, struct sv_http_response *ret)
{
    char peer[NI_MAXHOST];
    struct svc_lr_call c = { .method = req->method,
                             .uri = req->uri,
                             .body = req->body ? req->body : "",
                             .body_len = req->body_len,
                             .read_max = SVC_FRAMEWORKS_SHORT_MAX,
                             .is_json = is_json(req),
                             .caller = s->authenticated ? user : NULL,
                             .user = sv_http_header(req, "UserName"),
                             .client_type = sv_http_header(req, "LaunchClientType"),
                             .host = sv_http_header(req, "Host"),
                             .peer = peer };
    struct svc_lr_answer a;
    int r;

    if (req->kept->data && req->kept->free == wait_free) /* else its body is being read */
        return go_on(req->kept->data, req, ret);
    if (svc_frameworks_stands_by(s) ||
        !svc_lr_store_keeps(s->l->store,
                            SV_MAX(svc_lr_store_ticket(s->l->store), (uint64_t)BEHIND_MAX) -
                                BEHIND_MAX))
        return svc_frameworks_away(s, req, true, ret);
    peer_text(req, peer);
    if (svc_lr_link_takes(req->uri))
        return answer_master(s, req, &c, ret);
    if (s->authenticated && !*user) {
        ret->status = 401;
        return 0;
    }
    r = c.is_json ? svc_frameworks_body(s, req, &c.read) : 0;
    if (r == -EBUSY) {
        ret->status = 503;
        return 0;
    }
    if (r < 0)
        return r;
    svc_lr_rest(s->l, &c, &a);
    return give_kept(s, req, &a, ret);
}

void svc_frameworks_close(struct svc_frameworks *s)
{
    struct framework_stream *t, *tmp;

    s->wake = sd_event_source_disable_unref(s->wake);
    DL_FOREACH_SAFE (s->streams, t, tmp)
        stream_free(t); /* the HTTP server has gone: their streams, too */
}
