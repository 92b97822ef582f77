/* See store.h. */
#include "service/launcher/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/framework/link.h"

#define APPLICATION_ID 0x53564c52 /* "SVLR" */
#define SCHEMA 1
/* Rows of one turn: more than one request of a master tells, which is followed by a turn: so what
 * is to be swept does not grow. */
#define SWEEP_ROWS (SVC_FW_LINK_TASKS + 1)

enum {
    BEGIN,
    COMMIT,
    ROLLBACK,
    REQUEST,
    STATUS,
    REMOVE,
    TASK,
    NO_TASK,
    DROP,
    SWEEP,
    SWEPT,
    KILL,
    KILLED,
    META,
    N_STATEMENTS
};
static const char *const sql[N_STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [REQUEST] = ("INSERT INTO frameworks(name,request,status,tasks) VALUES(?1,?2,'',?3) "
                 "ON CONFLICT(name) DO UPDATE SET request=?2, tasks=?3"),
    [STATUS] = "UPDATE frameworks SET status=?2 WHERE name=?1",
    [REMOVE] = "DELETE FROM frameworks WHERE name=?1",
    [TASK] = "INSERT OR REPLACE INTO tasks(tasks,role,idx,text) VALUES(?1,?2,?3,?4)",
    [NO_TASK] = "DELETE FROM tasks WHERE tasks=?1 AND role=?2 AND idx=?3",
    [DROP] = "INSERT OR REPLACE INTO dropped(tasks) VALUES(?1)",
    [SWEEP] =
        ("DELETE FROM tasks WHERE tasks=(SELECT min(tasks) FROM dropped) AND (role,idx) IN "
         "(SELECT role,idx FROM tasks WHERE tasks=(SELECT min(tasks) FROM dropped) LIMIT ?1)"),
    [SWEPT] = "DELETE FROM dropped WHERE tasks=(SELECT min(tasks) FROM dropped)",
    [KILL] = "INSERT OR REPLACE INTO kills(app,user,framework) VALUES(?1,?2,?3)",
    [KILLED] = "DELETE FROM kills WHERE app=?1",
    [META] = "INSERT OR REPLACE INTO meta(key,value) VALUES(?1,?2)",
};
static const char schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE frameworks(name TEXT PRIMARY KEY NOT NULL, request TEXT NOT NULL,"
    " status TEXT NOT NULL, tasks INTEGER NOT NULL);"
    "CREATE TABLE dropped(tasks INTEGER PRIMARY KEY NOT NULL);"
    "CREATE TABLE tasks(tasks INTEGER NOT NULL, role TEXT NOT NULL, idx INTEGER NOT NULL,"
    " text TEXT NOT NULL, PRIMARY KEY(tasks,role,idx)) WITHOUT ROWID;"
    "CREATE TABLE kills(app TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL,"
    " framework TEXT NOT NULL) WITHOUT ROWID;";

struct svc_lr_store {
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    bool open, failed;
    bool dropped; /* there may be rows to sweep */
    uint64_t commits, failures;
    char why[256];
};

/* ---- Opening ---- */

static int number(sqlite3 *db, const char *text, int64_t *ret)
{
    sqlite3_stmt *st = NULL;
    int r = sqlite3_prepare_v2(db, text, -1, &st, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_step(st);
    if (r == SQLITE_ROW)
        *ret = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st); /* its failure is the step's, ignoring */
    return r == SQLITE_ROW ? 0 : -EIO;
}

static int make_tables(sqlite3 *db)
{
    char meta[128];

    (void)snprintf(meta, sizeof(meta), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
                   APPLICATION_ID, SCHEMA);
    return sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                   sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
                   sqlite3_exec(db, meta, NULL, NULL, NULL) == SQLITE_OK &&
                   sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : -EIO;
}

static int check_schema(sqlite3 *db, const char *path, struct sv_error *err)
{
    int64_t version = -1, app = -1, tables = -1;

    if (number(db, "PRAGMA user_version", &version) < 0 ||
        number(db, "PRAGMA application_id", &app) < 0 ||
        number(db, "SELECT count(*) FROM sqlite_master", &tables) < 0) {
        int code = sqlite3_errcode(db);
        bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;

        return sv_error_set(err, busy ? -EBUSY : -EUCLEAN, "frameworks: %s: %s", path,
                            busy ? "another selvedge-services uses it" : sqlite3_errmsg(db));
    }
    if (tables == 0 && version == 0)
        return make_tables(db) < 0
                   ? sv_error_set(err, -EIO, "frameworks: %s: %s", path, sqlite3_errmsg(db))
                   : 0;
    if (app != APPLICATION_ID)
        return sv_error_set(err, -EUCLEAN, "frameworks: %s: not a store of frameworks", path);
    if (version != SCHEMA)
        return sv_error_set(err, -EPROTO,
                            "frameworks: %s: schema %lld, this program knows %d; start the version "
                            "that wrote it, or move it away",
                            path, (long long)version, SCHEMA);
    return 0;
}

static int check_file(const char *path, struct sv_error *err)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : sv_error_errno(err, -errno, "frameworks: %s", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return sv_error_set(err, -EPERM,
                            "frameworks: %s: must be a regular file of this account that only "
                            "this account may write",
                            path);
    return 0;
}

static int open_db(struct svc_lr_store *s, const char *path, struct sv_error *err)
{
    mode_t old = umask(0077);
    int r = sqlite3_open_v2(path ? path : ":memory:", &s->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                SQLITE_OPEN_NOFOLLOW,
                            NULL);

    (void)umask(old);
    if (r != SQLITE_OK)
        return sv_error_set(err, -EIO,
                            "frameworks: %s: %s; create the directory for the account "
                            "of selvedge-services",
                            path, s->db ? sqlite3_errmsg(s->db) : "out of memory");
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);      /* old, ignoring */
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL); /* old, ignoring */
    /* A commit survives the program; a power failure may cost the last ones, as in the stores of
     * the daemons. */
    (void)sqlite3_exec(s->db,
                       "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                       "PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                       "PRAGMA cache_size=-2048; PRAGMA wal_autocheckpoint=1000;",
                       NULL, NULL, NULL);
    return 0;
}

int svc_lr_store_open(const char *path, struct svc_lr_store **ret, struct sv_error *err)
{
    _cleanup_(svc_lr_store_closep) struct svc_lr_store *s = calloc(1, sizeof(*s));
    int r = s ? 0 : sv_error_errno(err, -ENOMEM, "frameworks");

    if (r == 0 && path)
        r = check_file(path, err);
    if (r == 0)
        r = open_db(s, path, err);
    if (r == 0)
        r = check_schema(s->db, path ? path : "memory", err);
    for (int i = 0; r == 0 && i < N_STATEMENTS; i++)
        if (sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->statements[i],
                               NULL) != SQLITE_OK)
            r = sv_error_set(err, -EUCLEAN, "frameworks: %s: %s", path, sqlite3_errmsg(s->db));
    if (r < 0)
        return r;
    *ret = SV_TAKE(s);
    return 0;
}

struct svc_lr_store *svc_lr_store_close(struct svc_lr_store *s)
{
    if (s) {
        for (int i = 0; i < N_STATEMENTS; i++)
            (void)sqlite3_finalize(s->statements[i]); /* its failure is the step's, ignoring */
        (void)sqlite3_close(s->db);                   /* all is committed, ignoring */
        free(s);
    }
    return NULL;
}

/* ---- Writing ---- */

static void run(struct svc_lr_store *s, int i)
{
    sqlite3_stmt *st = s->statements[i];

    if (!s->failed && sqlite3_step(st) != SQLITE_DONE) {
        (void)snprintf(s->why, sizeof(s->why), "%s", sqlite3_errmsg(s->db));
        s->failed = true;
    }
    (void)sqlite3_reset(st); /* the step's failure again, ignoring */
    (void)sqlite3_clear_bindings(st);
}

static void text(struct svc_lr_store *s, int i, int at, const char *value)
{
    if (sqlite3_bind_text(s->statements[i], at, value, -1, SQLITE_STATIC) != SQLITE_OK)
        s->failed = true;
}

static void two(struct svc_lr_store *s, int i, const char *a, const char *b)
{
    text(s, i, 1, a);
    if (b)
        text(s, i, 2, b);
    run(s, i);
}

void svc_lr_store_begin(struct svc_lr_store *s)
{
    s->failed = false;
    s->open = true;
    run(s, BEGIN);
}

void svc_lr_store_rollback(struct svc_lr_store *s)
{
    s->open = s->failed = false;
    run(s, ROLLBACK);
    s->failed = false;
}

int svc_lr_store_commit(struct svc_lr_store *s)
{
    run(s, COMMIT);
    s->open = false;
    if (!s->failed) {
        s->commits++;
        return 0;
    }
    s->failures++;
    svc_lr_store_rollback(s);
    return -EIO;
}

bool svc_lr_store_is_open(const struct svc_lr_store *s)
{
    return s->open;
}

const char *svc_lr_store_why(const struct svc_lr_store *s)
{
    return s->why;
}

uint64_t svc_lr_store_commits(const struct svc_lr_store *s)
{
    return s->commits;
}

uint64_t svc_lr_store_failures(const struct svc_lr_store *s)
{
    return s->failures;
}

static void integer(struct svc_lr_store *s, int i, int at, int64_t value)
{
    if (sqlite3_bind_int64(s->statements[i], at, value) != SQLITE_OK)
        s->failed = true;
}

void svc_lr_store_request(struct svc_lr_store *s, const char *framework, const char *request,
                          int64_t tasks)
{
    integer(s, REQUEST, 3, tasks);
    two(s, REQUEST, framework, request);
}

void svc_lr_store_status(struct svc_lr_store *s, const char *framework, const char *status)
{
    two(s, STATUS, framework, status);
}

void svc_lr_store_remove(struct svc_lr_store *s, const char *framework)
{
    two(s, REMOVE, framework, NULL);
}

void svc_lr_store_task(struct svc_lr_store *s, int64_t tasks, const char *role, int32_t index,
                       const char *value)
{
    int i = value ? TASK : NO_TASK;

    integer(s, i, 1, tasks);
    text(s, i, 2, role);
    integer(s, i, 3, index);
    if (value)
        text(s, i, 4, value);
    run(s, i);
}

void svc_lr_store_drop_tasks(struct svc_lr_store *s, int64_t tasks)
{
    integer(s, DROP, 1, tasks);
    run(s, DROP);
    s->dropped = true;
}

int svc_lr_store_sweep(struct svc_lr_store *s)
{
    if (!s->dropped)
        return 0;
    svc_lr_store_begin(s);
    integer(s, SWEEP, 1, SWEEP_ROWS);
    run(s, SWEEP);
    if (!s->failed && sqlite3_changes(s->db) < SWEEP_ROWS) {
        run(s, SWEPT);
        s->dropped = !s->failed && sqlite3_changes(s->db) > 0;
    }
    return svc_lr_store_commit(s);
}

void svc_lr_store_kill(struct svc_lr_store *s, const char *app, const char *user,
                       const char *framework)
{
    text(s, KILL, 3, framework);
    two(s, KILL, app, user);
}

void svc_lr_store_killed(struct svc_lr_store *s, const char *app)
{
    two(s, KILLED, app, NULL);
}

void svc_lr_store_meta(struct svc_lr_store *s, const char *key, const char *value)
{
    two(s, META, key, value);
}

/* ---- Reading ---- */

static const char *column(sqlite3_stmt *st, int i)
{
    return (const char *)sqlite3_column_text(st, i);
}

enum { METAS, FRAMEWORKS, DROPPED, TASKS, KILLS, N_TABLES };
static const struct {
    const char *query;
    int columns;
} tables[N_TABLES] = {
    [METAS] = { "SELECT key,value FROM meta", 2 },
    [FRAMEWORKS] = { "SELECT name,request,status,tasks FROM frameworks", 4 },
    [DROPPED] = { "SELECT tasks FROM dropped", 1 },
    [TASKS] = { "SELECT name,role,idx,text FROM tasks JOIN frameworks USING(tasks)", 4 },
    [KILLS] = { "SELECT app,user,framework FROM kills", 3 },
};

static int give(const struct svc_lr_rows *rows, int kind, sqlite3_stmt *st, void *u)
{
    for (int i = 0; i < tables[kind].columns; i++)
        if (!column(st, i))
            return -EUCLEAN;
    switch (kind) {
    case METAS:
        return rows->meta(u, column(st, 0), column(st, 1));
    case FRAMEWORKS:
        return rows->framework(u, column(st, 0), column(st, 1), column(st, 2),
                               sqlite3_column_int64(st, 3));
    case DROPPED:
        return rows->dropped(u, sqlite3_column_int64(st, 0));
    case TASKS:
        return rows->task(u, column(st, 0), column(st, 1), sqlite3_column_int(st, 2),
                          column(st, 3));
    default:
        return rows->kill(u, column(st, 0), column(st, 1), column(st, 2));
    }
}

int svc_lr_store_load(struct svc_lr_store *s, const struct svc_lr_rows *rows, void *userdata,
                      struct sv_error *err)
{
    int r = 0;

    s->dropped = true;
    for (int kind = 0; r == 0 && kind < N_TABLES; kind++) {
        sqlite3_stmt *st = NULL;
        int e = sqlite3_prepare_v2(s->db, tables[kind].query, -1, &st, NULL);

        while (r == 0 && e != SQLITE_DONE) {
            if (e == SQLITE_OK || e == SQLITE_ROW)
                e = sqlite3_step(st);
            if (e == SQLITE_ROW)
                r = give(rows, kind, st, userdata);
            else if (e != SQLITE_DONE)
                r = -EIO;
        }
        (void)sqlite3_finalize(st); /* its failure is the step's, ignoring */
    }
    return r == 0 ? 0
                  : sv_error_set(err, r == -ENOMEM ? r : -EUCLEAN,
                                 "frameworks: the store is damaged (%s); put a copy back, or move "
                                 "it away to start without frameworks",
                                 r == -EIO ? sqlite3_errmsg(s->db) : strerror(-r));
}
