/* See flight.h. The processes are ours, but parse hostile input: their answers are bounded. */
#include "service/server/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "service/server/request.h"

#define GRACE_MS 5000    /* for a process that its own timer ends */
#define READ_ONCE 262144 /* bytes a turn of the loop */

struct svc_flight {
    struct svc_flights *all;
    char *user;
    enum svc_method method;
    int64_t since_us; /* monotonic */
    bool changes;     /* something, of a user whose changes are one after another */
    bool launcher;    /* it is the FrameworkLauncher's, which bounds its own */
    bool answered;    /* `answer` is complete */
    bool left;        /* the client has closed its connection */
    int fd;
    sd_event_source *io, *timer;
    struct sv_buf buf;
    struct svc_answer answer;
    struct svc_flight *prev, *next;
};

/* ---- Counts ---- */

static const char *const methods[SVC_METHODS] = { "GET", "PUT", "POST", "DELETE", "other" };

const char *svc_method_name(enum svc_method m)
{
    return methods[m];
}

static enum svc_method method_of(const char *name)
{
    enum svc_method m = SVC_GET;

    while (m < SVC_OTHER && strcmp(methods[m], name) != 0)
        m++;
    return m;
}

static void count(const struct svc_flight *f)
{
    struct svc_flight_stats *s = &f->all->stats;
    unsigned digit = f->answer.status / 100;

    sv_histogram_add_us(&s->times[f->method], sv_now_us() - f->since_us);
    s->answers[digit < SV_ARRAY_LEN(s->answers) ? digit : 0]++;
}

size_t svc_flights_open(const struct svc_flights *all)
{
    const struct svc_flight *f;
    size_t n = 0;

    DL_FOREACH (all->list, f)
        n += !f->answered;
    return n;
}

/* ---- Ends ---- */

static void flight_free(struct svc_flight *f)
{
    DL_DELETE(f->all->list, f);
    f->io = sd_event_source_disable_unref(f->io);
    f->timer = sd_event_source_disable_unref(f->timer);
    f->fd = sv_close(f->fd);
    sv_buf_free(&f->buf);
    free(f->answer.body);
    free(f->user);
    free(f);
}

static void end(struct svc_flight *f, unsigned status, const char *why)
{
    struct svc_flights *all = f->all;

    f->io = sd_event_source_disable_unref(f->io);
    f->timer = sd_event_source_disable_unref(f->timer);
    f->fd = sv_close(f->fd);
    f->answered = true;
    if (status) {
        f->answer.status = status;
        if (sv_asprintf(&f->answer.body, "{\"diagnostics\":\"%s\"}", why) == 0)
            f->answer.body_len = strlen(f->answer.body);
    }
    count(f);
    if (f->left)
        flight_free(f);
    all->ended(all->userdata);
}

/* The process has closed its end. */
static void finish(struct svc_flight *f)
{
    struct svc_answer_head h;

    if (f->buf.len < sizeof(h)) {
        end(f, 500, "the process of the request has ended without an answer");
        return;
    }
    memcpy(&h, f->buf.data, sizeof(h));
    if (h.length != f->buf.len - sizeof(h) || h.status < 200 || h.status > 599) {
        end(f, 500, "the process of the request has ended within its answer");
        return;
    }
    f->answer.status = h.status;
    f->answer.body = h.length ? malloc(h.length) : NULL;
    if (f->answer.body) {
        memcpy(f->answer.body, f->buf.data + sizeof(h), h.length);
        f->answer.body_len = h.length;
    }
    if (h.length && !f->answer.body)
        end(f, 503, "out of memory");
    else
        end(f, h.length || h.status == 204 ? 0 : 500, "the request ran out of memory");
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_flight *f = userdata;
    char part[16384];
    ssize_t n = 1;

    (void)source;
    (void)events;
    for (size_t all = 0; n > 0 && all < READ_ONCE; all += (size_t)SV_MAX(n, (ssize_t)0)) {
        n = read(fd, part, sizeof(part));
        if (n > 0 && sv_buf_put(&f->buf, part, (size_t)n) < 0) {
            end(f, 500, "the answer is too large");
            return 0;
        }
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        finish(f);
    return 0;
}

static int on_late(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)source;
    (void)usec;
    end(userdata, 504, "the request has taken longer than selvedge.services.request-timeout");
    return 0;
}

/* ---- Admission ---- */

static bool changes(const struct svc_request *q)
{
    return !q->launcher && strcmp(q->method, "GET") != 0 && strcmp(q->method, "HEAD") != 0;
}

static int admit(const struct svc_flights *all, const struct svc_request *q, const char **ret_why)
{
    int64_t n = 0, of_user = 0;
    bool busy = false;
    const struct svc_flight *f;

    DL_FOREACH (all->list, f) {
        bool own = !f->launcher && !q->launcher && strcmp(f->user, q->user) == 0;

        n += !f->answered;
        of_user += own && !f->answered;
        busy |= own && f->changes && !f->answered;
    }
    if (busy && changes(q))
        return -EAGAIN;
    *ret_why = n >= all->conf->max_requests
                   ? "too many requests are served at once: try again later"
                   : "too many requests of this user are served at once: try again later";
    return n >= all->conf->max_requests || of_user >= all->conf->max_user_requests ? -EBUSY : 0;
}

static int start(struct svc_flight *f, const struct svc_request *q)
{
    _cleanup_close_ int request = svc_request_put(q);
    uint64_t us = (uint64_t)(f->all->conf->timeout_ms + GRACE_MS) * 1000;
    int r;

    if (request < 0)
        return request;
    f->fd = svc_spawner_start(f->all->spawner, request);
    if (f->fd < 0)
        return f->fd;
    r = sd_event_add_io(f->all->event, &f->io, f->fd, EPOLLIN, on_io, f);
    if (r >= 0)
        r = sd_event_add_time_relative(f->all->event, &f->timer, CLOCK_MONOTONIC, us, 0, on_late,
                                       f);
    return r;
}

int svc_flight_new(struct svc_flights *all, const struct svc_request *q, struct svc_flight **ret,
                   const char **ret_why)
{
    struct svc_flight *f;
    int r = admit(all, q, ret_why);

    all->stats.refused += r == -EBUSY;
    if (r < 0)
        return r;
    f = calloc(1, sizeof(*f));
    if (!f)
        return -ENOMEM;
    *f = (struct svc_flight){ .all = all,
                              .fd = -1,
                              .method = method_of(q->method),
                              .since_us = sv_now_us(),
                              .changes = changes(q),
                              .launcher = q->launcher,
                              .user = strdup(q->user),
                              .buf = SV_BUF_INIT(SVC_ANSWER_MAX + sizeof(struct svc_answer_head)) };
    DL_APPEND(all->list, f);
    r = f->user ? start(f, q) : -ENOMEM;
    if (r < 0) {
        flight_free(f);
        *ret_why = "no process can be started: try again later";
        all->stats.refused++;
        return r == -EAGAIN ? -EBUSY : r;
    }
    *ret = f;
    return 0;
}

bool svc_flight_answered(const struct svc_flight *f)
{
    return f->answered;
}

bool svc_flights_change(const struct svc_flights *all, const char *user)
{
    const struct svc_flight *f;

    DL_FOREACH (all->list, f)
        if (f->changes && !f->answered && strcmp(f->user, user) == 0)
            return true;
    return false;
}

bool svc_flight_take(struct svc_flight *f, struct svc_answer *ret)
{
    if (!f->answered)
        return false;
    *ret = f->answer;
    f->answer = (struct svc_answer){ 0 };
    return true;
}

void svc_flight_leave(struct svc_flight *f)
{
    f->left = true;
    if (f->answered)
        flight_free(f);
}

void svc_flights_free(struct svc_flights *all)
{
    struct svc_flight *f, *tmp;

    DL_FOREACH_SAFE (all->list, f, tmp)
        flight_free(f);
}
