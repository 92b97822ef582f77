/* See state-store.h. */
#include "nodemanager/store/state-store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "nodemanager/store/state-store-open.h"

enum stmt {
    S_BEGIN,
    S_COMMIT,
    S_ROLLBACK,
    S_APP,
    S_APP_FINISHED,
    S_APP_REMOVE,
    S_CONT,
    S_CONT_LAUNCHED,
    S_CONT_KILLED,
    S_CONT_COMPLETED,
    S_CONT_DONE,
    S_CONT_REMOVE,
    S_CONT_UPDATED,
    S_KEY,
    S_KEY_REMOVE,
    S_TOKEN,
    S_TOKEN_EXPIRE,
    S_DEL,
    S_DEL_REMOVE,
    S_LOGDEL,
    S_LOGDEL_REMOVE,
    S_LOGUP,
    S_LOGUP_REMOVE,
    S_LOGSKIP,
    S_LOGSKIP_REMOVE,
    S_RES,
    S_RES_REMOVE,
    S_SETTING,
    S_SETTING_REMOVE,
    S_DATA,
    S_DATA_REMOVE,
    S_MCS,
    S_MCS_REMOVE,
    S_EACH_APP,
    S_EACH_CONT,
    S_EACH_KEY,
    S_EACH_TOKEN,
    S_EACH_DEL,
    S_EACH_LOGDEL,
    S_EACH_LOGUP,
    S_EACH_LOGSKIP,
    S_EACH_RES,
    S_EACH_SETTING,
    S_EACH_DATA,
    S_EACH_MCS,
    S_COUNT
};

/* clang-format off */
static const char *const sql[S_COUNT] = {
    [S_BEGIN] = "BEGIN IMMEDIATE",
    [S_COMMIT] = "COMMIT",
    [S_ROLLBACK] = "ROLLBACK",
    [S_APP] = "INSERT OR REPLACE INTO apps(id,user,view_acl,modify_acl,finished) VALUES(?1,?2,?3,?4,0)",
    [S_APP_FINISHED] = "UPDATE apps SET finished=1 WHERE id=?1",
    [S_APP_REMOVE] = "DELETE FROM apps WHERE id=?1",
    [S_CONT] = "INSERT INTO containers(id,app,request,start_ms,local_dir,log_dir,assigned) VALUES(?1,?2,?3,?4,?5,?6,?7)",
    [S_CONT_LAUNCHED] = "UPDATE containers SET launched=1,launch_ms=?2 WHERE id=?1",
    [S_CONT_KILLED] = "UPDATE containers SET killed=1,kill_code=?2 WHERE id=?1",
    [S_CONT_COMPLETED] = "UPDATE containers SET completed=1,exit_code=?2 WHERE id=?1",
    [S_CONT_DONE] = "UPDATE containers SET completed=1,done=1,exit_code=?2,finish_ms=?3,diagnostics=?4 WHERE id=?1",
    [S_CONT_REMOVE] = "DELETE FROM containers WHERE id=?1",
    [S_CONT_UPDATED] = "UPDATE containers SET updated=?2 WHERE id=?1",
    [S_KEY] = "INSERT OR REPLACE INTO keys(name,key_id,bytes) VALUES(?1,?2,?3)",
    [S_KEY_REMOVE] = "DELETE FROM keys WHERE name=?1",
    [S_TOKEN] = "INSERT OR REPLACE INTO used_tokens(container,expiry_ms) VALUES(?1,?2)",
    [S_TOKEN_EXPIRE] = "DELETE FROM used_tokens WHERE expiry_ms<?1",
    [S_DEL] = "INSERT OR REPLACE INTO deletions(id,at_ms,task) VALUES(?1,?2,?3)",
    [S_DEL_REMOVE] = "DELETE FROM deletions WHERE id=?1",
    [S_LOGDEL] = "INSERT OR REPLACE INTO log_deleters(app,user,at_ms) VALUES(?1,?2,?3)",
    [S_LOGDEL_REMOVE] = "DELETE FROM log_deleters WHERE app=?1",
    [S_LOGUP] = "INSERT OR REPLACE INTO log_uploads(app,account,pending,value) VALUES(?1,?2,?3,?4)",
    [S_LOGUP_REMOVE] = "DELETE FROM log_uploads WHERE app=?1",
    [S_LOGSKIP] = "INSERT INTO log_skips(app,container) VALUES(?1,?2)",
    [S_LOGSKIP_REMOVE] = "DELETE FROM log_skips WHERE app=?1",
    [S_RES] = "INSERT OR REPLACE INTO resources(key,value) VALUES(?1,?2)",
    [S_RES_REMOVE] = "DELETE FROM resources WHERE key=?1",
    [S_SETTING] = "INSERT OR REPLACE INTO settings(name,value) VALUES(?1,?2)",
    [S_SETTING_REMOVE] = "DELETE FROM settings WHERE name=?1",
    [S_DATA] = "INSERT OR REPLACE INTO service_data(app,service,data) VALUES(?1,?2,?3)",
    [S_DATA_REMOVE] = "DELETE FROM service_data WHERE app=?1",
    [S_MCS] = "INSERT INTO mcs(name,owner,pair) VALUES(?1,?2,?3)",
    [S_MCS_REMOVE] = "DELETE FROM mcs WHERE name=?1 AND owner<>''",
    [S_EACH_APP] = "SELECT id,user,view_acl,modify_acl,finished FROM apps ORDER BY rowid",
    [S_EACH_CONT] =
        ("SELECT id,app,request,start_ms,launch_ms,finish_ms,launched,killed,completed,done,"
         "local_dir,log_dir,exit_code,kill_code,diagnostics,assigned,updated FROM containers ORDER BY rowid"),
    [S_EACH_KEY] = "SELECT name,key_id,bytes FROM keys",
    [S_EACH_TOKEN] = "SELECT container,expiry_ms FROM used_tokens",
    [S_EACH_DEL] = "SELECT id,at_ms,task FROM deletions ORDER BY id",
    [S_EACH_LOGDEL] = "SELECT app,user,at_ms FROM log_deleters",
    [S_EACH_LOGUP] = "SELECT app,account,pending,value FROM log_uploads",
    [S_EACH_LOGSKIP] = "SELECT app,container FROM log_skips",
    [S_EACH_RES] = "SELECT key,value FROM resources",
    [S_EACH_SETTING] = "SELECT name,value FROM settings",
    [S_EACH_DATA] = "SELECT app,service,data FROM service_data",
    [S_EACH_MCS] = "SELECT name,owner,pair FROM mcs ORDER BY rowid",
};

/* clang-format on */

struct commit_waiter {
    nm_store_fn fn;
    void *userdata;
};

#define PROBE_USEC 1000000 /* between attempts to write after a failure */
#define PROBE_BYTES 65536

struct nm_store {
    sqlite3 *db;
    sqlite3_stmt *stmt[S_COUNT];
    sd_event_source *commit_source, *probe_timer;
    struct commit_waiter *waiters;
    size_t n_waiters, cap_waiters;
    bool is_new; /* there was none at the start */
    bool open;   /* a transaction is open */
    bool failed; /* a write of the open transaction failed: so does the commit */
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

/* The first error says why; a rollback after it adds nothing. */
static int db_error(struct nm_store *s, const char *what)
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

static sqlite3_stmt *prepared(struct nm_store *s, enum stmt n)
{
    if (!s->stmt[n] && sqlite3_prepare_v3(s->db, sql[n], -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[n],
                                          NULL) != SQLITE_OK) {
        (void)db_error(s, sql[n]);
        return NULL;
    }
    return s->stmt[n];
}

static int step_plain(struct nm_store *s, enum stmt n)
{
    sqlite3_stmt *st = prepared(s, n);
    int r;

    if (!st)
        return -EIO;
    r = sqlite3_step(st);
    sqlite3_reset(st);
    return r == SQLITE_DONE ? 0 : db_error(s, sql[n]);
}

int nm_store_commit(struct nm_store *s)
{
    struct commit_waiter *w = s->waiters;
    size_t n = s->n_waiters;
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
    s->waiters = NULL;
    s->n_waiters = s->cap_waiters = 0;
    for (size_t i = 0; i < n; i++)
        w[i].fn(w[i].userdata, r);
    free(w);
    return r;
}

static int on_due(sd_event_source *src, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src;
    (void)nm_store_commit(userdata); /* waiters get the failure, ignoring */
    return 0;
}

/* A commit is due after the events that are pending in the loop now: their writes join it, later
 * ones do not delay it. */
static int arm(struct nm_store *s)
{
    return sd_event_source_set_enabled(s->commit_source, SD_EVENT_ONESHOT);
}

int nm_store_after_commit(struct nm_store *s, nm_store_fn fn, void *userdata)
{
    if (s->n_waiters == s->cap_waiters) {
        size_t cap = s->cap_waiters ? s->cap_waiters * 2 : 16;
        struct commit_waiter *w = reallocarray(s->waiters, cap, sizeof(*w));

        if (!w)
            return -ENOMEM;
        s->waiters = w;
        s->cap_waiters = cap;
    }
    s->waiters[s->n_waiters++] = (struct commit_waiter){ fn, userdata };
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

/* One write of the open transaction. fmt: t text, i int64, b blob (pointer, size_t). */
static int write_row(struct nm_store *s, enum stmt n, const char *fmt, ...)
{
    sqlite3_stmt *st;
    va_list ap;
    int r = begin(s), at = 1;

    if (r < 0)
        return r;
    st = prepared(s, n);
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
    return r == SQLITE_DONE ? 0 : db_error(s, sql[n]);
}

/* Writes and removes a used token that has expired, as long as a large launch context: in a smaller
 * place the next container would fail again. Two commits: SQLite does not write what one removes.
 */
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
        r = write_row(s, S_TOKEN, "ti", memset(token, 'x', PROBE_BYTES), (int64_t)0);
    if (s->open)
        r = nm_store_commit(s);
    if (r >= 0)
        r = nm_store_used_tokens_expire(s, 1);
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

int nm_store_app(struct nm_store *s, const char *app, const char *user, const char *view_acl,
                 const char *modify_acl)
{
    return write_row(s, S_APP, "tttt", app, user, view_acl, modify_acl);
}
int nm_store_app_finished(struct nm_store *s, const char *app)
{
    return write_row(s, S_APP_FINISHED, "t", app);
}
int nm_store_app_remove(struct nm_store *s, const char *app)
{
    int r = write_row(s, S_DATA_REMOVE, "t", app);

    return r < 0 ? r : write_row(s, S_APP_REMOVE, "t", app);
}
int nm_store_service_data(struct nm_store *s, const char *app, const char *service, const void *p,
                          size_t n)
{
    return write_row(s, S_DATA, "ttb", app, service, p, n);
}
int nm_store_container(struct nm_store *s, const char *id, const char *app, const void *request,
                       size_t request_len, int64_t start_ms, int local_dir, int log_dir,
                       const char *assigned)
{
    return write_row(s, S_CONT, "ttbiiit", id, app, request, request_len, start_ms,
                     (int64_t)local_dir, (int64_t)log_dir, assigned);
}
int nm_store_container_launched(struct nm_store *s, const char *id, int64_t launch_ms)
{
    return write_row(s, S_CONT_LAUNCHED, "ti", id, launch_ms);
}
int nm_store_container_killed(struct nm_store *s, const char *id, int exit_code)
{
    return write_row(s, S_CONT_KILLED, "ti", id, (int64_t)exit_code);
}
int nm_store_container_completed(struct nm_store *s, const char *id, int exit_code)
{
    return write_row(s, S_CONT_COMPLETED, "ti", id, (int64_t)exit_code);
}
int nm_store_container_done(struct nm_store *s, const char *id, int exit_code, int64_t finish_ms,
                            const char *diagnostics)
{
    return write_row(s, S_CONT_DONE, "tiit", id, (int64_t)exit_code, finish_ms, diagnostics);
}
int nm_store_container_updated(struct nm_store *s, const char *id, const void *token, size_t len)
{
    return write_row(s, S_CONT_UPDATED, "tb", id, token, len);
}
int nm_store_container_remove(struct nm_store *s, const char *id)
{
    return write_row(s, S_CONT_REMOVE, "t", id);
}
int nm_store_key(struct nm_store *s, const char *name, const struct yarn_master_key *key)
{
    return write_row(s, S_KEY, "tib", name, (int64_t)key->key_id, key->bytes, key->len);
}
int nm_store_key_remove(struct nm_store *s, const char *name)
{
    return write_row(s, S_KEY_REMOVE, "t", name);
}
int nm_store_used_token(struct nm_store *s, const char *container, int64_t expiry_ms)
{
    return write_row(s, S_TOKEN, "ti", container, expiry_ms);
}
int nm_store_used_tokens_expire(struct nm_store *s, int64_t now_ms)
{
    return write_row(s, S_TOKEN_EXPIRE, "i", now_ms);
}
int nm_store_deletion(struct nm_store *s, int64_t id, int64_t at_ms, const char *task)
{
    return write_row(s, S_DEL, "iit", id, at_ms, task);
}
int nm_store_deletion_remove(struct nm_store *s, int64_t id)
{
    return write_row(s, S_DEL_REMOVE, "i", id);
}
int nm_store_log_deleter(struct nm_store *s, const char *app, const char *user, int64_t at_ms)
{
    return write_row(s, S_LOGDEL, "tti", app, user, at_ms);
}
int nm_store_log_deleter_remove(struct nm_store *s, const char *app)
{
    return write_row(s, S_LOGDEL_REMOVE, "t", app);
}
int nm_store_log_upload(struct nm_store *s, const char *app, const char *account, bool pending,
                        const void *value, size_t len)
{
    return write_row(s, S_LOGUP, "ttib", app, account, (int64_t)pending, value, len);
}
int nm_store_log_upload_remove(struct nm_store *s, const char *app)
{
    int r = write_row(s, S_LOGUP_REMOVE, "t", app);

    return r < 0 ? r : write_row(s, S_LOGSKIP_REMOVE, "t", app);
}
int nm_store_log_skip(struct nm_store *s, const char *app, const char *container)
{
    return write_row(s, S_LOGSKIP, "tt", app, container);
}
int nm_store_resource(struct nm_store *s, const char *key, const void *value, size_t len)
{
    return write_row(s, S_RES, "tb", key, value, len);
}
int nm_store_resource_remove(struct nm_store *s, const char *key)
{
    return write_row(s, S_RES_REMOVE, "t", key);
}
int nm_store_setting(struct nm_store *s, const char *name, const char *value)
{
    return write_row(s, S_SETTING, "tt", name, value);
}
int nm_store_setting_remove(struct nm_store *s, const char *name)
{
    return write_row(s, S_SETTING_REMOVE, "t", name);
}
int nm_store_mcs(struct nm_store *s, const char *name, const char *owner, int64_t pair)
{
    return write_row(s, S_MCS, "tti", name, owner, pair);
}
int nm_store_mcs_remove(struct nm_store *s, const char *app)
{
    return write_row(s, S_MCS_REMOVE, "t", app);
}

/* ---- reading back ---------------------------------------------------------------------------*/

typedef int (*row_fn)(sqlite3_stmt *st, void *fn, void *u);

static int each(struct nm_store *s, enum stmt n, row_fn row, void *fn, void *u)
{
    sqlite3_stmt *st = prepared(s, n);
    int r = 0, q = SQLITE_DONE;

    if (!st)
        return -EIO;
    while (r >= 0 && (q = sqlite3_step(st)) == SQLITE_ROW)
        r = row(st, fn, u);
    sqlite3_reset(st);
    if (r >= 0 && q != SQLITE_DONE)
        return db_error(s, sql[n]);
    return r;
}

static const char *text(sqlite3_stmt *st, int col)
{
    return (const char *)sqlite3_column_text(st, col) ?: "";
}

/* Function pointers travel as void *, which POSIX allows; one union-free cast each. */
static int row_app(sqlite3_stmt *st, void *fn, void *u)
{
    struct nm_stored_app a = {
        .id = text(st, 0),
        .user = text(st, 1),
        .view_acl = text(st, 2),
        .modify_acl = text(st, 3),
        .finished = sqlite3_column_int(st, 4),
    };
    return ((int (*)(const struct nm_stored_app *, void *))fn)(&a, u);
}

static int row_container(sqlite3_stmt *st, void *fn, void *u)
{
    struct nm_stored_container c = {
        .id = text(st, 0),
        .app = text(st, 1),
        .request = sqlite3_column_blob(st, 2),
        .request_len = (size_t)sqlite3_column_bytes(st, 2),
        .start_ms = sqlite3_column_int64(st, 3),
        .launch_ms = sqlite3_column_int64(st, 4),
        .finish_ms = sqlite3_column_int64(st, 5),
        .launched = sqlite3_column_int(st, 6),
        .killed = sqlite3_column_int(st, 7),
        .completed = sqlite3_column_int(st, 8),
        .done = sqlite3_column_int(st, 9),
        .local_dir = sqlite3_column_int(st, 10),
        .log_dir = sqlite3_column_int(st, 11),
        .exit_code = sqlite3_column_int(st, 12),
        .kill_code = sqlite3_column_int(st, 13),
        .diagnostics = text(st, 14),
        .assigned = text(st, 15),
        .updated = sqlite3_column_blob(st, 16),
        .updated_len = (size_t)sqlite3_column_bytes(st, 16),
    };
    return ((int (*)(const struct nm_stored_container *, void *))fn)(&c, u);
}

static int row_key(sqlite3_stmt *st, void *fn, void *u)
{
    struct yarn_master_key k = { .key_id = sqlite3_column_int(st, 1) };
    int n = sqlite3_column_bytes(st, 2);

    if (n <= 0 || n > YARN_MASTER_KEY_MAX)
        return -EBADMSG;
    k.len = (size_t)n;
    memcpy(k.bytes, sqlite3_column_blob(st, 2), k.len);
    return ((int (*)(const char *, const struct yarn_master_key *, void *))fn)(text(st, 0), &k, u);
}

static int row_token(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(const char *, int64_t, void *))fn)(text(st, 0), sqlite3_column_int64(st, 1),
                                                        u);
}

static int row_deletion(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(int64_t, int64_t, const char *, void *))fn)(
        sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1), text(st, 2), u);
}

static int row_log_deleter(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(const char *, const char *, int64_t, void *))fn)(
        text(st, 0), text(st, 1), sqlite3_column_int64(st, 2), u);
}

static int row_log_upload(sqlite3_stmt *st, void *fn, void *u)
{
    const struct nm_stored_upload up = { .app = text(st, 0),
                                         .account = text(st, 1),
                                         .pending = sqlite3_column_int(st, 2) != 0,
                                         .value = sqlite3_column_blob(st, 3),
                                         .len = (size_t)sqlite3_column_bytes(st, 3) };

    return ((int (*)(const struct nm_stored_upload *, void *))fn)(&up, u);
}

static int row_log_skip(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(const char *, const char *, void *))fn)(text(st, 0), text(st, 1), u);
}

static int row_resource(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(const char *, const void *, size_t, void *))fn)(
        text(st, 0), sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1), u);
}

static int row_setting(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(const char *, const char *, void *))fn)(text(st, 0), text(st, 1), u);
}

static int row_data(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(const char *, const char *, const void *, size_t, void *))fn)(
        text(st, 0), text(st, 1), sqlite3_column_blob(st, 2), (size_t)sqlite3_column_bytes(st, 2),
        u);
}

static int row_mcs(sqlite3_stmt *st, void *fn, void *u)
{
    return ((int (*)(const char *, const char *, int64_t, void *))fn)(
        text(st, 0), text(st, 1), sqlite3_column_int64(st, 2), u);
}

int nm_store_each_app(struct nm_store *s, int (*fn)(const struct nm_stored_app *, void *), void *u)
{
    return each(s, S_EACH_APP, row_app, (void *)fn, u);
}
int nm_store_each_container(struct nm_store *s,
                            int (*fn)(const struct nm_stored_container *, void *), void *u)
{
    return each(s, S_EACH_CONT, row_container, (void *)fn, u);
}
int nm_store_each_key(struct nm_store *s,
                      int (*fn)(const char *, const struct yarn_master_key *, void *), void *u)
{
    return each(s, S_EACH_KEY, row_key, (void *)fn, u);
}
int nm_store_each_used_token(struct nm_store *s, int (*fn)(const char *, int64_t, void *), void *u)
{
    return each(s, S_EACH_TOKEN, row_token, (void *)fn, u);
}
int nm_store_each_deletion(struct nm_store *s, int (*fn)(int64_t, int64_t, const char *, void *),
                           void *u)
{
    return each(s, S_EACH_DEL, row_deletion, (void *)fn, u);
}
int nm_store_each_log_deleter(struct nm_store *s,
                              int (*fn)(const char *, const char *, int64_t, void *), void *u)
{
    return each(s, S_EACH_LOGDEL, row_log_deleter, (void *)fn, u);
}
int nm_store_each_log_upload(struct nm_store *s, int (*fn)(const struct nm_stored_upload *, void *),
                             void *u)
{
    return each(s, S_EACH_LOGUP, row_log_upload, (void *)fn, u);
}
int nm_store_each_log_skip(struct nm_store *s, int (*fn)(const char *, const char *, void *),
                           void *u)
{
    return each(s, S_EACH_LOGSKIP, row_log_skip, (void *)fn, u);
}
int nm_store_each_resource(struct nm_store *s,
                           int (*fn)(const char *, const void *, size_t, void *), void *u)
{
    return each(s, S_EACH_RES, row_resource, (void *)fn, u);
}
int nm_store_each_setting(struct nm_store *s, int (*fn)(const char *, const char *, void *),
                          void *u)
{
    return each(s, S_EACH_SETTING, row_setting, (void *)fn, u);
}

int nm_store_each_service_data(struct nm_store *s,
                               int (*fn)(const char *, const char *, const void *, size_t, void *),
                               void *u)
{
    return each(s, S_EACH_DATA, row_data, (void *)fn, u);
}
int nm_store_each_mcs(struct nm_store *s, int (*fn)(const char *, const char *, int64_t, void *),
                      void *u)
{
    return each(s, S_EACH_MCS, row_mcs, (void *)fn, u);
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
    if (!s)
        return NULL;
    if (s->db && s->commit_source)
        (void)nm_store_commit(s); /* reported in the log, ignoring */
    sd_event_source_disable_unref(s->commit_source);
    sd_event_source_disable_unref(s->probe_timer);
    for (int i = 0; i < S_COUNT; i++)
        sqlite3_finalize(s->stmt[i]);
    sqlite3_close(s->db);
    free(s->waiters);
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
