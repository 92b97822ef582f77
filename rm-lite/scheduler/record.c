/* Writes the record of the scheduler. See record.h. Names come from clients and may have any byte
 * and length. */
#include "rm-lite/scheduler/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "rm-lite/scheduler/packed-text.h"
#include "rm-lite/scheduler/record-fields.h"

#define BUFFER ((size_t)64 * 1024)
#define PIECE_MAX 512 /* of one put(): numbers and identifiers */

struct rm_record {
    int fd;
    uint64_t limit, written;
    bool ended; /* limit or failure: nothing more is written */
    size_t len;
    char buf[BUFFER];
};

static const char *const event_names[] = {
    [RM_SCHED_NODE_ADDED] = "node-added",
    [RM_SCHED_NODE_REMOVED] = "node-removed",
    [RM_SCHED_NODE_RESIZED] = "node-resized",
    [RM_SCHED_NODE_SCHEDULABLE] = "node-schedulable",
    [RM_SCHED_NODE_HEARTBEAT] = "heartbeat",
    [RM_SCHED_PASS] = "round",
    [RM_SCHED_APP_ADDED] = "app-added",
    [RM_SCHED_APP_REMOVED] = "app-removed",
    [RM_SCHED_ATTEMPT_ADDED] = "attempt-added",
    [RM_SCHED_ATTEMPT_REMOVED] = "attempt-removed",
    [RM_SCHED_ASK] = "ask",
    [RM_SCHED_CONTAINER_DONE] = "container-done",
    [RM_SCHED_CONTAINER_RECOVERED] = "container-recovered",
    [RM_SCHED_APP_PRIORITY] = "app-priority",
    [RM_SCHED_APP_MOVED] = "app-moved",
    [RM_SCHED_PREEMPT] = "preempt",
    [RM_SCHED_RECONFIGURED] = "reconfigured",
    [RM_SCHED_CONTAINER_UPDATE] = "container-update",
    [RM_SCHED_CONSTRAINTS] = "constraints",
};
static const char *const decision_names[] = {
    [RM_DECIDE_APP_ACCEPTED] = "accepted",
    [RM_DECIDE_APP_REJECTED] = "rejected",
    [RM_DECIDE_ATTEMPT_ADDED] = "attempt",
    [RM_DECIDE_ALLOCATED] = "allocated",
    [RM_DECIDE_RESERVED] = "reserved",
    [RM_DECIDE_UNRESERVED] = "unreserved",
    [RM_DECIDE_LOST] = "lost",
    [RM_DECIDE_ORPHANED] = "orphaned",
    [RM_DECIDE_PREEMPT] = "preempt",
    [RM_DECIDE_PREEMPTED] = "preempted",
    [RM_DECIDE_UPDATED] = "updated",
    [RM_DECIDE_UNPLACED] = "unplaced",
};
/* Keys that the scheduler reads; others may be secret. */
static const char *const key_prefixes[] = {
    "yarn.scheduler.",
    "yarn.resource-types",
    "yarn.cluster.",
    "yarn.resourcemanager.scheduler.monitor.",
    "yarn.resourcemanager.monitor.",
};

const char *rm_record_event_name(int type)
{
    return type > 0 && (size_t)type < SV_ARRAY_LEN(event_names) ? event_names[type] : NULL;
}

int rm_record_event_type(const char *name)
{
    for (size_t i = 1; i < SV_ARRAY_LEN(event_names); i++)
        if (sv_streq(event_names[i], name))
            return (int)i;
    return 0;
}

/* --------------------------------------------------------------------- output */

static void give_up(struct rm_record *rec, int error)
{
    sv_log_err("the record of the scheduler ends here, the file cannot be written: %s",
               strerror(error));
    rec->ended = true;
}

void rm_record_flush(struct rm_record *rec)
{
    int r;

    if (!rec || rec->ended || rec->len == 0)
        return;
    r = sv_write_all(rec->fd, rec->buf, rec->len);
    rec->len = 0;
    if (r < 0)
        give_up(rec, -r);
}

static void put_bytes(struct rm_record *rec, const char *p, size_t n)
{
    if (rec->ended)
        return;
    if (rec->len + n > BUFFER)
        rm_record_flush(rec);
    if (rec->ended)
        return;
    memcpy(rec->buf + rec->len, p, n);
    rec->len += n;
    rec->written += n;
}

static void put(struct rm_record *rec, const char *fmt, ...) _printf_(2, 3);
static void put(struct rm_record *rec, const char *fmt, ...)
{
    char piece[PIECE_MAX];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(piece, sizeof(piece), fmt, ap);
    va_end(ap);
    put_bytes(rec, piece, n < 0 ? 0 : SV_MIN((size_t)n, sizeof(piece) - 1));
}

static bool plain(char c)
{
    return c > 0x20 && c < 0x7f && c != '%';
}

/* One character as it stands in a record, without a NUL; 1 or 3 bytes. */
static size_t escaped(char c, char dst[3])
{
    static const char hex[] = "0123456789abcdef";

    if (plain(c)) {
        dst[0] = c;
        return 1;
    }
    dst[0] = '%';
    dst[1] = hex[(unsigned char)c >> 4];
    dst[2] = hex[(unsigned char)c & 15];
    return 3;
}

static void put_name(struct rm_record *rec, const char *s)
{
    char one[3];

    if (!s || !*s) {
        put(rec, "%s", s ? "%" : "-");
        return;
    }
    if (sv_streq(s, "-")) {
        put(rec, "%%2d");
        return;
    }
    for (size_t left = RM_RECORD_LINE_MAX / 4; *s && left > 0; s++, left--)
        put_bytes(rec, one, escaped(*s, one));
}

static void put_res(struct rm_record *rec, struct rm_res r)
{
    put(rec, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, r.mem, r.vcores, r.extra[0],
        r.extra[1]);
}

static int put_key(const char *name, const char *value, void *userdata)
{
    struct rm_record *rec = userdata;

    for (size_t i = 0; i < SV_ARRAY_LEN(key_prefixes); i++) {
        if (!sv_has_prefix(name, key_prefixes[i]))
            continue;
        put(rec, "k ");
        put_name(rec, name);
        put(rec, " ");
        put_name(rec, value);
        put(rec, "\n");
        return 0;
    }
    return 0;
}

static void put_keys(struct rm_record *rec, struct sv_conf *conf)
{
    if (sv_conf_each(conf, put_key, rec) != 0)
        rec->ended = true; /* cannot happen: put_key does not fail */
}

/* --------------------------------------------------------------------- events */

/* Fields that are zero or NULL are left out. */
static void put_field(struct rm_record *rec, const struct rm_record_field *f, const void *member)
{
    char text[264];

    switch (f->kind) {
    case RM_FIELD_NODE: {
        const struct yarn_node_id *node = *(const struct yarn_node_id *const *)member;

        if (!node)
            return;
        put(rec, " %s=", f->name);
        put_name(rec, yarn_node_id_text(node, text));
        return;
    }
    case RM_FIELD_NAME: {
        const char *name = *(const char *const *)member;

        if (!name)
            return;
        put(rec, " %s=", f->name);
        put_name(rec, name);
        return;
    }
    case RM_FIELD_RES: {
        const struct rm_res *res = member;

        if (rm_res_is_zero(*res))
            return;
        put(rec, " %s=", f->name);
        put_res(rec, *res);
        return;
    }
    case RM_FIELD_APP: {
        const struct yarn_app_id *app = member;

        if (app->id)
            put(rec, " %s=%s", f->name, yarn_app_id_text(*app, text));
        return;
    }
    case RM_FIELD_CONTAINER: {
        const struct yarn_container_id *container = member;

        if (container->attempt.app.id)
            put(rec, " %s=%s", f->name, yarn_container_id_text(*container, text));
        return;
    }
    case RM_FIELD_I32:
        if (*(const int32_t *)member)
            put(rec, " %s=%" PRId32, f->name, *(const int32_t *)member);
        return;
    case RM_FIELD_I64:
        if (*(const int64_t *)member)
            put(rec, " %s=%" PRId64, f->name, *(const int64_t *)member);
        return;
    case RM_FIELD_SIZE:
        if (*(const size_t *)member)
            put(rec, " %s=%zu", f->name, *(const size_t *)member);
        return;
    case RM_FIELD_BOOL:
        if (*(const bool *)member)
            put(rec, " %s=1", f->name);
        return;
    }
}

static void put_fields(struct rm_record *rec, const struct rm_sched_event *ev)
{
    for (const struct rm_record_field *f = rm_record_fields; f->name; f++)
        if (f->type == ev->type)
            put_field(rec, f, rm_field_of(f, ev));
}

static void put_asks(struct rm_record *rec, const struct rm_ask *asks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct rm_ask *a = &asks[i];

        put(rec, "a %" PRId32 " %" PRId64 " ", a->priority, a->allocation_id);
        put_name(rec, a->name);
        put(rec, " ");
        put_res(rec, a->capability);
        put(rec, " %" PRId32 " %d\n", a->count, a->relax);
    }
}

static void put_names(struct rm_record *rec, const char *sign, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put(rec, "%s ", sign);
        put_name(rec, names[i]);
        put(rec, "\n");
    }
}

static void put_packed(struct rm_record *rec, const char *sign, const ProtobufCMessage *m)
{
    _cleanup_free_ char *text = rm_packed_text(m);
    size_t n = text ? strlen(text) : 0;

    if (n == 0 || n > RM_RECORD_LINE_MAX) {
        sv_log_err(
            "the record of the scheduler ends here, a request of %zu bytes cannot be written",
            n / 2);
        rec->ended = true;
        return;
    }
    put(rec, "%s ", sign);
    for (size_t at = 0; at < n; at += BUFFER)
        put_bytes(rec, text + at, SV_MIN(BUFFER, n - at));
    put(rec, "\n");
}

static void put_messages(struct rm_record *rec, const struct rm_sched_event *ev)
{
    if (ev->type == RM_SCHED_ASK)
        for (size_t i = 0; i < ev->ask.n_requests; i++)
            put_packed(rec, "s", &ev->ask.requests[i]->base);
    if (ev->type == RM_SCHED_CONSTRAINTS)
        for (size_t i = 0; i < ev->constraints.n_entries; i++)
            put_packed(rec, "c", &ev->constraints.entries[i]->base);
}

/* The lines that follow the event's own. */
static void put_rows(struct rm_record *rec, const struct rm_sched_event *ev)
{
    if (ev->type == RM_SCHED_ATTEMPT_ADDED)
        put_asks(rec, ev->attempt_added.asks, ev->attempt_added.n_asks);
    if (ev->type == RM_SCHED_ASK) {
        put_asks(rec, ev->ask.asks, ev->ask.n_asks);
        put_names(rec, "+", ev->ask.blacklist_add, ev->ask.n_blacklist_add);
        put_names(rec, "-", ev->ask.blacklist_remove, ev->ask.n_blacklist_remove);
    }
    if (ev->type == RM_SCHED_APP_ADDED)
        put_names(rec, "t", ev->app_added.tags, ev->app_added.n_tags);
    if (ev->type == RM_SCHED_CONTAINER_RECOVERED)
        put_names(rec, "t", ev->container_recovered.tags, ev->container_recovered.n_tags);
    put_messages(rec, ev);
    if (ev->type == RM_SCHED_RECONFIGURED)
        put_keys(rec, ev->reconfigured.conf);
}

/* Escapes a short string: a decision's text has at most 512 bytes. */
static void escape_to(char *dst, size_t size, const char *s)
{
    size_t at = 0;

    for (; s && *s && at + 4 < size; s++)
        at += escaped(*s, dst + at);
    dst[at] = 0;
    if (at == 0)
        (void)snprintf(dst, size, "%s", s ? "%" : "-");
}

void rm_record_decision(const struct rm_decision *d, char dst[RM_DECISION_LINE_MAX])
{
    char app[YARN_ID_TEXT_MAX], con[YARN_ID_TEXT_MAX], node[264], host[800], text[1600];
    const char *name = d->type > 0 && (size_t)d->type < SV_ARRAY_LEN(decision_names)
                           ? decision_names[d->type]
                           : "unknown";

    escape_to(host, sizeof(host), yarn_node_id_text(&d->node, node));
    escape_to(text, sizeof(text), d->text ? d->text : "");
    (void)snprintf(dst, RM_DECISION_LINE_MAX,
                   "d %s %s %s %s %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 " %" PRId32
                   " %" PRId64 " %d %s",
                   name, yarn_app_id_text(d->app, app), yarn_container_id_text(d->container, con),
                   host, d->resource.mem, d->resource.vcores, d->resource.extra[0],
                   d->resource.extra[1], d->priority, d->allocation_id, (int)d->locality, text);
}

void rm_record_event(struct rm_record *rec, const struct rm_sched_event *ev, int64_t now_ms,
                     int result, const struct rm_decision *d, size_t n)
{
    char line[RM_DECISION_LINE_MAX];

    if (rec->ended)
        return;
    put(rec, "e %s %" PRId64, rm_record_event_name(ev->type), now_ms);
    put_fields(rec, ev);
    put(rec, "\n");
    put_rows(rec, ev);
    put(rec, "= %d %zu\n", result, n);
    for (size_t i = 0; i < n; i++) {
        rm_record_decision(&d[i], line);
        put_bytes(rec, line, strlen(line));
        put(rec, "\n");
    }
    if (rec->written <= rec->limit || rec->ended)
        return;
    put(rec, "x limit\n");
    rm_record_flush(rec);
    rec->ended = true;
    sv_log_warning("the record of the scheduler ends here, it has its %" PRIu64
                   " bytes (selvedge.rm.record-limit)",
                   rec->limit);
}

/* ------------------------------------------------------------- opening, closing */

int rm_record_new(int fd, uint64_t limit, struct sv_conf *conf, int64_t epoch,
                  struct rm_record **ret)
{
    struct rm_record *rec = calloc(1, sizeof(*rec));

    if (!rec) {
        sv_close(fd);
        return -ENOMEM;
    }
    rec->fd = fd;
    rec->limit = limit;
    put(rec, RM_RECORD_MAGIC " %d epoch=%" PRId64 "\n", RM_RECORD_VERSION, epoch);
    put_keys(rec, conf);
    rm_record_flush(rec);
    *ret = rec;
    return 0;
}

int rm_record_open(const char *path, uint64_t limit, struct sv_conf *conf, int64_t epoch,
                   struct rm_record **ret, struct sv_error *err)
{
    _cleanup_free_ char *old = NULL;
    int fd, r;

    if (*path != '/')
        return sv_error_set(err, -EINVAL,
                            "selvedge.rm.record: \"%s\" is not an absolute path: name a file in "
                            "the state directory",
                            path);
    r = sv_asprintf(&old, "%s.old", path);
    if (r < 0)
        return r;
    if (rename(path, old) < 0 && errno != ENOENT)
        return sv_error_errno(err, -errno, "selvedge.rm.record: %s cannot become %s", path, old);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return sv_error_errno(err, -errno, "selvedge.rm.record: %s cannot be created", path);
    r = rm_record_new(fd, limit, conf, epoch, ret);
    if (r >= 0)
        sv_log_notice("the scheduler is recorded in %s, at most %" PRIu64 " bytes", path, limit);
    return r;
}

struct rm_record *rm_record_free(struct rm_record *rec)
{
    if (!rec)
        return NULL;
    if (!rec->ended)
        put(rec, "x end\n");
    rm_record_flush(rec);
    sv_close(rec->fd);
    free(rec);
    return NULL;
}
