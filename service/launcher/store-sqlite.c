/* The store on disk (SQLite); see store.h. */
#include "service/launcher/store-backend.h"

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

struct sqlite {
    struct svc_lr_store store; /* first */
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    bool failed;
    bool dropped; /* there may be rows to sweep */
};

static struct sqlite *of(struct svc_lr_store *s)
{
    return (struct sqlite *)s;
}

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

static int open_db(struct sqlite *s, const char *path, struct sv_error *err)
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

static struct svc_lr_store *close_db(struct svc_lr_store *store)
{
    struct sqlite *s = of(store);

    for (int i = 0; i < N_STATEMENTS; i++)
        (void)sqlite3_finalize(s->statements[i]); /* its failure is the step's, ignoring */
    (void)sqlite3_close(s->db);                   /* all is committed, ignoring */
    free(s);
    return NULL;
}

static int prepare(struct sqlite *s, const char *path, struct sv_error *err)
{
    int r = open_db(s, path, err);

    if (r == 0)
        r = check_schema(s->db, path ? path : "memory", err);
    for (int i = 0; r == 0 && i < N_STATEMENTS; i++)
        if (sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->statements[i],
                               NULL) != SQLITE_OK)
            r = sv_error_set(err, -EUCLEAN, "frameworks: %s: %s", path, sqlite3_errmsg(s->db));
    return r;
}

/* ---- Writing ---- */

static void run(struct sqlite *s, int i)
{
    sqlite3_stmt *st = s->statements[i];

    if (!s->failed && sqlite3_step(st) != SQLITE_DONE) {
        (void)snprintf(s->store.why, sizeof(s->store.why), "%s", sqlite3_errmsg(s->db));
        s->failed = true;
    }
    (void)sqlite3_reset(st); /* the step's failure again, ignoring */
    (void)sqlite3_clear_bindings(st);
}

static void begin(struct svc_lr_store *store)
{
    of(store)->failed = false;
    run(of(store), BEGIN);
}

static void rollback(struct svc_lr_store *store)
{
    struct sqlite *s = of(store);

    s->failed = false;
    run(s, ROLLBACK);
    s->failed = false;
}

static int commit(struct svc_lr_store *store)
{
    struct sqlite *s = of(store);

    run(s, COMMIT);
    if (!s->failed)
        return 0;
    rollback(store);
    return -EIO;
}

static void text(struct sqlite *s, int i, int at, const char *value)
{
    if (sqlite3_bind_text(s->statements[i], at, value, -1, SQLITE_STATIC) != SQLITE_OK)
        s->failed = true;
}

static void integer(struct sqlite *s, int i, int at, int64_t value)
{
    if (sqlite3_bind_int64(s->statements[i], at, value) != SQLITE_OK)
        s->failed = true;
}

/* The parameters of each statement that writes a row, in their order. */
enum { NONE, NAME, VALUE, MORE, ROLE, INDEX, SET };
static const struct {
    int statement, parameters[4];
} writes[SVC_LR_N_ROWS] = {
    [SVC_LR_ROW_REQUEST] = { REQUEST, { NAME, VALUE, SET } },
    [SVC_LR_ROW_STATUS] = { STATUS, { NAME, VALUE } },
    [SVC_LR_ROW_REMOVE] = { REMOVE, { NAME } },
    [SVC_LR_ROW_TASK] = { TASK, { SET, ROLE, INDEX, VALUE } },
    [SVC_LR_ROW_NO_TASK] = { NO_TASK, { SET, ROLE, INDEX } },
    [SVC_LR_ROW_DROP] = { DROP, { SET } },
    [SVC_LR_ROW_KILL] = { KILL, { NAME, VALUE, MORE } },
    [SVC_LR_ROW_KILLED] = { KILLED, { NAME } },
    [SVC_LR_ROW_META] = { META, { NAME, VALUE } },
};

static void write_row(struct svc_lr_store *store, const struct svc_lr_row *row)
{
    struct sqlite *s = of(store);
    const int *what = writes[row->kind].parameters;
    int i = writes[row->kind].statement;

    for (int k = 0; k < 4 && what[k] != NONE; k++)
        if (what[k] == SET || what[k] == INDEX)
            integer(s, i, k + 1, what[k] == SET ? row->tasks : row->index);
        else
            text(s, i, k + 1,
                 what[k] == NAME    ? row->name
                 : what[k] == VALUE ? row->value
                 : what[k] == MORE  ? row->more
                                    : row->role);
    run(s, i);
    s->dropped |= row->kind == SVC_LR_ROW_DROP;
}

static bool has_dropped(const struct svc_lr_store *store)
{
    return ((const struct sqlite *)store)->dropped;
}

static void sweep(struct svc_lr_store *store)
{
    struct sqlite *s = of(store);

    integer(s, SWEEP, 1, SWEEP_ROWS);
    run(s, SWEEP);
    if (!s->failed && sqlite3_changes(s->db) < SWEEP_ROWS) {
        run(s, SWEPT);
        s->dropped = !s->failed && sqlite3_changes(s->db) > 0;
    }
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

static int load(struct svc_lr_store *store, const struct svc_lr_rows *rows, void *userdata,
                struct sv_error *err)
{
    struct sqlite *s = of(store);
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

/* ---- Opening, of all of it ---- */

static const struct svc_lr_store_backend backend = {
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .write = write_row,
    .has_dropped = has_dropped,
    .sweep = sweep,
    .load = load,
    .close = close_db,
};

int svc_lr_store_open(const char *path, struct svc_lr_store **ret, struct sv_error *err)
{
    struct sqlite *s = calloc(1, sizeof(*s));
    int r = s ? 0 : sv_error_errno(err, -ENOMEM, "frameworks");

    if (r == 0 && path)
        r = check_file(path, err);
    if (r == 0)
        r = prepare(s, path, err);
    if (r < 0) {
        if (s)
            (void)close_db(&s->store); /* NULL */
        return r;
    }
    s->store.backend = &backend;
    *ret = &s->store;
    return 0;
}
