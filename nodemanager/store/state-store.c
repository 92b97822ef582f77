/* See state-store.h. */
#include "nodemanager/store/state-store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "nodemanager/store/state-store-open.h"
#include "nodemanager/store/state-store-statements.h"
struct commit_waiter {
    struct commit_waiter *prev, *next;
    nm_store_fn fn;
    void *userdata;
    int result; /* of the commit, once it is done */
};

#define PROBE_USEC 1000000 /* between attempts to write after a failure */
#define PROBE_BYTES 65536
#define TURN_MS 5 /* of a handler of the loop, after which further waiters have another turn */

struct nm_store {
    sqlite3 *db;
    sqlite3_stmt *stmt[S_COUNT];
    sd_event_source *commit_source, *probe_timer;
    struct commit_waiter *waiters; /* utlist: for the next commit */
    struct commit_waiter *ready;   /* utlist: to be told */
    bool is_new;                   /* NM_STORE_NEW is set */
    bool open;                     /* a transaction is open */
    bool failed;                   /* a write of the open transaction failed: so does the commit */
    bool probing;
    char failure[512]; /* "" = the last write succeeded */
};

static void arm_probe(struct nm_store *s)
{
    if (!s->probe_timer)
        return;
    (void)sd_event_source_set_time_relative(s->probe_timer, PROBE_USEC);
    (void)sd_event_source_set_enabled(s->probe_timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* Only the first error has the cause; a rollback after it adds nothing. */
int nm_store_db_error(struct nm_store *s, const char *what)
{
    const char *file = sqlite3_db_filename(s->db, "main"), *why = sqlite3_errmsg(s->db);

    if (!s->probing)
        sv_log_err("state store: %s: %s", what, why);
    s->failed = true;
    if (!*s->failure && (sqlite3_errcode(s->db) & 0xff) != SQLITE_CONSTRAINT) {
        (void)snprintf(s->failure, sizeof(s->failure),
                       "state store %s: %s; no container starts until it can be written",
                       file && *file ? file : "in memory", why);
        arm_probe(s);
    }
    return -EIO;
}

sqlite3_stmt *nm_store_prepared(struct nm_store *s, enum nm_store_stmt n)
{
    if (!s->stmt[n] && sqlite3_prepare_v3(s->db, nm_store_sql[n], -1, SQLITE_PREPARE_PERSISTENT,
                                          &s->stmt[n], NULL) != SQLITE_OK) {
        (void)nm_store_db_error(s, nm_store_sql[n]);
        return NULL;
    }
    return s->stmt[n];
}

static int step_plain(struct nm_store *s, enum nm_store_stmt n)
{
    sqlite3_stmt *st = nm_store_prepared(s, n);
    int r;

    if (!st)
        return -EIO;
    r = sqlite3_step(st);
    sqlite3_reset(st);
    return r == SQLITE_DONE ? 0 : nm_store_db_error(s, nm_store_sql[n]);
}

/* The waiters become ready. */
static int commit(struct nm_store *s)
{
    struct commit_waiter *w;
    int r = 0;

    if (s->open) {
        r = s->failed ? -EIO : step_plain(s, S_COMMIT);
        if (r < 0)
            (void)step_plain(s, S_ROLLBACK);
        else if (*s->failure)
            sv_log_notice("state store: it can be written again");
        if (r >= 0)
            s->failure[0] = '\0';
        s->open = false;
        s->failed = false;
    }
    if (s->commit_source)
        (void)sd_event_source_set_enabled(s->commit_source, SD_EVENT_OFF);
    DL_FOREACH (s->waiters, w)
        w->result = r;
    DL_CONCAT(s->ready, s->waiters);
    s->waiters = NULL;
    return r;
}

static void tell_next(struct nm_store *s)
{
    struct commit_waiter *w = s->ready;

    DL_DELETE(s->ready, w);
    w->fn(w->userdata, w->result);
    free(w);
}

int nm_store_commit(struct nm_store *s)
{
    int r = commit(s);

    while (s->ready)
        tell_next(s);
    return r;
}

static int on_due(sd_event_source *src, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_store *s = userdata;

    (void)commit(s); /* waiters get the failure, ignoring */
    for (bool first = true; s->ready && (first || sv_loop_spent_ms() < TURN_MS); first = false)
        tell_next(s);
    if (s->ready)
        (void)sd_event_source_set_enabled(src, SD_EVENT_ONESHOT); /* ours, ignoring */
    return 0;
}

/* Commits after the events that are now pending in the loop: their writes join it, later ones do
 * not delay it. */
static int arm(struct nm_store *s)
{
    return sd_event_source_set_enabled(s->commit_source, SD_EVENT_ONESHOT);
}

int nm_store_flush(struct nm_store *s)
{
    int r = commit(s);

    if (s->ready)
        (void)arm(s); /* ours, ignoring */
    return r;
}

int nm_store_after_commit(struct nm_store *s, nm_store_fn fn, void *userdata)
{
    struct commit_waiter *w = malloc(sizeof(*w));

    if (!w)
        return -ENOMEM;
    *w = (struct commit_waiter){ .fn = fn, .userdata = userdata };
    DL_APPEND(s->waiters, w);
    return arm(s);
}

static int begin(struct nm_store *s)
{
    int r;

    if (s->open)
        return 0;
    r = step_plain(s, S_BEGIN);
    if (r < 0)
        return r;
    s->open = true;
    return arm(s);
}

int nm_store_write(struct nm_store *s, enum nm_store_stmt n, const char *fmt, ...)
{
    sqlite3_stmt *st;
    va_list ap;
    int r = begin(s), at = 1;

    if (r < 0)
        return r;
    st = nm_store_prepared(s, n);
    if (!st)
        return -EIO;
    va_start(ap, fmt);
    for (const char *f = fmt; *f; f++, at++) {
        if (*f == 't') {
            r = sqlite3_bind_text(st, at, va_arg(ap, const char *), -1, SQLITE_STATIC);
        } else if (*f == 'i') {
            r = sqlite3_bind_int64(st, at, va_arg(ap, int64_t));
        } else {
            const void *p = va_arg(ap, const void *);
            size_t len = va_arg(ap, size_t);

            r = p ? sqlite3_bind_blob64(st, at, p, len, SQLITE_STATIC)
                  : sqlite3_bind_zeroblob(st, at, 0);
        }
        if (r != SQLITE_OK)
            break;
    }
    va_end(ap);
    if (r == SQLITE_OK)
        r = sqlite3_step(st);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return r == SQLITE_DONE ? 0 : nm_store_db_error(s, nm_store_sql[n]);
}

/* Writes and removes an expired used token of the size of a large launch context: with less free
 * space the next container would fail again. Two commits: SQLite does not write a row removed in
 * the same one. */
static int on_probe(sd_event_source *src, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_store *s = userdata;
    _cleanup_free_ char *token = calloc(1, PROBE_BYTES + 1);
    int r = token ? 0 : -ENOMEM;

    (void)src;
    (void)usec;
    s->probing = true;
    if (r >= 0)
        r = nm_store_write(s, S_TOKEN, "ti", memset(token, 'x', PROBE_BYTES), (int64_t)0);
    if (s->open)
        r = nm_store_commit(s);
    if (r >= 0)
        r = nm_store_write(s, S_TOKEN_EXPIRE, "i", (int64_t)1);
    if (s->open)
        r = nm_store_commit(s);
    s->probing = false;
    if (r < 0)
        arm_probe(s);
    return 0;
}

const char *nm_store_failure(const struct nm_store *s)
{
    return *s->failure ? s->failure : NULL;
}

/* ---- open and close -------------------------------------------------------------------------*/

int nm_store_open(sd_event *event, const char *path, struct nm_store **ret, struct sv_error *err)
{
    struct nm_store *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "state store");
    r = nm_store_db_open(path, &s->db, err);
    s->is_new = r > 0;
    if (r >= 0) {
        r = sd_event_add_defer(event, &s->commit_source, on_due, s);
        if (r >= 0)
            r = sd_event_source_set_enabled(s->commit_source, SD_EVENT_OFF);
        if (r >= 0)
            r = sd_event_add_time_relative(event, &s->probe_timer, CLOCK_BOOTTIME, 0, 0, on_probe,
                                           s);
        if (r >= 0)
            r = sd_event_source_set_enabled(s->probe_timer, SD_EVENT_OFF);
        if (r < 0)
            (void)sv_error_errno(err, r, "state store");
    }
    if (r < 0) {
        nm_store_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

bool nm_store_is_new(const struct nm_store *s)
{
    return s->is_new;
}

struct nm_store *nm_store_close(struct nm_store *s)
{
    struct commit_waiter *w, *next;

    if (!s)
        return NULL;
    if (s->db && s->commit_source)
        (void)nm_store_commit(s); /* reported in the log, ignoring */
    sd_event_source_disable_unref(s->commit_source);
    sd_event_source_disable_unref(s->probe_timer);
    for (int i = 0; i < S_COUNT; i++)
        sqlite3_finalize(s->stmt[i]);
    sqlite3_close(s->db);
    DL_FOREACH_SAFE (s->waiters, w, next)
        free(w);
    free(s);
    return NULL;
}

int nm_store_unlink(const char *path)
{
    static const char *const ends[] = { "", "-wal", "-journal", "-shm" };
    int r = 0;

    for (size_t i = 0; i < SV_ARRAY_LEN(ends); i++) {
        _cleanup_free_ char *name = NULL;

        if (sv_asprintf(&name, "%s%s", path, ends[i]) < 0)
            return -ENOMEM;
        if (unlink(name) < 0 && errno != ENOENT)
            r = -errno;
    }
    return r;
}
