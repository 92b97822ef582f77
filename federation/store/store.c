/* Calls of the store, whatever the back end: checked, answered from the loop, given up in time. */
#include "federation/store/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "federation/store/store-backend.h"

/* A list of FED_ROWS_MAX homes, each with two names. */
#define ARENA_MAX (128u << 20)
#define FIRST_ROOM 8

struct fed_store {
    const struct fed_backend *functions;
    void *backend;
    char *text;
    struct fed_call *calls; /* open, the oldest first */
    uint64_t last_id;
    int64_t patience_ms;
    sd_event_source *turn;  /* answers are due */
    sd_event_source *timer; /* of the oldest call */
};

void fed_store_patience(struct fed_store *s, int64_t ms)
{
    s->patience_ms = ms;
}

void *fed_store_backend(const struct fed_store *s)
{
    return s->backend;
}

const char *fed_store_text(const struct fed_store *s)
{
    return s->text;
}

/* ---- Answers ---- */

static void object_of(const struct fed_call *c, char *dst, size_t size)
{
    const struct fed_request *q = &c->request;
    char app[YARN_ID_TEXT_MAX];

    dst[0] = '\0';
    switch (fed_operations[q->op].fields & FED_F_ID ? fed_operations[q->op].kind : FED_KINDS) {
    case FED_MEMBER:
        sv_escape(dst, size, q->member.id ?: "?");
        break;
    case FED_HOME:
        snprintf(dst, size, "%s", yarn_app_id_text(q->home.app, app));
        break;
    case FED_RESERVATION:
        sv_escape(dst, size, q->reservation.id ?: "?");
        break;
    case FED_POLICY:
        sv_escape(dst, size, q->policy.queue ?: "?");
        break;
    case FED_KEY:
        snprintf(dst, size, "%d", q->key.id);
        break;
    case FED_TOKEN:
        snprintf(dst, size, "%d", q->token.sequence);
        break;
    case FED_SEQUENCE:
        snprintf(dst, size, "%s",
                 q->sequence.counter == FED_KEY_SEQUENCE ? "of keys" : "of tokens");
        break;
    default:
        break;
    }
}

/* "federation store mysql://…: get member SC-1: REASON". */
static const char *reason_of(struct fed_call *c, const char *reason)
{
    char object[FED_NAME_MAX + 1];

    object_of(c, object, sizeof(object));
    return sv_arena_printf(c->arena, "federation store %s: %s%s%s: %s", c->store->text,
                           fed_op_name(c->request.op), object[0] ? " " : "", object, reason)
               ?: "out of memory";
}

static struct fed_call *call_free(struct fed_call *c)
{
    sv_arena_wipe(c->arena); /* keys and tokens */
    free(c);
    return NULL;
}

/* Gives the answer; the call is gone afterwards. */
static void answer(struct fed_store *s, struct fed_call *c)
{
    struct fed_answer *a = &c->answer;

    DL_DELETE(s->calls, c);
    if (a->error < 0)
        a->n = 0;
    a->reason = a->reason ?: "";
    a->members = a->n > 0 ? c->records : NULL; /* one of a union of pointers */
    c->done(a, c->userdata);
    call_free(c);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct fed_store *s = userdata;
    uint64_t last = s->last_id; /* calls that `done` makes wait for another turn */
    struct fed_call *c;

    (void)source;
    do {
        DL_FOREACH (s->calls, c)
            if (c->answered && c->id <= last)
                break;
        if (c)
            answer(s, c);
    } while (c);
    return 0;
}

static void finish(struct fed_call *c, int error, const char *reason)
{
    if (c->answer.error == 0 && error < 0) {
        c->answer.error = error;
        c->answer.reason = reason_of(c, reason);
    }
    c->answered = true;
    (void)sd_event_source_set_enabled(c->store->turn, SD_EVENT_ONESHOT); /* it exists, ignoring */
}

void fed_call_done(struct fed_call *c)
{
    const struct fed_operation *op = &fed_operations[c->request.op];
    bool missing = op->has_records && !op->list && c->answer.n == 0;

    finish(c, missing ? -ENOENT : 0, "it does not exist");
}

void fed_call_fail(struct fed_call *c, int error, const char *fmt, ...)
{
    char reason[SV_ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    finish(c, error, reason);
}

void fed_call_again(struct fed_call *c)
{
    c->answer = (struct fed_answer){ 0 };
    c->answered = false;
}

void fed_call_broken(struct fed_call *c, const char *reason)
{
    if (!c->answer.reason)
        c->answer.reason = reason_of(c, reason);
    if (fed_operations[c->request.op].list)
        c->answer.n_broken++;
    else if (c->answer.error == 0)
        c->answer.error = -EBADMSG;
}

uint32_t fed_call_limit(const struct fed_call *c)
{
    enum fed_op op = c->request.op;
    uint32_t limit = c->request.limit;

    if (!fed_operations[op].list)
        return 1;
    if (op == FED_MEMBER_LIST)
        return FED_MEMBERS_MAX;
    return limit > 0 && limit < FED_ROWS_MAX ? limit : FED_ROWS_MAX;
}

static bool grow(struct fed_call *c, size_t size)
{
    size_t room = c->room > 0 ? c->room * 2 : FIRST_ROOM;
    void *p = sv_arena_calloc(c->arena, room, size);

    if (!p)
        return false;
    if (c->records)
        memcpy(p, c->records, c->answer.n * size);
    c->records = p;
    c->room = room;
    return true;
}

bool fed_call_add(struct fed_call *c, const void *record)
{
    enum fed_kind kind = fed_operations[c->request.op].kind;
    size_t size = fed_record_size(kind);
    struct sv_error err = { 0 };
    int r = -ENOMEM;

    if (c->answer.n >= fed_call_limit(c) || c->answer.n_broken > FED_ROWS_MAX)
        return false;
    if (c->answer.n < c->room || grow(c, size))
        r = fed_record_take(c->arena, kind, fed_record_stored(kind), record,
                            (char *)c->records + c->answer.n * size, &err);
    if (r == 0) {
        c->answer.n++;
        return true;
    }
    if (r != -ENOMEM) {
        fed_call_broken(c, err.text);
        return true;
    }
    c->answer.error = -ENOMEM;
    c->answer.reason = "federation store: out of memory";
    return false;
}

/* ---- Calls ---- */

static int64_t next_deadline(struct fed_store *s)
{
    struct fed_call *c;

    DL_FOREACH (s->calls, c)
        if (!c->answered)
            return c->deadline_ms;
    return -1;
}

static void give_up(struct fed_store *s, struct fed_call *c)
{
    double seconds = (double)s->patience_ms / 1000;

    s->functions->forget(s, c);
    if (c->sent)
        fed_call_fail(c, -ECONNRESET,
                      "no answer for %g s; it may have been executed: look at the database's load",
                      seconds);
    else
        fed_call_fail(c, -EHOSTDOWN, "no connection for %g s", seconds);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct fed_store *s = userdata;
    struct fed_call *c;
    int64_t next;

    (void)usec;
    DL_FOREACH (s->calls, c)
        if (!c->answered && c->deadline_ms <= sv_now_ms())
            give_up(s, c);
    next = next_deadline(s);
    if (next >= 0 && sd_event_source_set_time(source, (uint64_t)next * 1000) >= 0)
        (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT); /* it exists, ignoring */
    return 0;
}

static void arm(struct fed_store *s)
{
    int enabled = SD_EVENT_OFF;

    if (sd_event_source_get_enabled(s->timer, &enabled) > 0)
        return;
    (void)sd_event_source_set_time(s->timer, (uint64_t)s->calls->deadline_ms * 1000);
    (void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT); /* it exists, ignoring */
}

static int take_request(struct fed_call *c, const struct fed_request *q, struct sv_error *err)
{
    const struct fed_operation *op = &fed_operations[q->op];

    c->request.op = q->op;
    c->request.limit = q->limit;
    return fed_record_take(c->arena, op->kind, op->fields, &q->member, &c->request.member, err);
}

int fed_store_call(struct fed_store *s, const struct fed_request *q, fed_done done, void *userdata,
                   uint64_t *ret_call)
{
    struct sv_error err = { 0 };
    struct fed_call *c;

    if (q->op < 0 || q->op >= FED_OPS)
        return -EINVAL;
    c = calloc(1, sizeof(*c));
    if (c)
        c->arena = sv_arena_new(ARENA_MAX);
    if (!c || !c->arena) {
        free(c);
        return -ENOMEM;
    }
    c->store = s;
    c->id = ++s->last_id;
    c->deadline_ms = sv_now_ms() + s->patience_ms;
    c->done = done;
    c->userdata = userdata;
    DL_APPEND(s->calls, c);
    if (ret_call)
        *ret_call = c->id;
    if (take_request(c, q, &err) < 0) {
        fed_call_fail(c, err.code, "%s", err.text);
        return 0;
    }
    arm(s);
    s->functions->begin(s, c);
    return 0;
}

static void cancel(struct fed_store *s, struct fed_call *c)
{
    if (!c->answered)
        s->functions->forget(s, c);
    c->answer = (struct fed_answer){ .error = -ECANCELED };
    c->answer.reason = reason_of(c, "cancelled");
    answer(s, c);
}

bool fed_store_cancel(struct fed_store *s, uint64_t call)
{
    struct fed_call *c;

    DL_FOREACH (s->calls, c)
        if (c->id == call) {
            cancel(s, c);
            return true;
        }
    return false;
}

/* ---- The store ---- */

struct fed_store *fed_store_free(struct fed_store *s)
{
    if (!s)
        return NULL;
    while (s->calls)
        cancel(s, s->calls);
    s->functions->free(s->backend);
    sd_event_source_disable_unref(s->turn);
    sd_event_source_disable_unref(s->timer);
    free(s->text);
    free(s);
    return NULL;
}

int fed_store_new(sd_event *event, const struct fed_backend *functions, void *backend,
                  const char *text, struct fed_store **ret)
{
    struct fed_store *s = calloc(1, sizeof(*s));
    int r;

    if (!s) {
        functions->free(backend);
        return -ENOMEM;
    }
    s->functions = functions;
    s->patience_ms = FED_CALL_MS;
    s->backend = backend;
    s->text = strdup(text);
    r = s->text ? sd_event_add_defer(event, &s->turn, on_turn, s) : -ENOMEM;
    if (r >= 0)
        r = sd_event_source_set_enabled(s->turn, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_time(event, &s->timer, CLOCK_BOOTTIME, 0, 10000, on_timer, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
    if (r < 0) {
        fed_store_free(s);
        return r;
    }
    *ret = s;
    return 0;
}
