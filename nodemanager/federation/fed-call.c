/* The master's open call: its answer, its limit, the end of work on it; see fed-attempt.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/federation/fed-attempt.h"

#define ACCURACY_US 1000

int nm_fed_collect(struct nm_fed *f, size_t member,
                   const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                   struct sv_arena **arena)
{
    struct nm_fed_reply *r = calloc(1, sizeof(*r));

    if (!r)
        return -ENOMEM;
    *r = (struct nm_fed_reply){ .member = member, .registration = m, .arena = SV_TAKE(*arena) };
    DL_APPEND(f->registrations, r);
    return 0;
}

int nm_fed_pack(const ProtobufCMessage *m, uint8_t **ret, size_t *ret_n)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *p = malloc(n + 1);

    if (!p)
        return -ENOMEM;
    *ret_n = protobuf_c_message_pack(m, p);
    *ret = p;
    return 0;
}

static void free_telling(struct nm_fed_telling *t)
{
    for (size_t i = 0; t->v && i < 2 * t->n; i++)
        sv_buf_free(&t->v[i]);
}

void nm_fed_work_stop(struct nm_fed *f)
{
    struct nm_fed_work *w = &f->work;

    nm_turns_stop(&f->shared->turns, &w->turn);
    fed_split_end(w->split);
    free_telling(&w->telling);
    if (w->phase != NM_FED_NONE && w->phase != NM_FED_WAITING) /* what it has staged */
        fed_merge_undo(f->merge);
    sv_buf_free(&w->packed);
    sv_arena_free(w->arena);
    *w = (struct nm_fed_work){ .turn = w->turn, .running = w->running };
}

static struct nm_amrm_call *close_call(struct nm_fed *f)
{
    if (f->limit)
        (void)sd_event_source_set_enabled(f->limit, SD_EVENT_OFF); /* cannot fail, ignoring */
    nm_fed_work_stop(f);
    return SV_TAKE(f->call);
}

void nm_fed_answer(struct nm_fed *f, const ProtobufCMessage *m)
{
    nm_amrm_answer(close_call(f), m);
}

void nm_fed_answer_packed(struct nm_fed *f, ProtobufCMessage *m, const uint8_t *p, size_t n)
{
    ProtobufCMessageUnknownField all = { 0 };

    if (n) {
        all = (ProtobufCMessageUnknownField){ .tag = p[0] >> 3,
                                              .wire_type = p[0] & 7,
                                              .len = n - 1,
                                              .data = (uint8_t *)(uintptr_t)(p + 1) };
        m->unknown_fields = &all;
        m->n_unknown_fields = 1;
    }
    nm_fed_answer(f, m);
}

void nm_fed_fail(struct nm_fed *f, const char *java_class, const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* cut where longer, ignoring */
    va_end(ap);
    nm_amrm_fail(close_call(f), java_class, "%s", text);
}

static int on_limit(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_fed *f = userdata;

    (void)s;
    (void)usec;
    f->limit_over = true;
    f->step(f);
    return 0;
}

void nm_fed_limit(struct nm_fed *f, int64_t ms)
{
    uint64_t us = (uint64_t)ms * 1000;
    int r;

    f->limit_over = false;
    if (!f->limit) {
        r = sd_event_add_time_relative(f->at->env->event, &f->limit, CLOCK_MONOTONIC, us,
                                       ACCURACY_US, on_limit, f);
    } else {
        r = sd_event_source_set_time_relative(f->limit, us);
        if (r >= 0)
            r = sd_event_source_set_enabled(f->limit, SD_EVENT_ONESHOT);
    }
    if (r < 0) {
        sv_log_err("%s: timer: %s", f->at->text, strerror(-r));
        f->limit_over = true;
    }
}
