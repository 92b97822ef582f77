/* The calls of an attempt in turn, its interceptor, and its end. See pipeline.h. */
#include "nodemanager/amrmproxy/pipeline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/amrmproxy/attempt.h"
#include "nodemanager/store/state-store.h"
#include "wire/exceptions.h"

struct held_call {
    struct nm_amrm_call call; /* first */
    struct nm_amrm_pipeline *p;
    const struct nm_amrm_reply *reply;
    void *caller;
    struct held_call *prev, *next;
};

struct nm_amrm_pipeline {
    struct nm_amrm_attempt at; /* first */
    const struct nm_amrm_interceptor *class;
    void *self;              /* of the interceptor; NULL: it has none */
    struct held_call *open;  /* with the interceptor */
    struct held_call *queue; /* utlist */
    unsigned n_queued;
    sd_event_source *turn;  /* the next call, or the end */
    sd_event_source *limit; /* of a stop */
    bool stopping, stopped;
    char refusal[SV_ERROR_TEXT_MAX]; /* "" = calls are taken */
    void (*ended)(struct nm_amrm_pipeline *p, void *userdata);
    void *userdata;
};

/* ---- Calls ---- */

static void wake(const struct nm_amrm_pipeline *p)
{
    (void)sd_event_source_set_enabled(p->turn, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static struct held_call *close_call(struct nm_amrm_call *call)
{
    struct held_call *h = (struct held_call *)call;

    h->p->open = NULL;
    if (h->p->queue)
        wake(h->p);
    return h;
}

void nm_amrm_answer(struct nm_amrm_call *call, const ProtobufCMessage *response)
{
    struct held_call *h = close_call(call);

    h->reply->answer(h->caller, response);
    free(h);
}

void nm_amrm_fail(struct nm_amrm_call *call, const char *java_class, const char *fmt, ...)
{
    struct held_call *h = close_call(call);
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* cut */
    va_end(ap);
    h->reply->fail(h->caller, java_class, text);
    free(h);
}

static void begin(struct nm_amrm_pipeline *p, struct held_call *h)
{
    p->open = h;
    p->class->handle(p->self, &h->call);
}

int nm_amrm_pipeline_call(struct nm_amrm_pipeline *p, enum nm_amrm_method method,
                          const ProtobufCMessage *request, struct sv_arena *arena,
                          const struct nm_amrm_reply *reply, void *call)
{
    struct held_call *h;

    if (p->stopping)
        return -ESHUTDOWN;
    if (*p->refusal) {
        reply->fail(call, JAVA_YARN_EXCEPTION, p->refusal);
        return 0;
    }
    if (p->n_queued >= NM_AMRM_QUEUED_MAX)
        return -EBUSY;
    h = calloc(1, sizeof(*h));
    if (!h)
        return -ENOMEM;
    *h = (struct held_call){ .call = { .method = method, .request = request, .arena = arena },
                             .p = p,
                             .reply = reply,
                             .caller = call };
    if (!p->open && !p->queue) {
        begin(p, h);
        return 0;
    }
    DL_APPEND(p->queue, h);
    p->n_queued++;
    return 0;
}

static void refuse_call(struct held_call *h)
{
    char text[SV_ERROR_TEXT_MAX];

    (void)snprintf(text, sizeof(text), "%s has ended on this NodeManager", h->p->at.text);
    h->reply->fail(h->caller, JAVA_ATTEMPT_NOT_FOUND, text);
    free(h);
}

static void refuse_all(struct nm_amrm_pipeline *p)
{
    struct held_call *h = SV_TAKE(p->open), *next;

    if (h)
        refuse_call(h);
    DL_FOREACH_SAFE (p->queue, h, next) {
        DL_DELETE(p->queue, h);
        refuse_call(h);
    }
    p->n_queued = 0;
}

/* ---- The end ---- */

static void end(struct nm_amrm_pipeline *p)
{
    int r = nm_store_amrm_remove_all(p->at.env->store, p->at.text);

    if (r < 0)
        sv_log(SV_LOG_ERR, p->at.app_text,
               "%s: its AMRMProxy's records cannot be removed from the store: %s", p->at.text,
               strerror(-r));
    p->ended(p, p->userdata);
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_amrm_pipeline *p = userdata;
    struct held_call *h = p->queue;

    (void)s;
    if (p->stopped) {
        end(p);
    } else if (h && !p->open) {
        DL_DELETE(p->queue, h);
        p->n_queued--;
        begin(p, h);
    }
    return 0;
}

static int on_limit(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_amrm_pipeline *p = userdata;

    (void)s;
    (void)usec;
    sv_log(SV_LOG_WARNING, p->at.app_text,
           "%s: what it has in other clusters did not end within %d s: leaving it to their "
           "ResourceManagers",
           p->at.text, NM_AMRM_STOP_MS / 1000);
    end(p);
    return 0;
}

void nm_amrm_stopped(struct nm_amrm_attempt *at)
{
    struct nm_amrm_pipeline *p = (struct nm_amrm_pipeline *)at;

    p->stopped = true;
    wake(p);
}

void nm_amrm_pipeline_stop(struct nm_amrm_pipeline *p)
{
    int r;

    if (p->stopping)
        return;
    p->stopping = true;
    refuse_all(p);
    r = sd_event_add_time_relative(p->at.env->event, &p->limit, CLOCK_BOOTTIME,
                                   (uint64_t)NM_AMRM_STOP_MS * 1000, 0, on_limit, p);
    if (r >= 0 && p->self && p->class->stop)
        p->class->stop(p->self);
    else
        nm_amrm_stopped(&p->at);
}

struct nm_amrm_pipeline *nm_amrm_pipeline_free(struct nm_amrm_pipeline *p)
{
    if (!p)
        return NULL;
    p->stopping = true;
    refuse_all(p);
    if (p->self)
        p->class->free(p->self);
    nm_amrm_attempt_close(&p->at);
    sd_event_source_disable_unref(p->turn);
    sd_event_source_disable_unref(p->limit);
    free(p);
    return NULL;
}

/* ---- The beginning ---- */

static void on_token(struct nm_amrm_attempt *at)
{
    struct nm_amrm_pipeline *p = (struct nm_amrm_pipeline *)at;

    if (p->self && p->class->token)
        p->class->token(p->self);
}

static int recover(struct nm_amrm_pipeline *p, const struct nm_amrm_pipeline_config *c)
{
    struct sv_error err = { 0 };
    int r;

    if (!c->n_records || !p->class->recover)
        return 0;
    r = p->class->recover(p->self, c->from, c->records, c->n_records, &err);
    if (r >= 0)
        return 0;
    if (!*err.text)
        (void)sv_error_errno(&err, r, "%s: its records cannot be used", p->at.text);
    sv_log(SV_LOG_ERR, p->at.app_text, "%s", err.text);
    (void)snprintf(p->refusal, sizeof(p->refusal), "%s", err.text);
    return r;
}

static int make(struct nm_amrm_pipeline *p, const struct nm_amrm_pipeline_config *c,
                struct sv_error *err)
{
    int r = sd_event_add_defer(c->env->event, &p->turn, on_turn, p);

    if (r >= 0)
        r = sd_event_source_set_enabled(p->turn, SD_EVENT_OFF);
    if (r >= 0)
        r = nm_amrm_attempt_open(&p->at, c->user, c->rm_token);
    if (r < 0)
        return sv_error_errno(err, r, "AMRMProxy");
    if (c->from == NM_AMRM_SUCCEEDS || !c->n_records) {
        r = nm_amrm_keep(&p->at, NM_AMRM_RECORD_USER, c->user, strlen(c->user));
        if (r >= 0)
            r = nm_amrm_keep_token(&p->at, c->rm_token);
        if (r < 0)
            return sv_error_errno(err, r, "%s: its AMRMToken cannot be recorded", p->at.text);
    }
    return p->class->start(&p->at, c->shared, &p->self, err);
}

int nm_amrm_pipeline_new(const struct nm_amrm_pipeline_config *c, struct nm_amrm_pipeline **ret,
                         struct sv_error *err)
{
    struct nm_amrm_pipeline *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    *p = (struct nm_amrm_pipeline){
        .at = { .env = c->env, .id = c->attempt, .token_changed = on_token },
        .class = c->interceptor,
        .ended = c->ended,
        .userdata = c->userdata,
    };
    r = make(p, c, err);
    if (r < 0) {
        (void)!nm_store_amrm_remove_all(c->env->store,
                                        p->at.text); /* it has failed too, ignoring */
        nm_amrm_pipeline_free(p);
        return r;
    }
    (void)!recover(p, c); /* refuses calls, ignoring */
    *ret = p;
    return 0;
}

const struct nm_amrm_attempt *nm_amrm_pipeline_attempt(const struct nm_amrm_pipeline *p)
{
    return &p->at;
}
