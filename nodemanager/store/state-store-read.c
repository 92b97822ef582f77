/* See state-store.h: functions that read the records at start. */
#include "nodemanager/store/state-store.h"

#include <errno.h>
#include <string.h>

#include "nodemanager/store/state-store-statements.h"

typedef int (*row_fn)(sqlite3_stmt *st, void *fn, void *u);

static int each(struct nm_store *s, enum nm_store_stmt n, row_fn row, void *fn, void *u)
{
    sqlite3_stmt *st = nm_store_prepared(s, n);
    int r = 0, q = SQLITE_DONE;

    if (!st)
        return -EIO;
    while (r >= 0 && (q = sqlite3_step(st)) == SQLITE_ROW)
        r = row(st, fn, u);
    sqlite3_reset(st);
    if (r >= 0 && q != SQLITE_DONE)
        return nm_store_db_error(s, nm_store_sql[n]);
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
        .retry = text(st, 17),
        .ended_ms = sqlite3_column_int64(st, 18),
        .late = sqlite3_column_int64(st, 19),
        .reinit = sqlite3_column_int(st, 20),
        .has_previous = sqlite3_column_int(st, 21),
    };
    return ((int (*)(const struct nm_stored_container *, void *))fn)(&c, u);
}

int nm_store_container_request(struct nm_store *s, const char *id, enum nm_stored_request which,
                               int (*fn)(const void *request, size_t len, void *u), void *u)
{
    static const enum nm_store_stmt stmts[] = { [NM_STORED_REQUEST] = S_CONT_REQUEST,
                                                [NM_STORED_NEXT] = S_CONT_NEXT,
                                                [NM_STORED_PREVIOUS] = S_CONT_PREVIOUS };
    sqlite3_stmt *st = nm_store_prepared(s, stmts[which]);
    int r = st ? -ENOENT : -EIO;

    if (st && sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW && sqlite3_column_bytes(st, 0) > 0)
        r = fn(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0), u);
    if (st) {
        sqlite3_reset(st);
        sqlite3_clear_bindings(st);
    }
    return r;
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
    struct nm_stored_upload up = { .app = text(st, 0),
                                   .account = text(st, 1),
                                   .state = NM_STORED_UPLOAD_PENDING,
                                   .value = sqlite3_column_blob(st, 3),
                                   .len = (size_t)sqlite3_column_bytes(st, 3) };
    int state = sqlite3_column_int(st, 2);

    if (state == NM_STORED_UPLOAD_APP_RUNS || state == NM_STORED_UPLOAD_FAILED)
        up.state = (enum nm_stored_upload_state)state;
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

static int row_amrm(sqlite3_stmt *st, void *fn, void *u)
{
    const struct nm_stored_amrm r = { .attempt = text(st, 0),
                                      .name = text(st, 1),
                                      .value = sqlite3_column_blob(st, 2),
                                      .len = (size_t)sqlite3_column_bytes(st, 2) };

    return ((int (*)(const struct nm_stored_amrm *, void *))fn)(&r, u);
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

int nm_store_each_amrm(struct nm_store *s, const char *attempt,
                       int (*fn)(const struct nm_stored_amrm *, void *), void *u)
{
    sqlite3_stmt *st = nm_store_prepared(s, S_EACH_AMRM);
    int r;

    if (!st)
        return -EIO;
    if (attempt && sqlite3_bind_text(st, 1, attempt, -1, SQLITE_TRANSIENT) != SQLITE_OK)
        return -ENOMEM;
    r = each(s, S_EACH_AMRM, row_amrm, (void *)fn, u);
    sqlite3_clear_bindings(st);
    return r;
}
