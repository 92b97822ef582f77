/* See http-events.h. */
#include "common/web/http-events.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/web/http-stream.h"

#define FRAME_MAX (SV_HTTP_EVENT_MAX + 16)
/* Reconnect delay of browsers. */
#define RETRY "retry: 5000\n"

struct channel { /* per object */
    char object[SV_HTTP_EVENTS_OBJECT];
    struct sv_http_reading before;
    char frame[FRAME_MAX]; /* the last event; empty after a failed sample */
    struct listener *listeners;
    struct channel *prev, *next;
};

struct listener {
    struct sv_http_events *events;
    struct channel *channel;
    struct sv_http_stream *stream;
    struct in6_addr peer;
    int64_t until_ms;
    struct listener *prev, *next;
};

struct sv_http_events {
    sd_event_source *timer;
    struct sv_http_events_config config;
    struct channel *channels;
    unsigned n;
};

/* ---- Streams ---- */

static void forget(struct listener *l)
{
    struct sv_http_events *e = l->events;
    struct channel *c = l->channel;

    DL_DELETE(c->listeners, l);
    e->n--;
    free(l);
    if (c->listeners)
        return;
    DL_DELETE(e->channels, c);
    free(c);
}

static void on_drained(void *userdata)
{
    (void)userdata; /* the timer sends the next event */
}

static void on_gone(void *userdata)
{
    forget(userdata);
}

static void end(struct listener *l)
{
    sv_http_stream_end(l->stream, true);
    forget(l);
}

/* A client that has not yet read the last event misses this one. */
static void send_frame(struct listener *l)
{
    const char *frame = l->channel->frame;

    if (sv_http_stream_waiting(l->stream) == 0)
        (void)!sv_http_stream_put(l->stream, frame, strlen(frame)); /* missed, ignoring */
}

static int sample(struct sv_http_events *e, struct channel *c)
{
    char data[SV_HTTP_EVENT_MAX] = "";
    int r = e->config.sampler(c->object, &c->before, data, e->config.userdata);

    c->frame[0] = 0;
    if (r >= 0)
        (void)snprintf(c->frame, sizeof(c->frame), "data: %s\n\n", data);
    return r;
}

/* ---- The period ---- */

static void tick(struct sv_http_events *e, struct channel *c)
{
    int64_t now = sv_now_ms();
    bool over = sample(e, c) < 0;
    unsigned left;
    struct listener *l, *tmp;

    DL_COUNT(c->listeners, l, left);
    DL_FOREACH_SAFE (c->listeners, l, tmp) {
        if (over || now >= l->until_ms)
            end(l);
        else
            send_frame(l);
        if (--left == 0)
            return; /* the last listener may have freed the channel */
    }
}

static int rearm(struct sv_http_events *e)
{
    int r = sd_event_source_set_time_relative(e->timer, e->config.period_ms * 1000);

    return r < 0 ? r : sd_event_source_set_enabled(e->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sv_http_events *e = userdata;
    struct channel *c, *tmp;

    (void)s;
    (void)usec;
    DL_FOREACH_SAFE (e->channels, c, tmp)
        tick(e, c);
    return e->n ? rearm(e) : 0;
}

/* ---- Requests ---- */

static struct in6_addr address_of(const struct sv_http_request *req)
{
    const struct sockaddr *peer = sv_http_peer(req);
    struct in6_addr ret = { 0 };

    if (peer && peer->sa_family == AF_INET6)
        ret = ((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
    else if (peer && peer->sa_family == AF_INET)
        memcpy(&ret, &((const struct sockaddr_in *)(const void *)peer)->sin_addr,
               sizeof(struct in_addr));
    return ret;
}

static unsigned streams_of(const struct sv_http_events *e, const struct in6_addr *peer)
{
    const struct channel *c;
    const struct listener *l;
    unsigned n = 0;

    DL_FOREACH (e->channels, c)
        DL_FOREACH (c->listeners, l)
            n += memcmp(&l->peer, peer, sizeof(*peer)) == 0;
    return n;
}

static struct channel *find(const struct sv_http_events *e, const char *object)
{
    struct channel *c;

    DL_FOREACH (e->channels, c)
        if (sv_streq(c->object, object))
            return c;
    return NULL;
}

static int refuse(struct sv_http_response *ret, unsigned status, const char *text)
{
    ret->status = status;
    ret->body = strdup(text);
    ret->body_len = strlen(text);
    return ret->body ? 0 : -ENOMEM;
}

static int begin(struct listener *l)
{
    if (sv_http_stream_own(l->stream, "text/event-stream") < 0 ||
        sv_http_stream_header(l->stream, "Cache-Control", "no-store") < 0)
        return -ENOMEM;
    if (sv_http_stream_put(l->stream, RETRY, strlen(RETRY)) < 0 ||
        sv_http_stream_put(l->stream, l->channel->frame, strlen(l->channel->frame)) < 0)
        return -ENOMEM;
    sv_http_stream_begin(l->stream, 200, -1);
    return 0;
}

/* Returns the channel of `object`, creating it with a first sample; -ENOENT: no such object. */
static int channel_of(struct sv_http_events *e, const char *object, struct channel **ret)
{
    struct channel *c = find(e, object);
    int r;

    if (!c) {
        c = calloc(1, sizeof(*c));
        if (!c)
            return -ENOMEM;
        (void)snprintf(c->object, sizeof(c->object), "%s", object);
        r = sample(e, c);
        if (r < 0) {
            free(c);
            return -ENOENT;
        }
        DL_APPEND(e->channels, c);
    }
    *ret = c;
    return 0;
}

int sv_http_events_open(struct sv_http_events *e, const struct sv_http_request *req,
                        const char *object, struct sv_http_response *ret)
{
    static const struct sv_http_stream_events events = { on_drained, on_gone };
    const struct in6_addr peer = address_of(req);
    struct channel *c = NULL;
    struct listener *l;
    int r;

    if (strlen(object) >= SV_HTTP_EVENTS_OBJECT)
        return refuse(ret, 404, "there is no such object\n");
    if (e->n >= e->config.max || streams_of(e, &peer) >= e->config.max_per_address)
        return refuse(ret, 503, "too many streams of events are open\n");
    r = channel_of(e, object, &c);
    if (r < 0)
        return r == -ENOENT ? refuse(ret, 404, "there is no such object\n") : r;
    l = calloc(1, sizeof(*l));
    if (!l)
        goto no_memory;
    *l = (struct listener){
        .events = e, .channel = c, .peer = peer, .until_ms = sv_now_ms() + SV_HTTP_EVENTS_MS
    };
    l->stream = sv_http_stream_new(req, &events, l);
    if (!l->stream)
        goto no_memory;
    DL_APPEND(c->listeners, l);
    r = e->n++ == 0 ? rearm(e) : 0;
    if (r < 0)
        sv_log_err("http: live figures are not updated: cannot set the timer: %s", strerror(-r));
    if (begin(l) < 0)
        end(l);
    return SV_HTTP_LATER;
no_memory:
    free(l);
    if (!c->listeners) {
        DL_DELETE(e->channels, c);
        free(c);
    }
    return -ENOMEM;
}

/* ---- Life ---- */

int sv_http_events_new(sd_event *event, const struct sv_http_events_config *config,
                       struct sv_http_events **ret)
{
    struct sv_http_events *e = calloc(1, sizeof(*e));
    int r;

    if (!e)
        return -ENOMEM;
    e->config = *config;
    r = sd_event_add_time_relative(event, &e->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, e);
    if (r >= 0)
        r = sd_event_source_set_priority(e->timer, SV_HTTP_PRIORITY);
    if (r >= 0)
        r = sd_event_source_set_enabled(e->timer, SD_EVENT_OFF);
    if (r < 0) {
        (void)sv_http_events_free(e);
        return r;
    }
    *ret = e;
    return 0;
}

struct sv_http_events *sv_http_events_free(struct sv_http_events *e)
{
    if (!e)
        return NULL;
    while (e->channels)
        end(e->channels->listeners);
    e->timer = sd_event_source_disable_unref(e->timer);
    free(e);
    return NULL;
}

unsigned sv_http_events_count(const struct sv_http_events *e)
{
    return e->n;
}
