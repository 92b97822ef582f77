/* Reads and plays a record of the scheduler. See replay.h and, for the lines, record.h. */
#include "rm-lite/scheduler/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/arena.h"
#include "common/conf.h"
#include "common/str.h"
#include "rm-lite/scheduler/packed-text.h"
#include "rm-lite/scheduler/record-fields.h"
#include "rm-lite/scheduler/record.h"

#define EVENT_BYTES ((size_t)256 << 20) /* memory of one event */
#define FIELDS 24                       /* in a line; a line of decisions has 10 */
#define AMOUNT_MAX INT32_MAX            /* of a resource, as on the wire: sums fit 64 bits */

struct reader {
    const char *at, *end;
    size_t line;          /* of the last one read */
    char *fields[FIELDS]; /* of it, in the arena */
    size_t n;
    struct sv_arena *arena; /* of the current event */
    struct sv_conf *conf;   /* keys of the current event, or of the start */
    struct rm_sched *sched;
    struct rm_sched_event ev;
    struct yarn_node_id node;
    struct rm_ask *asks;
    const char **add, **remove; /* of its blacklist */
    const char **tags;
    ProtobufCMessage **requests, **rules;
    size_t n_asks, n_add, n_remove, n_tags, n_requests, n_rules;
    size_t cap_asks, cap_add, cap_remove, cap_tags, cap_requests, cap_rules;
    int64_t now_ms;
    size_t event_line;
    struct sv_error *err;
};

enum { TORN = 1, LAST = 2 }; /* beside 0: a whole line, and -errno */

static int bad(struct reader *r, const char *what)
{
    return sv_error_set(r->err, -EBADMSG, "line %zu: %s", r->line, what);
}

/* ---------------------------------------------------------------------- fields */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place. "-" is NULL, "%" the empty string. */
static int unescape(char **text)
{
    char *s = *text, *to = s;

    if (sv_streq(s, "-")) {
        *text = NULL;
        return 0;
    }
    if (sv_streq(s, "%")) {
        *s = 0;
        return 0;
    }
    for (; *s; s++) {
        int high, low;

        if (*s != '%') {
            *to++ = *s;
            continue;
        }
        high = hex_digit(s[1]);
        low = high < 0 ? -1 : hex_digit(s[2]);
        if (low < 0 || high * 16 + low == 0)
            return -EBADMSG;
        *to++ = (char)(high * 16 + low);
        s += 2;
    }
    *to = 0;
    return 0;
}

/* A name that must be there. */
static int parse_name(char *text, const char **ret)
{
    int r = unescape(&text);

    if (r < 0 || !text)
        return -EBADMSG;
    *ret = text;
    return 0;
}

static int parse_int(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    return sv_parse_i64(text, min, max, ret) < 0 ? -EBADMSG : 0;
}

static int parse_i32(const char *text, int32_t min, int32_t *ret)
{
    int64_t v;
    int r = parse_int(text, min, INT32_MAX, &v);

    if (r >= 0)
        *ret = (int32_t)v;
    return r;
}

static int parse_res(char *text, struct rm_res *ret)
{
    int64_t v[2 + RM_RES_EXTRA];

    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++) {
        char *one = strsep(&text, ",");

        if (!one || parse_int(one, 0, AMOUNT_MAX, &v[i]) < 0)
            return -EBADMSG;
    }
    if (text)
        return -EBADMSG;
    ret->mem = v[0];
    ret->vcores = v[1];
    memcpy(ret->extra, v + 2, sizeof(ret->extra));
    return 0;
}

/* ----------------------------------------------------------------------- lines */

/* The next line into r->fields, in the arena. TORN: none, or one without its end. */
static int read_line(struct reader *r)
{
    const char *nl = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    size_t len;
    char *text;

    r->line++;
    r->n = 0;
    if (!nl)
        return TORN;
    len = (size_t)(nl - r->at);
    if (len > 2 * RM_RECORD_LINE_MAX)
        return bad(r, "too long");
    text = sv_arena_alloc(r->arena, len + 1);
    if (!text)
        return sv_error_set(r->err, -ENOMEM, "line %zu: no memory for it", r->line);
    memcpy(text, r->at, len);
    if (strlen(text) != len)
        return bad(r, "has a zero byte");
    r->at = nl + 1;
    while (text) {
        if (r->n == FIELDS)
            return bad(r, "has too many fields");
        r->fields[r->n++] = strsep(&text, " ");
    }
    return 0;
}

static int read_key(struct reader *r)
{
    const char *name, *value;

    if (r->n != 3 || parse_name(r->fields[1], &name) < 0 || parse_name(r->fields[2], &value) < 0)
        return bad(r, "is not \"k NAME VALUE\"");
    if (!r->conf)
        r->conf = sv_conf_new();
    if (!r->conf || sv_conf_set(r->conf, name, value) < 0)
        return sv_error_set(r->err, -ENOMEM, "line %zu: no memory for the key", r->line);
    return 0;
}

/* Room for one more element; arrays double in the arena. */
static int grow(struct reader *r, void **array, size_t n, size_t *cap, size_t size)
{
    size_t more = SV_MAX(*cap * 2, (size_t)8);
    void *p;

    if (n < *cap)
        return 0;
    p = sv_arena_calloc(r->arena, more, size);
    if (!p)
        return sv_error_set(r->err, -ENOMEM, "line %zu: no memory for the event", r->line);
    if (n > 0)
        memcpy(p, *array, n * size);
    *array = p;
    *cap = more;
    return 0;
}

static int read_ask(struct reader *r)
{
    struct rm_ask a = { 0 };
    int32_t relax;
    int q;

    if (r->n != 7 || parse_i32(r->fields[1], INT32_MIN, &a.priority) < 0 ||
        parse_int(r->fields[2], INT64_MIN, INT64_MAX, &a.allocation_id) < 0 ||
        parse_name(r->fields[3], &a.name) < 0 || parse_res(r->fields[4], &a.capability) < 0 ||
        parse_i32(r->fields[5], 0, &a.count) < 0 || parse_i32(r->fields[6], 0, &relax) < 0)
        return bad(r, "is not \"a PRIORITY ALLOCATION NAME RESOURCE COUNT RELAX\"");
    a.relax = relax != 0;
    q = grow(r, (void **)&r->asks, r->n_asks, &r->cap_asks, sizeof(a));
    if (q < 0)
        return q;
    r->asks[r->n_asks++] = a;
    return 0;
}

static int read_name(struct reader *r, const char ***list, size_t *n, size_t *cap)
{
    const char *name;
    int q;

    if (r->n != 2 || parse_name(r->fields[1], &name) < 0)
        return bad(r, "is not a name of the blacklist or a tag");
    q = grow(r, (void **)list, *n, cap, sizeof(name));
    if (q < 0)
        return q;
    (*list)[(*n)++] = name;
    return 0;
}

static int read_message(struct reader *r, const ProtobufCMessageDescriptor *d,
                        ProtobufCMessage ***list, size_t *n, size_t *cap)
{
    ProtobufCMessage *m;
    int q;

    if (r->n != 2 || rm_packed_parse(r->arena, r->fields[1], d, &m) < 0)
        return bad(r, "is not a packed message");
    q = grow(r, (void **)list, *n, cap, sizeof(m));
    if (q < 0)
        return q;
    (*list)[(*n)++] = m;
    return 0;
}

static int parse_node(struct reader *r, char *text, const struct yarn_node_id **ret)
{
    const char *name;

    if (parse_name(text, &name) < 0 || yarn_node_id_parse(name, &r->node) < 0)
        return -EBADMSG;
    *ret = &r->node;
    return 0;
}

static int parse_size(const char *text, size_t *ret)
{
    int64_t v;
    int r = parse_int(text, 0, INT32_MAX, &v);

    if (r >= 0)
        *ret = (size_t)v;
    return r;
}

static int parse_bool(const char *text, bool *ret)
{
    int32_t v;
    int r = parse_i32(text, 0, &v);

    if (r >= 0)
        *ret = v != 0;
    return r;
}

static int read_field(struct reader *r, char *text)
{
    const struct rm_record_field *f = rm_record_fields;
    char *value = strchr(text, '=');
    void *member;

    if (!value)
        return -EBADMSG;
    *value++ = 0;
    while (f->name && (f->type != r->ev.type || !sv_streq(f->name, text)))
        f++;
    if (!f->name)
        return -EBADMSG;
    member = (char *)&r->ev + f->offset;
    switch (f->kind) {
    case RM_FIELD_NODE:
        return parse_node(r, value, member);
    case RM_FIELD_NAME:
        return parse_name(value, member);
    case RM_FIELD_RES:
        return parse_res(value, member);
    case RM_FIELD_APP:
        return yarn_app_id_parse(value, member);
    case RM_FIELD_CONTAINER:
        return yarn_container_id_parse(value, member);
    case RM_FIELD_I32:
        return parse_i32(value, f->smallest, member);
    case RM_FIELD_I64:
        return parse_int(value, 0, INT64_MAX / 2, member);
    case RM_FIELD_SIZE:
        return parse_size(value, member);
    case RM_FIELD_BOOL:
        return parse_bool(value, member);
    }
    return -EBADMSG;
}

static bool is_set(const struct rm_record_field *f, const void *member)
{
    switch (f->kind) {
    case RM_FIELD_NODE:
        return *(const struct yarn_node_id *const *)member;
    case RM_FIELD_NAME:
        return *(const char *const *)member;
    case RM_FIELD_APP:
        return ((const struct yarn_app_id *)member)->id > 0;
    case RM_FIELD_CONTAINER:
        return ((const struct yarn_container_id *)member)->attempt.app.id > 0;
    case RM_FIELD_I32:
        return *(const int32_t *)member > 0;
    default:
        return true;
    }
}

/* True if the event has all fields that the scheduler relies on. */
static bool complete(const struct rm_sched_event *ev)
{
    for (const struct rm_record_field *f = rm_record_fields; f->name; f++)
        if (f->type == ev->type && f->needed && !is_set(f, rm_field_of(f, ev)))
            return false;
    return true;
}

/* The first line of an event. Its memory is a new arena. */
static int read_head(struct reader *r)
{
    int type = r->n >= 3 ? rm_record_event_type(r->fields[1]) : 0;

    memset(&r->ev, 0, sizeof(r->ev));
    r->asks = NULL;
    r->add = r->remove = NULL;
    r->tags = NULL;
    r->requests = r->rules = NULL;
    r->n_asks = r->n_add = r->n_remove = r->n_tags = r->n_requests = r->n_rules = 0;
    r->cap_asks = r->cap_add = r->cap_remove = r->cap_tags = r->cap_requests = r->cap_rules = 0;
    r->event_line = r->line;
    if (type == 0 || parse_int(r->fields[2], 0, INT64_MAX / 2, &r->now_ms) < 0)
        return bad(r, "is not an event");
    r->ev.type = (enum rm_sched_event_type)type;
    for (size_t i = 3; i < r->n; i++)
        if (read_field(r, r->fields[i]) < 0)
            return bad(r, "has a field that is not known or has a bad value");
    return 0;
}

/* ---------------------------------------------------------------------- playing */

static void differs(struct reader *r, struct rm_replay *ret, size_t k, const char *recorded,
                    const char *now)
{
    ret->differs = true;
    ret->line = r->event_line;
    (void)snprintf(ret->what, sizeof(ret->what),
                   "event %" PRIu64 " (line %zu, %s at %" PRId64 " ms), decision %zu:\n"
                   "  recorded: %s\n"
                   "  now:      %s",
                   ret->events + 1, r->event_line, rm_record_event_name(r->ev.type), r->now_ms, k,
                   recorded, now);
}

/* The lines of the recorded decisions against those of now. TORN: not all are there. */
static int compare(struct reader *r, struct rm_replay *ret, int64_t n_recorded,
                   const struct rm_decision *d, size_t n)
{
    char line[RM_DECISION_LINE_MAX];

    for (size_t k = 0; k < (size_t)n_recorded; k++) {
        const char *nl = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
        size_t len;

        r->line++;
        if (!nl)
            return TORN;
        len = (size_t)(nl - r->at);
        if (len < 2 || memcmp(r->at, "d ", 2) != 0 || len >= sizeof(line))
            return bad(r, "is not a decision");
        if (!ret->differs) {
            char recorded[RM_DECISION_LINE_MAX];

            memcpy(recorded, r->at, len);
            recorded[len] = 0;
            if (k < n)
                rm_record_decision(&d[k], line);
            if (k >= n || strlen(line) != len || memcmp(line, recorded, len) != 0)
                differs(r, ret, k + 1, recorded, k < n ? line : "nothing");
        }
        r->at = nl + 1;
    }
    if (n > (size_t)n_recorded && !ret->differs) {
        rm_record_decision(&d[n_recorded], line);
        differs(r, ret, (size_t)n_recorded + 1, "nothing", line);
    }
    return 0;
}

/* The lines that followed the event's own, into its payload. */
static int give_rows(struct reader *r)
{
    struct rm_sched_event *ev = &r->ev;

    if (ev->type == RM_SCHED_ATTEMPT_ADDED) {
        ev->attempt_added.asks = r->asks;
        ev->attempt_added.n_asks = r->n_asks;
    } else if (ev->type == RM_SCHED_ASK) {
        ev->ask.asks = r->asks;
        ev->ask.n_asks = r->n_asks;
        ev->ask.blacklist_add = r->add;
        ev->ask.n_blacklist_add = r->n_add;
        ev->ask.blacklist_remove = r->remove;
        ev->ask.n_blacklist_remove = r->n_remove;
        ev->ask.requests = (Hadoop__Yarn__SchedulingRequestProto **)r->requests;
        ev->ask.n_requests = r->n_requests;
    } else if (ev->type == RM_SCHED_APP_ADDED) {
        ev->app_added.tags = r->tags;
        ev->app_added.n_tags = r->n_tags;
    } else if (ev->type == RM_SCHED_CONTAINER_RECOVERED) {
        ev->container_recovered.tags = r->tags;
        ev->container_recovered.n_tags = r->n_tags;
    } else if (ev->type == RM_SCHED_CONSTRAINTS) {
        ev->constraints.entries = (Hadoop__Yarn__PlacementConstraintMapEntryProto **)r->rules;
        ev->constraints.n_entries = r->n_rules;
    } else if (ev->type == RM_SCHED_RECONFIGURED) {
        if (!r->conf)
            r->conf = sv_conf_new();
        if (!r->conf)
            return sv_error_set(r->err, -ENOMEM, "line %zu: no memory for the keys", r->line);
        ev->reconfigured.conf = r->conf;
    }
    return 0;
}

static int play(struct reader *r, struct rm_replay *ret)
{
    const struct rm_decision *d;
    char recorded[64], now[64];
    int64_t result, n_recorded;
    size_t n = 0;
    int q;

    if (r->n != 3 || parse_int(r->fields[1], INT32_MIN, 0, &result) < 0 ||
        parse_int(r->fields[2], 0, INT32_MAX, &n_recorded) < 0)
        return bad(r, "is not \"= RESULT NUMBER\"");
    if (!complete(&r->ev))
        return bad(r, "ends an event that lacks a field");
    q = give_rows(r);
    if (q < 0)
        return q;
    q = rm_sched_handle(r->sched, &r->ev, r->now_ms, &d, &n, NULL);
    if (q != result) {
        (void)snprintf(recorded, sizeof(recorded), "result %" PRId64, result);
        (void)snprintf(now, sizeof(now), "result %d", q);
        differs(r, ret, 0, recorded, now);
    }
    q = compare(r, ret, n_recorded, d, n);
    if (q != 0)
        return q;
    ret->events += !ret->differs;
    ret->decisions += ret->differs ? 0 : n;
    r->conf = sv_conf_free(r->conf);
    return 0;
}

/* One event with its lines. TORN and LAST end the record. */
static int read_event(struct reader *r, struct rm_replay *ret)
{
    bool inside = false;

    for (;;) {
        int q = read_line(r);
        const char *kind;

        if (q != 0)
            return q;
        kind = r->fields[0];
        if (sv_streq(kind, "e") && !inside) {
            inside = true;
            q = read_head(r);
        } else if (sv_streq(kind, "x") && !inside) {
            if (r->n != 2 || r->at != r->end ||
                (!sv_streq(r->fields[1], "end") && !sv_streq(r->fields[1], "limit")))
                return bad(r, "is neither \"x end\" nor \"x limit\", or not the last line");
            ret->end = sv_streq(r->fields[1], "end") ? RM_REPLAY_END : RM_REPLAY_LIMIT;
            return LAST;
        } else if (!inside) {
            return bad(r, "is not the beginning of an event");
        } else if (sv_streq(kind, "a")) {
            q = read_ask(r);
        } else if (sv_streq(kind, "+")) {
            q = read_name(r, &r->add, &r->n_add, &r->cap_add);
        } else if (sv_streq(kind, "-")) {
            q = read_name(r, &r->remove, &r->n_remove, &r->cap_remove);
        } else if (sv_streq(kind, "t")) {
            q = read_name(r, &r->tags, &r->n_tags, &r->cap_tags);
        } else if (sv_streq(kind, "s")) {
            q = read_message(r, &hadoop__yarn__scheduling_request_proto__descriptor, &r->requests,
                             &r->n_requests, &r->cap_requests);
        } else if (sv_streq(kind, "c")) {
            q = read_message(r, &hadoop__yarn__placement_constraint_map_entry_proto__descriptor,
                             &r->rules, &r->n_rules, &r->cap_rules);
        } else if (sv_streq(kind, "k")) {
            q = read_key(r);
        } else if (sv_streq(kind, "=")) {
            return play(r, ret);
        } else {
            return bad(r, "is of no known kind");
        }
        if (q < 0)
            return q;
    }
}

/* First line and keys; leaves the cursor at the first event. TORN: the record has no event. */
static int read_start(struct reader *r, int64_t *ret_epoch)
{
    int64_t version;
    int q = read_line(r);

    if (q < 0)
        return q;
    if (q == TORN || !sv_streq(r->fields[0], RM_RECORD_MAGIC) || r->n < 2 ||
        parse_int(r->fields[1], 1, INT32_MAX, &version) < 0)
        return sv_error_set(r->err, -EBADMSG, "not a record of selvedge-rm");
    if (version != RM_RECORD_VERSION)
        return sv_error_set(r->err, -EPROTONOSUPPORT,
                            "a record of version %" PRId64 ", this program reads version %d: "
                            "replay it with the version that wrote it",
                            version, RM_RECORD_VERSION);
    if (r->n != 3 || !sv_has_prefix(r->fields[2], "epoch=") ||
        parse_int(r->fields[2] + 6, 0, (INT64_C(1) << (62 - RM_EPOCH_SHIFT)) - 1, ret_epoch) < 0)
        return bad(r, "has no epoch");
    while (r->end - r->at > 1 && r->at[0] == 'k') {
        q = read_line(r);
        if (q == 0)
            q = read_key(r);
        if (q != 0)
            return q;
    }
    return 0;
}

static int start(struct reader *r)
{
    struct sv_conf *conf = r->conf ? r->conf : sv_conf_new();
    int64_t epoch = 0;
    int q;

    r->conf = conf;
    if (!conf)
        return -ENOMEM;
    q = read_start(r, &epoch);
    if (q != 0)
        return q;
    q = rm_sched_new(r->conf, epoch, &r->sched, r->err);
    r->conf = sv_conf_free(r->conf);
    if (q < 0)
        return sv_error_wrap(r->err, "the recorded configuration");
    return 0;
}

int rm_replay(const char *data, size_t len, struct rm_replay *ret, struct sv_error *err)
{
    struct reader r = { .at = data, .end = data + len, .err = err };
    struct rm_replay out = { .end = RM_REPLAY_TORN };
    int q;

    r.arena = sv_arena_new(EVENT_BYTES);
    q = r.arena ? start(&r) : -ENOMEM;
    while (q == 0 && !out.differs) {
        out.torn_line = r.line + 1;
        if (!sv_arena_reset(r.arena, EVENT_BYTES)) {
            r.arena = sv_arena_free(r.arena);
            r.arena = sv_arena_new(EVENT_BYTES);
        }
        q = r.arena ? read_event(&r, &out) : -ENOMEM;
    }
    (void)sv_arena_free(r.arena);
    sv_conf_free(r.conf);
    rm_sched_free(r.sched);
    if (q < 0)
        return q;
    *ret = out;
    return 0;
}
