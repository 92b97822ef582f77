/* The store in an SQLite file, for the daemons of one machine.
 *
 * A call is executed in the turn of the loop that makes it, and waits for the disk as the daemons'
 * own stores do. A file that another process is writing is tried again, by a timer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "federation/store/backends.h"
#include "federation/store/sql.h"
#include "federation/store/sqlite-library.h"

#define APPLICATION_ID 0x53564644 /* "SVFD" */
#define LAYOUT 1
#define BUSY_USEC 10000
#define VALUE_MAX (1 << 20) /* bytes of any value or statement */

/* Names are those of Hadoop's tables; times are milliseconds. */
static const char layout[] =
    "CREATE TABLE membership(subClusterId TEXT PRIMARY KEY NOT NULL,"
    " amRMServiceAddress TEXT NOT NULL, clientRMServiceAddress TEXT NOT NULL,"
    " rmAdminServiceAddress TEXT NOT NULL, rmWebServiceAddress TEXT NOT NULL,"
    " lastHeartBeat INTEGER NOT NULL, state TEXT NOT NULL, lastStartTime INTEGER UNIQUE,"
    " capability TEXT);"
    "CREATE TABLE applicationsHomeSubCluster(applicationId TEXT PRIMARY KEY NOT NULL,"
    " homeSubCluster TEXT NOT NULL, createTime INTEGER NOT NULL, applicationContext BLOB);"
    "CREATE INDEX latest ON applicationsHomeSubCluster(createTime);"
    "CREATE TABLE reservationsHomeSubCluster(reservationId TEXT PRIMARY KEY NOT NULL,"
    " homeSubCluster TEXT NOT NULL);"
    "CREATE TABLE policies(queue TEXT PRIMARY KEY NOT NULL, policyType TEXT NOT NULL, params BLOB);"
    "CREATE TABLE masterKeys(keyId INTEGER PRIMARY KEY NOT NULL, masterKey TEXT NOT NULL);"
    "CREATE TABLE delegationTokens(sequenceNum INTEGER PRIMARY KEY NOT NULL,"
    " tokenIdent TEXT NOT NULL, token TEXT NOT NULL, renewDate INTEGER NOT NULL);"
    "CREATE TABLE sequenceTable(sequenceName TEXT PRIMARY KEY NOT NULL, nextVal INTEGER NOT NULL);"
    "CREATE TABLE versions(fedVersion BLOB PRIMARY KEY NOT NULL, versionComment TEXT);"
    "PRAGMA application_id=1398163012; PRAGMA user_version=1;";
_Static_assert(APPLICATION_ID == 1398163012 && LAYOUT == 1, "the PRAGMAs above");

struct sqlite_store {
    const struct fed_sqlite *lib;
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_STATEMENTS];
    struct fed_call *waiting; /* for the file, the oldest first */
    sd_event_source *retry;
};

/* ---- One statement ---- */

static void wall_ms(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct fed_sqlite *lib;

    (void)argc;
    (void)argv;
    if (fed_sqlite_load(&lib, NULL) == 0) /* it is loaded */
        lib->result_int64(context, sv_wall_ms());
}

static int bind(struct sqlite_store *q, sqlite3_stmt *st, const struct fed_sql_run *run)
{
    const struct fed_sqlite *lib = q->lib;
    size_t n = strlen(fed_sql_parameters(run->now));
    int r = SQLITE_OK;

    for (size_t i = 0; r == SQLITE_OK && i < n; i++) {
        const struct fed_value *v = &run->values[i];
        int at = (int)i + 1;

        if (v->type == FED_NUMBER)
            r = lib->bind_int64(st, at, v->number);
        else if (v->type == FED_TEXT)
            r = lib->bind_text(st, at, v->p, (int)v->n, SQLITE_STATIC);
        else if (v->type == FED_BYTES)
            r = lib->bind_blob(st, at, v->p, (int)v->n, SQLITE_STATIC);
        else
            r = lib->bind_null(st, at);
    }
    return r;
}

/* A column's value; one of another type than it should have is NULL, or bytes that the reader
 * refuses. */
static struct fed_value column(const struct fed_sqlite *lib, sqlite3_stmt *st, int i, char type)
{
    struct fed_value v = { 0 };
    int stored = lib->column_type(st, i);

    if (stored == SQLITE_INTEGER) {
        v.type = FED_NUMBER;
        v.number = lib->column_int64(st, i);
    } else if (stored == SQLITE_TEXT || stored == SQLITE_BLOB) {
        v.type = stored == SQLITE_TEXT ? FED_TEXT : FED_BYTES;
        v.p =
            stored == SQLITE_TEXT ? (const void *)lib->column_text(st, i) : lib->column_blob(st, i);
        v.n = (size_t)lib->column_bytes(st, i);
        if (v.n == 0)
            v.p = "";
        else if (v.n > fed_sql_column_max(type))
            v.p = NULL;
    }
    return v;
}

static int rows(struct sqlite_store *q, sqlite3_stmt *st, struct fed_sql_run *run)
{
    const char *types = fed_sql_columns(run->now);
    struct fed_value values[FED_SQL_VALUES];
    bool more = true;
    int r;

    while (more && (r = q->lib->step(st)) == SQLITE_ROW) {
        for (int i = 0; types[i]; i++)
            values[i] = column(q->lib, st, i, types[i]);
        more = fed_sql_row(run, values);
    }
    return more ? r : SQLITE_DONE;
}

/* SQLITE_DONE, or an error. */
static int execute(struct sqlite_store *q, struct fed_sql_run *run)
{
    sqlite3_stmt **st = &q->statements[run->now];
    int r = SQLITE_OK;

    if (!*st)
        r = q->lib->prepare_v2(q->db, fed_sql_text(run->now, FED_SQLITE), -1, st, NULL);
    if (r == SQLITE_OK)
        r = bind(q, *st, run);
    if (r == SQLITE_OK)
        r = rows(q, *st, run);
    run->duplicate = r == SQLITE_CONSTRAINT;
    run->changed = r == SQLITE_DONE ? (uint64_t)q->lib->changes(q->db) : 0;
    (void)q->lib->reset(*st); /* the error of `step` once more, ignoring */
    return run->duplicate ? SQLITE_DONE : r;
}

/* ---- One call ---- */

static int command(struct sqlite_store *q, const char *sql)
{
    return q->lib->exec(q->db, sql, NULL, NULL, NULL);
}

static bool is_busy(int r)
{
    return (r & 0xff) == SQLITE_BUSY || (r & 0xff) == SQLITE_LOCKED;
}

/* Executes the call in one transaction; false: the file is busy, nothing was done. */
static bool try_call(struct sqlite_store *q, struct fed_call *c)
{
    struct fed_sql_run run = { .call = c };
    bool writes = !fed_operations[c->request.op].reads;
    int r = writes ? command(q, "BEGIN IMMEDIATE") : SQLITE_OK;

    while ((r == SQLITE_OK || r == SQLITE_DONE) && fed_sql_step(&run))
        r = execute(q, &run);
    if (writes && (r == SQLITE_OK || r == SQLITE_DONE))
        r = command(q, "COMMIT");
    if (r == SQLITE_OK || r == SQLITE_DONE)
        return true;
    fed_call_again(c); /* it may be answered already, and COMMIT has failed */
    if (!is_busy(r))
        fed_call_fail(c, -EREMOTEIO, "%s", q->lib->errmsg(q->db));
    if (!q->lib->get_autocommit(q->db))
        (void)command(q, "ROLLBACK"); /* the transaction has ended by itself, ignoring */
    return !is_busy(r);
}

static void retry_later(struct sqlite_store *q)
{
    (void)sd_event_source_set_time_relative(q->retry, BUSY_USEC); /* it exists, ignoring */
    (void)sd_event_source_set_enabled(q->retry, SD_EVENT_ONESHOT);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sqlite_store *q = userdata;

    (void)source;
    (void)usec;
    while (q->waiting && try_call(q, q->waiting))
        DL_DELETE2(q->waiting, q->waiting, wait_prev, wait_next);
    if (q->waiting)
        retry_later(q);
    return 0;
}

static void begin(struct fed_store *s, struct fed_call *c)
{
    struct sqlite_store *q = fed_store_backend(s);

    if (!q->waiting && try_call(q, c))
        return;
    if (!q->waiting)
        retry_later(q);
    DL_APPEND2(q->waiting, c, wait_prev, wait_next);
}

static void forget(struct fed_store *s, struct fed_call *c)
{
    struct sqlite_store *q = fed_store_backend(s);

    DL_DELETE2(q->waiting, c, wait_prev, wait_next);
}

/* ---- The file ---- */

static void sqlite_free(void *backend)
{
    struct sqlite_store *q = backend;

    for (size_t i = 0; i < SQL_STATEMENTS; i++)
        (void)q->lib->finalize(q->statements[i]); /* accepts NULL, ignoring */
    (void)q->lib->close(q->db);                   /* accepts NULL, ignoring */
    sd_event_source_disable_unref(q->retry);
    free(q);
}

static const struct fed_backend functions = { begin, forget, sqlite_free };

static int check_file(const char *path, struct sv_error *err)
{
    struct stat st;

    if (path[0] != '/')
        return sv_error_set(err, -EINVAL, "federation store %s: must be an absolute path", path);
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : sv_error_errno(err, -errno, "federation store %s", path);
    if (!S_ISREG(st.st_mode) || (st.st_mode & 022) || (geteuid() != 0 && st.st_uid != geteuid()))
        return sv_error_set(err, -EPERM,
                            "federation store %s: must be a regular file of this account that only "
                            "this account may write",
                            path);
    return 0;
}

static int pragma(struct sqlite_store *q, const char *sql, int64_t *ret)
{
    sqlite3_stmt *st = NULL;
    int r = q->lib->prepare_v2(q->db, sql, -1, &st, NULL);

    if (r == SQLITE_OK)
        r = q->lib->step(st);
    if (r == SQLITE_ROW)
        *ret = q->lib->column_int64(st, 0);
    (void)q->lib->finalize(st); /* the error of `step` once more, ignoring */
    return r == SQLITE_ROW ? SQLITE_OK : r;
}

/* Makes the tables of a new file; in a transaction, as another process may do it, too. */
static int make_tables(struct sqlite_store *q, int64_t *ret_version)
{
    int64_t version = 0, tables = 0;
    int r = command(q, "BEGIN IMMEDIATE");

    if (r == SQLITE_OK)
        r = pragma(q, "PRAGMA user_version", &version);
    if (r == SQLITE_OK)
        r = pragma(q, "SELECT count(*) FROM sqlite_master", &tables);
    if (r == SQLITE_OK && version == 0 && tables == 0) {
        r = command(q, layout);
        version = LAYOUT;
    }
    if (r == SQLITE_OK)
        r = command(q, "COMMIT");
    *ret_version = version;
    return r;
}

static int open_tables(struct sqlite_store *q, const char *path, struct sv_error *err)
{
    int64_t version = 0, application = 0;
    int r = make_tables(q, &version);

    if (r == SQLITE_OK)
        r = pragma(q, "PRAGMA application_id", &application);
    if (is_busy(r))
        return sv_error_set(err, -EBUSY, "federation store %s: another process writes it for long",
                            path);
    if (r != SQLITE_OK)
        return sv_error_set(err, -EBADMSG, "federation store %s: %s", path, q->lib->errmsg(q->db));
    if (application != APPLICATION_ID)
        return sv_error_set(err, -EBADMSG, "federation store %s: it is no federation's store",
                            path);
    if (version != LAYOUT)
        return sv_error_set(err, -EPROTONOSUPPORT,
                            "federation store %s: layout %lld, this program knows %d: use the "
                            "version that wrote it, or move it away",
                            path, (long long)version, LAYOUT);
    return 0;
}

static int open_file(struct sqlite_store *q, const char *path, struct sv_error *err)
{
    mode_t old = umask(0077);
    int r = q->lib->open_v2(path, &q->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                SQLITE_OPEN_NOFOLLOW,
                            NULL);

    umask(old);
    if (r != SQLITE_OK)
        return sv_error_set(err, -EIO, "federation store %s: %s", path,
                            q->db ? q->lib->errmsg(q->db) : "out of memory");
    q->lib->db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    q->lib->db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    q->lib->db_config(q->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)q->lib->limit(q->db, SQLITE_LIMIT_LENGTH, VALUE_MAX); /* the former one, ignoring */
    /* The start may wait; calls never do. Commits are on disk when they are answered. */
    r = command(q, "PRAGMA busy_timeout=5000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                   "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-512;");
    if (r == SQLITE_OK)
        r = q->lib->create_function(q->db, "wall_ms", 0, SQLITE_UTF8, NULL, wall_ms, NULL, NULL);
    if (r != SQLITE_OK)
        return sv_error_set(err, -EBADMSG, "federation store %s: %s", path, q->lib->errmsg(q->db));
    r = open_tables(q, path, err);
    if (r == 0 && command(q, "PRAGMA busy_timeout=0") != SQLITE_OK)
        r = sv_error_set(err, -EIO, "federation store %s: %s", path, q->lib->errmsg(q->db));
    return r;
}

int fed_store_open_sqlite(sd_event *event, const char *path, struct fed_store **ret,
                          struct sv_error *err)
{
    const struct fed_sqlite *lib;
    struct sqlite_store *q;
    int r = check_file(path, err);

    if (r == 0)
        r = fed_sqlite_load(&lib, err);
    if (r < 0)
        return r;
    q = calloc(1, sizeof(*q));
    if (!q)
        return sv_error_set(err, -ENOMEM, "federation store %s: out of memory", path);
    q->lib = lib;
    r = open_file(q, path, err);
    if (r == 0) {
        r = sd_event_add_time(event, &q->retry, CLOCK_MONOTONIC, 0, 1000, on_retry, q);
        if (r >= 0)
            r = sd_event_source_set_enabled(q->retry, SD_EVENT_OFF);
        if (r < 0)
            (void)sv_error_errno(err, r, "federation store %s", path);
    }
    if (r < 0) {
        sqlite_free(q);
        return r;
    }
    r = fed_store_new(event, &functions, q, path, ret);
    return r < 0 ? sv_error_errno(err, r, "federation store %s", path) : 0;
}
